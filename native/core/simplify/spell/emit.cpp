#include <optional>

#include "plan.hpp"

namespace simplipy {

// Writes spellings by the plans that costs were counted with.
struct Speller::Emitter {
    const Speller& speller;
    const Arena& arena;
    WriteConstant write;
    std::vector<Node>& out;

    using Leaf = FunctionRef<void()>;

    void op(Op o) { out.push_back(Node::of(o)); }

    void term(TermId id, Mode mode) {
        const TermNode& node = arena[id];
        switch (node.kind) {
            case Kind::number:
                number(node.value, mode);
                break;
            case Kind::constant:
                write(node, mode == Mode::negative ? Rational(-1) : Rational(1), out);
                if (mode == Mode::inverse) op(Op::inv);
                break;
            case Kind::sum:
                sum(id, mode);
                break;
            case Kind::product:
                product(id, mode, nullptr, {});
                break;
            case Kind::function:
                function(node, mode);
                break;
            default:
                atom(node, mode);
                break;
        }
    }

    void signed_term(TermId id, bool negative) { term(id, negative ? Mode::negative : Mode::plain); }

    void number(const Rational& value, Mode mode) {
        if (mode == Mode::inverse) {
            if (!value.is_zero() && number_tokens(reciprocal(value)) <= number_tokens(value) + 1) {
                emit_number(reciprocal(value), out);
            } else {
                emit_number(value, out);
                op(Op::inv);
            }
            return;
        }
        emit_number(mode == Mode::negative ? -value : value, out);
    }

    void atom(const TermNode& node, Mode mode) {
        if (node.kind == Kind::variable) {
            out.push_back(Node::variable(node.payload));
        } else if (node.kind == Kind::opaque) {
            out.push_back(Node::number({node.payload, node.exponent}));
        } else if (mode == Mode::negative && (node.op == Op::inf || node.op == Op::neg_inf)) {
            op(node.op == Op::inf ? Op::neg_inf : Op::inf);
            return;
        } else {
            op(node.op);
            if (node.op == Op::nan) return;
        }
        if (mode == Mode::negative) op(Op::neg);
        if (mode == Mode::inverse) op(Op::inv);
    }

    void function(const TermNode& node, Mode mode) {
        const Cost& inner = arena[node.argument].cost;
        const Parity parity = info(node.op).parity;
        if (mode == Mode::inverse) {
            function(node, Mode::plain);
            op(Op::inv);
        } else if (parity == Parity::odd) {
            const bool direct =
                mode == Mode::plain ? inner.plain <= 1 + inner.negative : inner.negative <= 1 + inner.plain;
            signed_term(node.argument, (mode == Mode::negative) == direct);
            op(node.op);
            if (!direct) op(Op::neg);
        } else if (mode == Mode::negative && node.op == Op::log && inner.inverse < inner.plain + 1) {
            term(node.argument, Mode::inverse);
            op(Op::log);
        } else {
            signed_term(node.argument, parity == Parity::even && inner.negative < inner.plain);
            op(node.op);
            if (mode == Mode::negative) op(Op::neg);
        }
    }

    // ---- sums

    void sum(TermId id, Mode mode) {
        const std::span<const Entry> entries = arena.entries(id);
        const bool negative = mode == Mode::negative;
        if (entries.size() == 1) {
            const Scale cost = speller.entry_cost(entries[0]);
            const bool turned = (negative ? cost.plain : cost.negative) + 1 < (negative ? cost.negative : cost.plain);
            entry(entries[0], negative != turned, Rational(1));
            if (turned) op(Op::neg);
        } else {
            scaled_sum(entries, Rational(1), negative);
        }
        if (mode == Mode::inverse) op(Op::inv);
    }

    // factor * sum of the entries, the factor multiplied into them
    void scaled_sum(std::span<const Entry> entries, const Rational& factor, bool negative) {
        if (factor.is_one() && is_plain_sum(entries)) {
            units(entries, negative);
            return;
        }
        chain(divided(entries, reciprocal(factor)), negative, factor);
    }

    // A literal stands behind the terms, x - 1 and not -1 + x, and takes any sign for free.
    static bool is_number(const Entry& e) { return e.term == one_term && !e.is_free(); }

    // A sum whose entries are written one by one.
    void units(std::span<const Entry> entries, bool negative) {
        const auto cost = [&](const Entry& e) {
            Scale scale = speller.entry_cost(e);
            if (negative) std::swap(scale.plain, scale.negative);
            return scale;
        };
        std::size_t head = 0;
        int head_extra = impossible;
        int turned_extra = impossible;
        for (std::size_t i = 0; i < entries.size(); ++i) {
            const Scale scale = cost(entries[i]);
            const int least = std::min(scale.plain, scale.negative);
            const int extra = scale.plain - least;
            if (extra < head_extra || (extra == head_extra && is_number(entries[head]))) {
                head = i;
                head_extra = extra;
            }
            turned_extra = std::min(turned_extra, scale.negative - least);
        }
        if (turned_extra + 1 < head_extra) {
            units(entries, !negative);
            op(Op::neg);
            return;
        }
        entry(entries[head], negative, Rational(1));
        const std::size_t n = entries.size();
        // the literal, if there is one, comes first in canonical order and last in writing
        const std::size_t start = is_number(entries[0]) ? 1 : 0;
        for (std::size_t k = 0; k < n; ++k) {
            const std::size_t i = (start + k) % n;
            if (i == head) continue;
            const Scale scale = cost(entries[i]);
            const bool minus = is_number(entries[i]) && (entries[i].ratio.sign() < 0) != negative;
            const bool subtract = scale.negative < scale.plain || minus;
            entry(entries[i], negative != subtract, Rational(1));
            op(subtract ? Op::sub : Op::add);
        }
    }

    // Multiplies what was written last by k > 0.
    void scale_by(const Rational& k) {
        if (k.is_one()) return;
        const Scaling how = scaling(k, false);
        if (how.kind == Scaling::Kind::chain) {
            emit_chain_tokens(k.q, Op::div2, out);
            emit_chain_tokens(k.p, Op::mult2, out);
        } else if (how.kind == Scaling::Kind::literal) {
            emit_number(k, out);
            op(Op::mul);
        } else {
            if (k.p != 1) {
                emit_number(Rational::reduced(k.p, 1), out);
                op(Op::mul);
            }
            divide_by(k.q);
        }
    }

    void divide_by(Int128 q) {
        if (chain_tokens(q) <= 2) {
            emit_chain_tokens(q, Op::div2, out);
        } else {
            emit_number(Rational::reduced(q, 1), out);
            op(Op::div);
        }
    }

    // `ratio`: what free coefficients are multiplied by
    void chain(const Scratch<Entry>& entries, bool negative, const Rational& ratio) {
        const auto groups = speller.coefficient_brackets(entries);
        Scratch<Scale> items = speller.chain_items(entries, groups);
        if (negative)
            for (Scale& item : items) std::swap(item.plain, item.negative);
        std::size_t head = 0;
        int head_extra = impossible;
        int turned_extra = impossible;
        for (std::size_t i = 0; i < items.size(); ++i) {
            const int least = std::min(items[i].plain, items[i].negative);
            const int extra = items[i].plain - least;
            if (extra < head_extra || (extra == head_extra && is_number(entries[groups[head].members[0]]))) {
                head = i;
                head_extra = extra;
            }
            turned_extra = std::min(turned_extra, items[i].negative - least);
        }
        if (turned_extra + 1 < head_extra) {
            chain(entries, !negative, ratio);
            op(Op::neg);
            return;
        }
        group(entries, groups[head], negative, ratio);
        const std::size_t n = items.size();
        const std::size_t start = is_number(entries[groups[0].members[0]]) && groups[0].members.size() == 1 ? 1 : 0;
        for (std::size_t k = 0; k < n; ++k) {
            const std::size_t i = (start + k) % n;
            if (i == head) continue;
            const Entry& e = entries[groups[i].members[0]];
            const bool minus = groups[i].members.size() == 1 && is_number(e) && (e.ratio.sign() < 0) != negative;
            const bool subtract = items[i].negative < items[i].plain || minus;
            group(entries, groups[i], negative != subtract, ratio);
            op(subtract ? Op::sub : Op::add);
        }
    }

    void group(const Scratch<Entry>& entries, const Bracket& bracket, bool negative, const Rational& ratio) {
        if (bracket.members.size() == 1) {
            entry(entries[bracket.members[0]], negative, ratio);
            return;
        }
        chain(bracketed(entries, bracket), negative, Rational(1));
        scale_by(bracket.scale);
    }

    void entry(const Entry& e, bool negative, const Rational& ratio) {
        const TermNode& node = arena[e.term];
        const bool cheaper_turned = node.cost.negative < node.cost.plain;
        if (e.term == one_term) {
            if (e.is_free()) {
                write(arena[e.other], negative ? -ratio : ratio, out);
            } else {
                emit_number(negative ? -e.ratio : e.ratio, out);
            }
            return;
        }
        if (e.is_free()) {
            const bool turned = negative != cheaper_turned;
            times(e.term, cheaper_turned, [&] { write(arena[e.other], turned ? -ratio : ratio, out); });
            return;
        }
        const bool wanted = (e.ratio.sign() < 0) != negative;
        if (e.ratio.is_unit()) {
            signed_term(e.term, wanted);
            return;
        }
        const Rational k = e.ratio.absolute();
        if (const LogOfPower log = speller.log_of_power(e); log.base != no_term) {
            signed_term(log.base, arena[log.base].cost.negative < arena[log.base].cost.plain);
            scale_by(log.scale);
            const bool even = log.exponent.even_numerator();
            if (even) emit_chain_tokens(log.exponent.p, Op::pow2, out);
            if (!even) op(Op::abs);
            op(Op::log);
            emit_chain_tokens(log.exponent.q, Op::div2, out);
            if (!even) emit_chain_tokens(log.exponent.p, Op::mult2, out);
            if (wanted) op(Op::neg);
            return;
        }
        const Scaling how = scaling(k, node.no_numerator);
        if (const Absorption inside = speller.absorption(e); inside.any()) {
            product(e.term, wanted ? Mode::negative : Mode::plain, nullptr, inside);
            scale_by(inside.rest);
            return;
        }
        if (!how.takes_sign) {
            signed_term(e.term, wanted);
            scale_by_chain_or_quotient(k, how);
            return;
        }
        const bool literal_negative = wanted != cheaper_turned;
        const Rational literal = how.kind == Scaling::Kind::literal ? k : Rational::reduced(k.p, 1);
        times(e.term, cheaper_turned, [&] { emit_number(literal_negative ? -literal : literal, out); });
        if (how.kind == Scaling::Kind::ratio) divide_by(k.q);
    }

    void scale_by_chain_or_quotient(const Rational& k, const Scaling& how) {
        if (how.kind == Scaling::Kind::chain) {
            emit_chain_tokens(k.q, Op::div2, out);
            emit_chain_tokens(k.p, Op::mult2, out);
        } else {
            divide_by(k.q);
        }
    }

    // leaf * term, where the leaf is a number or constant that a reciprocal takes as its numerator.
    void times(TermId id, bool negative, Leaf leaf) {
        if (arena[id].no_numerator) {
            product(id, negative ? Mode::negative : Mode::plain, &leaf, {});
            return;
        }
        leaf();
        signed_term(id, negative);
        op(Op::mul);
    }

    // ---- products

    void product(TermId id, Mode mode, const Leaf* numerator, const Absorption& absorbed) {
        const std::span<const Entry> entries = arena.entries(id);
        if (!absorbed.any() && speller.is_simple(entries)) {
            simple_product(id, mode, numerator);
            return;
        }
        if (mode == Mode::inverse && numerator == nullptr && speller.turns_exponent(entries) &&
            arena[entries[0].other].cost.negative <= arena[entries[0].other].cost.plain) {
            const bool exponential = arena[entries[0].term].op == Op::e;
            if (!exponential) term(entries[0].term, Mode::plain);
            signed_term(entries[0].other, true);
            op(exponential ? Op::exp : Op::pow);
            return;
        }
        const ProductPlan plan = speller.plan_product(entries);
        const bool negative = mode == Mode::negative;
        const bool by_minus = negative && plan.plain() + 1 < plan.total + (plan.parity ? 0 : plan.turn);
        items(plan.items, entries, mode == Mode::inverse, negative && !by_minus, numerator, absorbed);
        if (by_minus) op(Op::neg);
    }

    // Numerators joined by *, then what is below: the quotient, or the reciprocal where nothing stands above.
    template <class IsBelow, class Write>
    void sides(std::size_t n_factors, const Leaf* numerator, const IsBelow& is_below, const Write& write_factor) {
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
                if (n++ > 0) op(Op::mul);
            }
        }
        if (n_below > 0) op(n_above > 0 ? Op::div : Op::inv);
    }

    // At most one exponent is neither 1 nor -1: that factor stands first or last.
    void simple_product(TermId id, Mode mode, const Leaf* numerator) {
        const std::span<const Entry> entries = arena.entries(id);
        const std::size_t n = entries.size();
        std::size_t power = 0;
        while (power < n && entries[power].ratio.is_unit()) ++power;
        const auto at = [&](std::size_t i) -> const Entry& {
            if (i < power || power == 0) return entries[i];
            return i + 1 < n ? entries[i + 1] : entries[power];
        };
        const auto turn_cost = [&](std::size_t i) {
            const Scale cost = speller.factor_cost(at(i));
            return cost.negative - cost.plain;
        };
        bool parity = false;
        std::size_t cheapest = 0;
        int turn = impossible;
        for (std::size_t i = 0; i < n; ++i) {
            const int cost = turn_cost(i);
            parity ^= cost < 0;
            if (std::abs(cost) >= turn) continue;
            turn = std::abs(cost);
            cheapest = i;
        }
        const bool negative = mode == Mode::negative;
        const bool by_minus = negative && 1 + (parity ? turn : 0) < (parity ? 0 : turn);
        const bool flip = parity != (negative && !by_minus);
        const auto write_factor = [&](std::size_t i) {
            const Entry& factor = at(i);
            const bool turned = (turn_cost(i) < 0) != (flip && i == cheapest);
            if (factor.ratio.is_unit()) {
                signed_term(factor.term, turned);
                return;
            }
            const Cost& base = arena[factor.term].cost;
            signed_term(factor.term, factor.ratio.even_numerator() ? base.negative < base.plain : turned);
            emit_power(factor.ratio.absolute(), out);
        };
        const auto is_below = [&](std::size_t i) { return (at(i).ratio.sign() < 0) != (mode == Mode::inverse); };
        sides(n, numerator, is_below, write_factor);
        if (by_minus) op(Op::neg);
    }

    // Writes the product of the items, with the wanted sign if one is wanted.
    void items(const Scratch<Item>& list, std::span<const Entry> entries, bool invert, std::optional<bool> negative,
               const Leaf* numerator, const Absorption& absorbed) {
        Scratch<char> turned(list.size(), 0);
        bool parity = false;
        std::size_t cheapest = 0;
        for (std::size_t i = 0; i < list.size(); ++i) {
            turned[i] = list[i].cheaper_turned();
            parity ^= turned[i] != 0;
            if (std::abs(list[i].negative - list[i].plain) < std::abs(list[cheapest].negative - list[cheapest].plain))
                cheapest = i;
        }
        if (negative && parity != *negative) turned[cheapest] ^= 1;
        sides(
            list.size(), numerator, [&](std::size_t i) { return list[i].denominator != invert; },
            [&](std::size_t i) { item(list[i], entries, turned[i] != 0, absorbed); });
    }

    void item(const Item& it, std::span<const Entry> entries, bool negative, const Absorption& absorbed) {
        if (!it.units.empty()) {
            const std::optional<bool> sign = it.exponent.even_numerator() ? std::nullopt : std::optional(negative);
            items(it.units, entries, it.denominator, sign, nullptr, absorbed);
            scale_by(it.scale);
            if (absorbed.any() && !absorbed.into_sum && holds(it, absorbed.entry))
                scale_by(it.denominator == (entries[absorbed.entry].ratio.sign() < 0) ? absorbed.factor
                                                                                      : reciprocal(absorbed.factor));
            emit_power(it.exponent, out);
            return;
        }
        if (it.merged_absolute) {
            absolutes(it, entries);
            return;
        }
        const Entry& e = entries[it.numerators.empty() ? it.denominators[0] : it.numerators[0]];
        if (!e.is_free()) {
            if (absorbed.any() && absorbed.into_sum && &e == &entries[absorbed.entry]) {
                scaled_sum(arena.entries(e.term), absorbed.factor, negative);
            } else {
                signed_term(e.term, negative);
            }
            return;
        }
        const TermNode& base = arena[e.term];
        if (base.kind == Kind::symbol && base.op == Op::e) {
            signed_term(e.other, it.denominator);
            op(Op::exp);
        } else {
            term(e.term, Mode::plain);
            signed_term(e.other, it.denominator);
            op(Op::pow);
        }
    }

    // Whether the entry is a base of this power, not of one nested in it.
    static bool holds(const Item& power, std::uint32_t entry) {
        const auto inside = [&](const Scratch<std::uint32_t>& list) {
            return std::find(list.begin(), list.end(), entry) != list.end();
        };
        return std::any_of(power.units.begin(), power.units.end(),
                           [&](const Item& unit) { return inside(unit.numerators) || inside(unit.denominators); });
    }

    void absolutes(const Item& it, std::span<const Entry> entries) {
        const auto write_all = [&](const Scratch<std::uint32_t>& members) {
            for (std::size_t k = 0; k < members.size(); ++k) {
                const TermId argument = arena[entries[members[k]].term].argument;
                signed_term(argument, arena[argument].cost.negative < arena[argument].cost.plain);
                if (k > 0) op(Op::mul);
            }
        };
        write_all(it.denominator ? it.denominators : it.numerators);
        if (!it.denominator && !it.denominators.empty()) {
            write_all(it.denominators);
            op(Op::div);
        }
        op(Op::abs);
    }
};

void Speller::emit(TermId id, Mode mode, std::vector<Node>& out, WriteConstant write) const {
    Emitter{*this, arena_, write, out}.term(id, mode);
}

}  // namespace simplipy
