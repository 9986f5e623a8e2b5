#include "spell.hpp"

#include <algorithm>

#include "product_plan.hpp"
#include "sum_cost.hpp"
#include "tokens.hpp"

namespace simplipy {
namespace {

Cost number_cost(const Rational& value) {
    const int tokens = number_tokens(value);
    return {tokens, tokens, value.is_zero() ? 2 : std::min(1 + tokens, number_tokens(reciprocal(value)))};
}

Cost sum_cost(const Speller& speller, std::span<const Entry> entries) {
    const spelling::Scale scale = entries.size() == 1
                                      ? spelling::entry_cost(speller, entries[0])
                                      : (spelling::is_plain_sum(entries) ? spelling::plain_sum_cost(speller, entries)
                                                                         : spelling::sum_cost(speller, entries));
    const int negative = std::min(scale.negative, scale.plain + 1);
    return {std::min(scale.plain, negative + 1), negative, scale.plain + 1};
}

Cost function_cost(Op op, const Cost& inner) {
    const Parity parity = info(op).parity;
    Cost cost;
    if (parity == Parity::odd) {
        cost.plain = 1 + std::min(inner.plain, 1 + inner.negative);
        cost.negative = std::min(1 + inner.negative, 1 + cost.plain);
    } else {
        cost.plain = 1 + (parity == Parity::even ? std::min(inner.plain, inner.negative) : inner.plain);
        cost.negative = 1 + (op == Op::log ? std::min(inner.inverse, cost.plain) : cost.plain);
    }
    cost.inverse = 1 + cost.plain;
    return cost;
}

// max(a, b) is -min(-a, -b).
Cost extremum_cost(const Speller& speller, std::span<const Entry> entries) {
    int plain = static_cast<int>(entries.size()) - 1;
    int negative = plain;
    for (const Entry& entry : entries) {
        plain += speller[entry.term].cost.plain;
        negative += speller[entry.term].cost.negative;
    }
    const int least = std::min(plain, 1 + negative);
    return {least, std::min(negative, 1 + plain), 1 + least};
}

}  // namespace

void Speller::set_cost(TermNode& node, std::span<const Entry> entries) const {
    switch (node.kind) {
        case Kind::number:
            node.cost = number_cost(node.value);
            break;
        case Kind::constant:
            node.cost = {1, 1, 2};
            break;
        case Kind::symbol:
            node.cost = {1, node.op == Op::inf || node.op == Op::neg_inf || node.op == Op::nan ? 1 : 2, 2};
            break;
        case Kind::sum:
            node.cost = sum_cost(*this, entries);
            break;
        case Kind::product:
            spelling::set_product_cost(*this, node, entries);
            break;
        case Kind::function:
            node.cost = function_cost(node.op, arena_[node.argument].cost);
            break;
        case Kind::extremum:
            node.cost = extremum_cost(*this, entries);
            break;
        default:
            node.cost = {1, 2, 2};
            break;
    }
}

}  // namespace simplipy
