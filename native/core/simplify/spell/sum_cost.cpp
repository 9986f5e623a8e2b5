#include "sum_cost.hpp"

#include <algorithm>
#include <optional>

#include "absorption.hpp"
#include "tokens.hpp"

namespace simplipy::spelling {
namespace {

// The tokens of a sum whose items are added one by one.
class Total {
  public:
    void add(const Scale& item) {
        tokens_ += item.least() + 1;
        plain_extra_ = std::min(plain_extra_, item.plain - item.least());
        negative_extra_ = std::min(negative_extra_, item.negative - item.least());
    }
    Scale cost() const {
        return {tokens_ + std::min(plain_extra_, negative_extra_ + 1),
                tokens_ + std::min(negative_extra_, plain_extra_ + 1)};
    }

  private:
    int tokens_ = -1;  // one operator fewer than items
    int plain_extra_ = impossible;
    int negative_extra_ = impossible;
};

bool can_chain(const Rational& number) {
    return chain_tokens(number.p) < impossible && chain_tokens(number.q) < impossible;
}

// log((k*u)^n), n even.
LogOfPower log_of_even_power(const Speller& speller, TermId argument) {
    TermId product = argument;
    Rational factor = 1;
    if (speller[product].is_multiple() && !speller.entries(product)[0].is_free()) {
        factor = speller.entries(product)[0].ratio;
        product = speller.entries(product)[0].term;
    }
    if (speller[product].kind != Kind::product || speller[product].n_entries != 1) return {};
    const Entry& power = speller.entries(product)[0];
    const bool even = !power.is_free() && power.ratio.even_integer() && power.ratio.sign() > 0;
    const auto root = even && factor.sign() > 0 ? exact_root(factor, power.ratio.small()) : std::nullopt;
    if (!root || !can_chain(*root)) return {};
    return {power.term, *root, power.ratio, 0};
}

}  // namespace

Scale entry_cost(const Speller& speller, const Entry& entry) {
    const TermNode& term = speller[entry.term];
    if (entry.term == one_term) {
        const int tokens = entry.is_free() ? 1 : number_tokens(entry.ratio);
        return {tokens, tokens};
    }
    if (term.kind == Kind::function)
        if (const LogOfPower log = log_of_power(speller, entry); log.any())
            return Scale{log.tokens, log.tokens + 1}.turned(entry.ratio.sign() < 0);
    const int least = Scale::of(term.cost).least();
    if (entry.is_free()) {
        const int tokens = least + (term.no_numerator ? 1 : 2);
        return {tokens, tokens};
    }
    if (entry.ratio.is_unit()) return Scale::of(term.cost).turned(entry.ratio.p < 0);
    const Scaling scale = scaling(entry.ratio.absolute(), term.no_numerator);
    const int tokens = scale.tokens - absorption(speller, entry).saved;
    Scale cost{tokens + term.cost.plain, tokens + term.cost.negative};
    if (scale.takes_sign && tokens == scale.tokens) cost = {tokens + least, tokens + least};
    return cost.turned(entry.ratio.sign() < 0);
}

LogOfPower log_of_power(const Speller& speller, const Entry& entry) {
    const TermNode& term = speller[entry.term];
    if (!term.is_function(Op::log) || entry.is_free() || entry.ratio.is_zero() || entry.ratio.is_unit()) return {};
    const TermNode& inner = speller[term.argument];
    LogOfPower log =
        inner.is_function(Op::abs) ? LogOfPower{inner.argument, 1, 1, 0} : log_of_even_power(speller, term.argument);
    const bool may_turn = entry.ratio.even_numerator() && inner.cost.negative < inner.cost.plain;
    if (!log.any() && speller.merges_even_roots() && may_turn)
        log = {term.argument, 1, 1, 0};  // 2*log(-u) as log(u^2), which is defined in more places
    if (!log.any()) return {};
    log.exponent = entry.ratio.absolute() * log.exponent;
    if (!can_chain(log.exponent)) return {};
    log.tokens = 1 + chain_tokens(log.exponent.p) + Scale::of(speller[log.base].cost).least() +
                 chain_tokens(log.exponent.q) + chain_tokens(log.scale.p) + chain_tokens(log.scale.q) +
                 !log.exponent.even_numerator();
    if (log.tokens >= scaling(entry.ratio.absolute(), false).tokens + term.cost.plain) return {};
    return log;
}

Scratch<Scale> bracket_costs(const Speller& speller, std::span<const Entry> entries, const Scratch<Bracket>& brackets) {
    Scratch<Scale> items;
    for (const Bracket& bracket : brackets) {
        if (bracket.members.size() == 1) {
            items.push_back(entry_cost(speller, entries[bracket.members[0]]));
            continue;
        }
        const Scale inner = sum_cost(speller, bracketed(entries, bracket));
        const int tokens = scaling(bracket.scale, false).tokens;
        items.push_back({inner.plain + tokens, inner.negative + tokens});
    }
    return items;
}

Scale sum_cost(const Speller& speller, std::span<const Entry> entries) {
    Total total;
    for (const Scale& item : bracket_costs(speller, entries, coefficient_brackets(speller, entries))) total.add(item);
    return total.cost();
}

Scale plain_sum_cost(const Speller& speller, std::span<const Entry> entries) {
    Total total;
    for (const Entry& entry : entries) total.add(entry_cost(speller, entry));
    return total.cost();
}

}  // namespace simplipy::spelling
