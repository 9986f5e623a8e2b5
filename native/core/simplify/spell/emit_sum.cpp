#include "brackets.hpp"
#include "emit.hpp"
#include "sum_cost.hpp"
#include "tokens.hpp"

namespace simplipy::spelling {
namespace {

// A literal stands behind the terms, x - 1 and not -1 + x, and takes any sign for free.
bool is_number(const Entry& e) { return e.term == one_term && !e.is_free(); }

void emit_quotient(Output& out, Int128 q) {
    if (chain_tokens(q) <= 2) {
        emit_chain_tokens(q, Op::div2, out.nodes);
    } else {
        emit_number(Rational::reduced(q, 1), out.nodes);
        out.op(Op::div);
    }
}

// leaf * term, where the leaf is a number or constant that a reciprocal takes as its numerator.
void emit_times(Output& out, TermId id, bool negative, Leaf leaf) {
    if (out[id].no_numerator) {
        emit_product(out, id, negative ? Mode::negative : Mode::plain, &leaf);
        return;
    }
    leaf();
    emit_signed(out, id, negative);
    out.op(Op::mul);
}

void emit_log_of_power(Output& out, const LogOfPower& log, bool negative) {
    emit_cheaper(out, log.base);
    emit_scale(out, log.scale);
    const bool even = log.exponent.even_numerator();
    if (even) emit_chain_tokens(log.exponent.p, Op::pow2, out.nodes);
    if (!even) out.op(Op::abs);
    out.op(Op::log);
    emit_chain_tokens(log.exponent.q, Op::div2, out.nodes);
    if (!even) emit_chain_tokens(log.exponent.p, Op::mult2, out.nodes);
    if (negative) out.op(Op::neg);
}

// The number k > 0 times the term, or the negative of that.
void emit_multiple(Output& out, TermId id, const Rational& k, bool negative) {
    const TermNode& node = out[id];
    const Scaling how = scaling(k, node.no_numerator);
    if (!how.takes_sign) {
        emit_signed(out, id, negative);
        if (how.kind == Scaling::Kind::chain) {
            emit_chain_tokens(k.q, Op::div2, out.nodes);
            emit_chain_tokens(k.p, Op::mult2, out.nodes);
        } else {
            emit_quotient(out, k.q);
        }
        return;
    }
    const bool cheaper_turned = node.cost.negative < node.cost.plain;
    const Rational literal = how.kind == Scaling::Kind::literal ? k : Rational::reduced(k.p, 1);
    emit_times(out, id, cheaper_turned,
               [&] { emit_number(negative != cheaper_turned ? -literal : literal, out.nodes); });
    if (how.kind == Scaling::Kind::ratio) emit_quotient(out, k.q);
}

// `ratio`: what free coefficients are multiplied by.
void emit_entry(Output& out, const Entry& e, bool negative, const Rational& ratio) {
    if (e.term == one_term) {
        if (e.is_free()) {
            out.write(out[e.other], negative ? -ratio : ratio, out.nodes);
        } else {
            emit_number(negative ? -e.ratio : e.ratio, out.nodes);
        }
        return;
    }
    if (e.is_free()) {
        const bool cheaper_turned = out[e.term].cost.negative < out[e.term].cost.plain;
        const bool turned = negative != cheaper_turned;
        emit_times(out, e.term, cheaper_turned, [&] { out.write(out[e.other], turned ? -ratio : ratio, out.nodes); });
        return;
    }
    const bool wanted = (e.ratio.sign() < 0) != negative;
    if (e.ratio.is_unit()) {
        emit_signed(out, e.term, wanted);
    } else if (const LogOfPower log = log_of_power(out.speller, e); log.any()) {
        emit_log_of_power(out, log, wanted);
    } else if (const Absorption inside = absorption(out.speller, e); inside.any()) {
        emit_product(out, e.term, wanted ? Mode::negative : Mode::plain, nullptr, inside);
        emit_scale(out, inside.rest);
    } else {
        emit_multiple(out, e.term, e.ratio.absolute(), wanted);
    }
}

// Which item of a sum stands first, and whether the whole is written as a negative.
struct Head {
    std::size_t item = 0;
    bool turns = false;
};

Head find_head(const Scratch<Scale>& items, FunctionRef<bool(std::size_t)> is_literal) {
    Head head;
    int extra = impossible;
    int turned_extra = impossible;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const int this_extra = items[i].plain - items[i].least();
        if (this_extra < extra || (this_extra == extra && is_literal(head.item))) {
            head.item = i;
            extra = this_extra;
        }
        turned_extra = std::min(turned_extra, items[i].negative - items[i].least());
    }
    head.turns = turned_extra + 1 < extra;
    return head;
}

// A sum as it is written: entries one by one, or in brackets.
struct Chain {
    Output& out;
    std::span<const Entry> entries;
    const Scratch<Bracket>* brackets;  // nullptr: each entry stands alone
    Rational ratio;

    std::size_t size() const { return brackets == nullptr ? entries.size() : brackets->size(); }
    const Entry& first_of(std::size_t item) const {
        return brackets == nullptr ? entries[item] : entries[(*brackets)[item].members[0]];
    }
    bool is_literal(std::size_t item) const {
        return is_number(first_of(item)) && (brackets == nullptr || (*brackets)[item].members.size() == 1);
    }

    void write(bool negative) {
        const Scratch<Scale> items = costs(negative);
        const Head head = find_head(items, [this](std::size_t i) { return is_number(first_of(i)); });
        if (head.turns) {
            write(!negative);
            out.op(Op::neg);
            return;
        }
        write_item(head.item, negative);
        const std::size_t n = items.size();
        // the literal, if there is one, comes first in canonical order and last in writing
        const std::size_t start = is_literal(0) ? 1 : 0;
        for (std::size_t k = 0; k < n; ++k) {
            const std::size_t i = (start + k) % n;
            if (i == head.item) continue;
            const bool minus = is_literal(i) && (first_of(i).ratio.sign() < 0) != negative;
            const bool subtract = items[i].negative < items[i].plain || minus;
            write_item(i, negative != subtract);
            out.op(subtract ? Op::sub : Op::add);
        }
    }

    Scratch<Scale> costs(bool negative) const {
        Scratch<Scale> items;
        if (brackets != nullptr) {
            items = bracket_costs(out.speller, entries, *brackets);
        } else {
            items.reserve(entries.size());
            for (const Entry& e : entries) items.push_back(entry_cost(out.speller, e));
        }
        if (negative)
            for (Scale& item : items) item = item.turned(true);
        return items;
    }

    void write_item(std::size_t item, bool negative);
};

void emit_bracketed_sum(Output& out, std::span<const Entry> entries, bool negative, const Rational& ratio) {
    const Scratch<Bracket> brackets = coefficient_brackets(out.speller, entries);
    Chain{out, entries, &brackets, ratio}.write(negative);
}

void Chain::write_item(std::size_t item, bool negative) {
    if (brackets == nullptr || (*brackets)[item].members.size() == 1) {
        emit_entry(out, first_of(item), negative, ratio);
        return;
    }
    const Bracket& bracket = (*brackets)[item];
    emit_bracketed_sum(out, bracketed(entries, bracket), negative, Rational(1));
    emit_scale(out, bracket.scale);
}

}  // namespace

void emit_sum(Output& out, TermId id, Mode mode) {
    const std::span<const Entry> entries = out.speller.entries(id);
    const bool negative = mode == Mode::negative;
    if (entries.size() == 1) {
        const Scale cost = entry_cost(out.speller, entries[0]).turned(negative);
        const bool turned = cost.negative + 1 < cost.plain;
        emit_entry(out, entries[0], negative != turned, Rational(1));
        if (turned) out.op(Op::neg);
    } else {
        emit_scaled_sum(out, entries, Rational(1), negative);
    }
    if (mode == Mode::inverse) out.op(Op::inv);
}

void emit_scaled_sum(Output& out, std::span<const Entry> entries, const Rational& factor, bool negative) {
    if (factor.is_one() && is_plain_sum(entries)) {
        Chain{out, entries, nullptr, Rational(1)}.write(negative);
    } else {
        emit_bracketed_sum(out, divided(entries, reciprocal(factor)), negative, factor);
    }
}

void emit_scale(Output& out, const Rational& k) {
    if (k.is_one()) return;
    const Scaling how = scaling(k, false);
    if (how.kind == Scaling::Kind::chain) {
        emit_chain_tokens(k.q, Op::div2, out.nodes);
        emit_chain_tokens(k.p, Op::mult2, out.nodes);
        return;
    }
    const bool is_literal = how.kind == Scaling::Kind::literal;
    if (is_literal || k.p != 1) {
        emit_number(is_literal ? k : Rational::reduced(k.p, 1), out.nodes);
        out.op(Op::mul);
    }
    if (!is_literal) emit_quotient(out, k.q);
}

}  // namespace simplipy::spelling
