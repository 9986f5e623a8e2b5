#include <algorithm>
#include <optional>

#include "brackets.hpp"
#include "emit.hpp"
#include "product_plan.hpp"
#include "tokens.hpp"

namespace simplipy::spelling {
namespace {

// Numerators joined by *, then what is below: the quotient, or the reciprocal where nothing stands above.
template <class IsBelow, class Write>
void emit_sides(Output& out, std::size_t n_factors, const Leaf* numerator, const IsBelow& is_below,
                const Write& write_factor) {
    int n_above = 0;
    if (numerator != nullptr) {
        (*numerator)();
        n_above = 1;
    }
    int n_below = 0;
    for (const bool below : {false, true}) {
        int& n = below ? n_below : n_above;
        for (std::size_t i = 0; i < n_factors; ++i) {
            if (is_below(i) != below) continue;
            write_factor(i);
            if (n++ > 0) out.op(Op::mul);
        }
    }
    if (n_below > 0) out.op(n_above > 0 ? Op::div : Op::inv);
}

// base ^ term; `turned`: with the negative of the term.
void emit_symbolic_power(Output& out, const Entry& power, bool turned) {
    const bool exponential = out[power.term].is_symbol(Op::e);
    if (!exponential) emit_term(out, power.term, Mode::plain);
    emit_signed(out, power.other, turned);
    out.op(exponential ? Op::exp : Op::pow);
}

// At most one exponent is neither 1 nor -1: that factor stands first or last.
struct SimpleProduct {
    Output& out;
    std::span<const Entry> entries;
    std::size_t power = 0;  // of the entry with another exponent
    bool parity = false;    // of the factors that are cheaper turned
    std::size_t cheapest = 0;
    int turn = impossible;  // cheapest change of parity

    SimpleProduct(Output& output, std::span<const Entry> factors) : out(output), entries(factors) {
        while (power < entries.size() && entries[power].ratio.is_unit()) ++power;
        for (std::size_t i = 0; i < entries.size(); ++i) {
            const int cost = turn_cost(i);
            parity ^= cost < 0;
            if (std::abs(cost) >= turn) continue;
            turn = std::abs(cost);
            cheapest = i;
        }
    }

    const Entry& at(std::size_t i) const {
        if (i < power || power == 0) return entries[i];
        return i + 1 < entries.size() ? entries[i + 1] : entries[power];
    }

    int turn_cost(std::size_t i) const {
        const Scale cost = factor_cost(out.speller, at(i));
        return cost.negative - cost.plain;
    }

    void write_factor(const Entry& factor, bool turned) const {
        if (factor.ratio.is_unit()) {
            emit_signed(out, factor.term, turned);
            return;
        }
        if (factor.ratio.even_numerator()) {
            emit_cheaper(out, factor.term);
        } else {
            emit_signed(out, factor.term, turned);
        }
        emit_power(factor.ratio.absolute(), out.nodes);
    }

    void write(Mode mode, const Leaf* numerator) const {
        const bool negative = mode == Mode::negative;
        const bool by_minus = negative && 1 + (parity ? turn : 0) < (parity ? 0 : turn);
        const bool flip = parity != (negative && !by_minus);
        emit_sides(
            out, entries.size(), numerator,
            [&](std::size_t i) { return (at(i).ratio.sign() < 0) != (mode == Mode::inverse); },
            [&](std::size_t i) { write_factor(at(i), (turn_cost(i) < 0) != (flip && i == cheapest)); });
        if (by_minus) out.op(Op::neg);
    }
};

// A product whose factors stand in items.
struct PlannedProduct {
    Output& out;
    std::span<const Entry> entries;
    const Absorption& absorbed;

    // Writes the product of the items, with the wanted sign if one is wanted.
    void write(const Scratch<Item>& items, bool invert, std::optional<bool> negative, const Leaf* numerator) const {
        Scratch<char> turned(items.size(), 0);
        bool parity = false;
        std::size_t cheapest = 0;
        for (std::size_t i = 0; i < items.size(); ++i) {
            turned[i] = items[i].cheaper_turned();
            parity ^= turned[i] != 0;
            if (turn_cost(items[i]) < turn_cost(items[cheapest])) cheapest = i;
        }
        if (negative && parity != *negative) turned[cheapest] ^= 1;
        emit_sides(
            out, items.size(), numerator, [&](std::size_t i) { return items[i].denominator != invert; },
            [&](std::size_t i) { write(items[i], turned[i] != 0); });
    }

  private:
    static int turn_cost(const Item& item) { return std::abs(item.negative - item.plain); }

    void write(const Item& item, bool negative) const {
        if (!item.units.empty()) {
            write_power(item, negative);
            return;
        }
        if (item.merged_absolute) {
            write_absolutes(item);
            return;
        }
        const std::uint32_t which = item.numerators.empty() ? item.denominators[0] : item.numerators[0];
        const Entry& e = entries[which];
        if (e.is_free()) {
            emit_symbolic_power(out, e, item.denominator);
        } else if (absorbed.into_sum && which == absorbed.entry) {
            emit_scaled_sum(out, out.speller.entries(e.term), absorbed.factor, negative);
        } else {
            emit_signed(out, e.term, negative);
        }
    }

    void write_power(const Item& item, bool negative) const {
        const std::optional<bool> sign = item.exponent.even_numerator() ? std::nullopt : std::optional(negative);
        write(item.units, item.denominator, sign, nullptr);
        emit_scale(out, item.scale);
        if (absorbed.any() && !absorbed.into_sum && holds(item, absorbed.entry)) {
            const bool same_side = item.denominator == (entries[absorbed.entry].ratio.sign() < 0);
            emit_scale(out, same_side ? absorbed.factor : reciprocal(absorbed.factor));
        }
        emit_power(item.exponent, out.nodes);
    }

    // Whether the entry is a base of this power, not of one nested in it.
    static bool holds(const Item& power, std::uint32_t entry) {
        const auto inside = [&](const Scratch<std::uint32_t>& list) {
            return std::find(list.begin(), list.end(), entry) != list.end();
        };
        return std::any_of(power.units.begin(), power.units.end(),
                           [&](const Item& unit) { return inside(unit.numerators) || inside(unit.denominators); });
    }

    void write_absolutes(const Item& item) const {
        const auto write_all = [&](const Scratch<std::uint32_t>& members) {
            for (std::size_t k = 0; k < members.size(); ++k) {
                emit_cheaper(out, out[entries[members[k]].term].argument);
                if (k > 0) out.op(Op::mul);
            }
        };
        write_all(item.denominator ? item.denominators : item.numerators);
        if (!item.denominator && !item.denominators.empty()) {
            write_all(item.denominators);
            out.op(Op::div);
        }
        out.op(Op::abs);
    }
};

}  // namespace

void emit_product(Output& out, TermId id, Mode mode, const Leaf* numerator, const Absorption& absorbed) {
    const std::span<const Entry> entries = out.speller.entries(id);
    if (!absorbed.any() && is_simple(out.speller, entries)) {
        SimpleProduct(out, entries).write(mode, numerator);
        return;
    }
    if (mode == Mode::inverse && numerator == nullptr && turns_exponent(out.speller, entries) &&
        out[entries[0].other].cost.negative <= out[entries[0].other].cost.plain) {
        emit_symbolic_power(out, entries[0], true);
        return;
    }
    const ProductPlan plan = plan_product(out.speller, entries);
    const bool negative = mode == Mode::negative;
    const bool by_minus = negative && plan.plain() + 1 < plan.total + (plan.parity ? 0 : plan.turn);
    PlannedProduct{out, entries, absorbed}.write(plan.items, mode == Mode::inverse, negative && !by_minus, numerator);
    if (by_minus) out.op(Op::neg);
}

}  // namespace simplipy::spelling
