#include "extremum.hpp"

#include <algorithm>
#include <optional>

#include "absolute.hpp"
#include "core/simplify/canonical/sum/sum.hpp"
#include "core/simplify/canonical/terms/analysis.hpp"

namespace simplipy::canonical {
namespace {

bool is_infinity(const TermNode& node) {
    return node.is_symbol(Op::nan) || node.is_symbol(Op::inf) || node.is_symbol(Op::neg_inf);
}

// max(max(a, b), c) is that of all three.
void take(Context& c, Op op, TermId id, Scratch<Entry>& operands) {
    const TermNode& node = c.terms[id];
    if (node.kind != Kind::extremum || node.op != op) {
        operands.push_back({id, no_term, 1});
        return;
    }
    for (const Entry& entry : c.terms.entries(id)) operands.push_back(entry);
}

// Each operand once, in canonical order.
void settle(Context& c, Scratch<Entry>& operands) {
    std::sort(operands.begin(), operands.end(), [](const Entry& a, const Entry& b) { return a.term < b.term; });
    operands.resize(static_cast<std::size_t>(std::unique(operands.begin(), operands.end()) - operands.begin()));
    c.terms.arena().sort(operands);
    c.terms.arena().settle_ties(operands);
}

// With preserve an infinity is undefined; else one of them decides, and the other never does.
std::optional<TermId> value_at_infinity(Context& c, Op op, Scratch<Entry>& operands) {
    const auto is = [&](Op symbol) {
        return std::any_of(operands.begin(), operands.end(),
                           [&](const Entry& entry) { return c.terms[entry.term].is_symbol(symbol); });
    };
    const bool is_undefined = is(Op::nan) || (!c.options.extend && (is(Op::inf) || is(Op::neg_inf)));
    if (is_undefined) return c.terms.symbol(Op::nan);
    const Op decisive = op == Op::max ? Op::inf : Op::neg_inf;
    if (is(decisive)) return c.terms.symbol(decisive);
    if (operands.size() > 1) erase_if(operands, [&](const Entry& entry) { return is_infinity(c.terms[entry.term]); });
    return std::nullopt;
}

// A free constant takes in all else that has no variable.
void merge_constants(Context& c, Op op, Scratch<Entry>& operands) {
    TermId constant = no_term;
    for (const Entry& entry : operands)
        if (c.terms[entry.term].kind == Kind::constant && constant == no_term) constant = entry.term;
    const auto joins = [&](const Entry& entry) {
        return entry.term != constant && c.terms.is_ground(entry.term) && !c.terms[entry.term].partial;
    };
    if (constant == no_term || std::none_of(operands.begin(), operands.end(), joins)) return;
    c.note("function of a constant");
    TermId merged = constant;
    for (const Entry& entry : operands)
        if (joins(entry)) merged = c.constants.applied(op, merged, entry.term);
    erase_if(operands, [&](const Entry& entry) { return entry.term == constant || joins(entry); });
    operands.push_back({merged, no_term, 1});
    c.terms.arena().sort(operands);
    c.terms.arena().settle_ties(operands);
}

// Whether max(a, b) is b, or min(a, b), wherever both are defined.
bool is_reached(const TermNode& a, const TermNode& b, Op op) {
    if (a.kind == Kind::number && b.kind == Kind::number) return op == Op::max ? a.value < b.value : b.value < a.value;
    return op == Op::max ? a.high <= b.low : b.high <= a.low;
}

// With preserve an operand that would disappear must be defined everywhere.
void drop_reached(Context& c, Op op, Scratch<Entry>& operands) {
    for (std::size_t i = operands.size(); i-- > 0;) {
        const TermNode& node = c.terms[operands[i].term];
        if (!c.options.extend && node.partial) continue;
        const bool reached = std::any_of(operands.begin(), operands.end(), [&](const Entry& other) {
            return other.term != operands[i].term && is_reached(node, c.terms[other.term], op);
        });
        if (!reached) continue;
        c.note("bounds");
        operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

int n_negative(Context& c, const Scratch<Entry>& operands) {
    return static_cast<int>(std::count_if(operands.begin(), operands.end(), [&](const Entry& entry) {
        return leading_sign(c.terms.arena(), entry.term) < 0;
    }));
}

TermId close_extremum(Context& c, Op op, Scratch<Entry> operands);

// max(-a, -b) is -min(a, b): with fewer leading minus signs, and as a maximum where they are equally many.
TermId oriented(Context& c, Op op, const Scratch<Entry>& operands) {
    Scratch<Entry> turned;
    for (const Entry& entry : operands) take(c, opposite_extremum(op), scaled(c, entry.term, Rational(-1)), turned);
    const int before = n_negative(c, operands);
    const int after = n_negative(c, turned);
    if (after > before || (after == before && op == Op::max)) return c.terms.extremum(op, operands);
    return scaled(c, close_extremum(c, opposite_extremum(op), std::move(turned)), Rational(-1));
}

TermId close_extremum(Context& c, Op op, Scratch<Entry> operands) {
    settle(c, operands);
    if (const auto value = value_at_infinity(c, op, operands)) return *value;
    merge_constants(c, op, operands);
    drop_reached(c, op, operands);
    if (operands.size() == 1) return operands[0].term;
    if (operands.size() == 2 && scaled(c, operands[0].term, Rational(-1)) == operands[1].term) {
        c.note("absolute value");  // max(a, -a)
        return scaled(c, absolute(c, operands[0].term), Rational(op == Op::max ? 1 : -1));
    }
    return oriented(c, op, operands);
}

}  // namespace

TermId extremum(Context& c, Op op, TermId a, TermId b) {
    Scratch<Entry> operands;
    take(c, op, a, operands);
    take(c, op, b, operands);
    return close_extremum(c, op, std::move(operands));
}

}  // namespace simplipy::canonical
