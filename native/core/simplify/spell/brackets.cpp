#include "brackets.hpp"

#include <algorithm>

#include "sum_cost.hpp"
#include "tokens.hpp"

namespace simplipy::spelling {
namespace {

enum class Repeats : std::uint8_t { nowhere, everywhere, unknown };

// Numbers that may stand in front of a bracket.
Scratch<Rational> bracket_scales(std::span<const Entry> entries, const Scratch<char>& done) {
    constexpr std::size_t max_scales = 12;
    Scratch<Rational> scales;
    const auto propose = [&](const Rational& k) {
        if (!k.is_one() && scales.size() < max_scales && std::find(scales.begin(), scales.end(), k) == scales.end())
            scales.push_back(k);
    };
    const auto may_share = [&](std::size_t i) {
        return !done[i] && !entries[i].is_free() && !entries[i].ratio.is_zero() && !entries[i].ratio.is_unit() &&
               entries[i].term != one_term;
    };
    for (std::size_t i = 0; i < entries.size(); ++i)
        if (may_share(i)) propose(entries[i].ratio.absolute());
    const std::size_t n_ratios = scales.size();
    for (std::size_t i = 0; i < n_ratios; ++i) {
        propose(Rational::reduced(1, scales[i].q));
        for (std::size_t j = 0; j < i; ++j)
            propose(Rational::reduced(gcd(scales[i].p, scales[j].p), gcd(scales[i].q, scales[j].q)));
    }
    return scales;
}

// Tokens of an entry divided by k, at its cheaper sign.
int tokens_in_bracket(const Speller& speller, const Entry& entry, const Rational& k) {
    const Rational ratio = entry.ratio.absolute() / k;
    if (entry.term == one_term) return number_tokens(ratio);
    const TermNode& term = speller[entry.term];
    if (term.kind != Kind::product) return scaling(ratio, false).tokens;
    const Scale cost = entry_cost(speller, {entry.term, no_term, ratio});
    return cost.least();
}

// How coefficients other than 1, -1 and free ones repeat, where that alone tells what brackets save.
Repeats repeats(const Speller& speller, std::span<const Entry> entries) {
    std::size_t n_numbers = 0;
    bool all_different = true;
    bool all_single = true;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const Entry& entry = entries[i];
        if (entry.term == one_term || entry.is_free() || entry.ratio.is_zero() || entry.ratio.is_unit()) continue;
        const TermNode& term = speller[entry.term];
        const auto takes_in = [&](const Entry& factor) {  // a number may be cheaper inside
            return factor.is_free() || !factor.ratio.is_unit() || speller[factor.term].kind == Kind::sum;
        };
        const std::span<const Entry> factors = speller.entries(entry.term);
        if (term.kind == Kind::product && std::any_of(factors.begin(), factors.end(), takes_in))
            return Repeats::unknown;
        if (term.is_function(Op::log)) return Repeats::unknown;
        const Rational size = entry.ratio.absolute();
        all_single &= scaling(size, false).tokens == 1;
        const auto is_same = [&](const Entry& e) { return !e.is_free() && e.ratio.absolute() == size; };
        all_different &= std::none_of(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(i), is_same);
        ++n_numbers;
    }
    if (all_different && all_single) return Repeats::nowhere;
    if (n_numbers < entries.size()) return Repeats::unknown;
    const Rational size = entries[0].ratio.absolute();
    const bool all_same =
        std::all_of(entries.begin(), entries.end(), [&](const Entry& e) { return e.ratio.absolute() == size; });
    return all_same ? Repeats::everywhere : Repeats::unknown;
}

// The bracket of entries that are free yet that saves most, or one without members. `tokens`: of each entry outside of
// a bracket, 0 for those that cannot stand in one.
Bracket best_bracket(const Speller& speller, std::span<const Entry> entries, const Scratch<char>& done,
                     const Scratch<int>& tokens) {
    Bracket best;
    int best_saved = 0;
    for (const Rational& k : bracket_scales(entries, done)) {
        Bracket bracket{{}, k};
        int saved = -scaling(k, false).tokens;
        for (std::uint32_t i = 0; i < entries.size(); ++i) {
            if (done[i] || tokens[i] == 0) continue;
            const int less = tokens[i] - tokens_in_bracket(speller, entries[i], k);
            if (less <= 0) continue;
            saved += less;
            bracket.members.push_back(i);
        }
        if (bracket.members.size() < 2 || saved <= 0 || saved < best_saved ||
            (saved == best_saved && bracket.members.size() <= best.members.size()))
            continue;
        best_saved = saved;
        best = std::move(bracket);
    }
    return best;
}

// Appends brackets of several entries, one after the other; marks those entries in `done`.
void add_brackets(const Speller& speller, std::span<const Entry> entries, Scratch<Bracket>& brackets,
                  Scratch<char>& done) {
    Scratch<int> tokens(entries.size(), 0);
    for (std::size_t i = 0; i < entries.size(); ++i)
        if (!entries[i].is_free() && !entries[i].ratio.is_zero() && !entries[i].ratio.is_unit())
            tokens[i] = tokens_in_bracket(speller, entries[i], 1);
    while (true) {
        Bracket best = best_bracket(speller, entries, done, tokens);
        if (best.members.empty()) return;
        for (const std::uint32_t i : best.members) done[i] = 1;
        brackets.push_back(std::move(best));
    }
}

}  // namespace

Scratch<Bracket> coefficient_brackets(const Speller& speller, std::span<const Entry> entries) {
    Scratch<Bracket> brackets;
    const Repeats numbers = is_plain_sum(entries) ? Repeats::nowhere : repeats(speller, entries);
    if (numbers == Repeats::everywhere) {
        Bracket whole{{}, entries[0].ratio.absolute()};
        for (std::uint32_t i = 0; i < entries.size(); ++i) whole.members.push_back(i);
        brackets.push_back(std::move(whole));
        return brackets;
    }
    Scratch<char> done(entries.size(), 0);
    if (numbers == Repeats::unknown) add_brackets(speller, entries, brackets, done);
    for (std::uint32_t i = 0; i < entries.size(); ++i)
        if (!done[i]) brackets.push_back({{i}, 1});
    std::sort(brackets.begin(), brackets.end(),
              [](const Bracket& a, const Bracket& b) { return a.members[0] < b.members[0]; });
    return brackets;
}

bool all_units(std::span<const Entry> entries) {
    return std::all_of(entries.begin(), entries.end(), [](const Entry& e) { return e.is_free() || e.ratio.is_unit(); });
}

bool is_plain_sum(std::span<const Entry> entries) {
    int n_scaled = 0;
    for (const Entry& e : entries) n_scaled += !e.is_free() && !e.ratio.is_unit();
    return n_scaled < 2;
}

Scratch<Entry> bracketed(std::span<const Entry> entries, const Bracket& bracket) {
    Scratch<Entry> inside;
    for (const std::uint32_t i : bracket.members) {
        inside.push_back(entries[i]);
        inside.back().ratio = entries[i].ratio / bracket.scale;
    }
    return inside;
}

Scratch<Entry> divided(std::span<const Entry> entries, const Rational& content) {
    Scratch<Entry> result(entries.begin(), entries.end());
    for (Entry& entry : result)
        if (!entry.is_free()) entry.ratio = entry.ratio / content;
    return result;
}

}  // namespace simplipy::spelling
