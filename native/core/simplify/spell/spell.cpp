#include "spell.hpp"

#include <array>
#include <memory>

#include "plan.hpp"

namespace simplipy {

// Fewest tokens among multk (or divk, powk, pow1_k) whose integers multiply to n; impossible when n has other factors.
int chain_tokens(Int128 number) {
    // fewest factors 2, 3, 4, 5 of 1 to 16; 0 where there are others
    static constexpr std::int8_t small[17] = {0, 0, 1, 1, 1, 1, 2, 0, 2, 2, 2, 0, 2, 0, 0, 2, 2};
    if (number == 1) return 0;
    if (number > 1 && number <= 16) return small[number] == 0 ? impossible : small[number];
    if (number <= 0 || number > INT64_MAX) return impossible;  // 128-bit division is slow
    auto n = static_cast<std::uint64_t>(number);
    int twos = 0;
    int tokens = 0;
    for (; n % 2 == 0; n /= 2) ++twos;
    for (; n % 3 == 0; n /= 3) ++tokens;
    for (; n % 5 == 0; n /= 5) ++tokens;
    return n == 1 ? tokens + (twos + 1) / 2 : impossible;
}

void emit_chain_tokens(Int128 number, Op two, std::vector<Node>& out) {
    if (chain_tokens(number) >= impossible) throw_overflow();
    auto n = static_cast<std::uint64_t>(number);
    const auto write = [&](int k) { out.push_back(Node::of(*sibling(two, k))); };
    for (; n % 5 == 0; n /= 5) write(5);
    for (; n % 3 == 0; n /= 3) write(3);
    for (; n % 4 == 0; n /= 4) write(4);
    if (n % 2 == 0) write(2);
}

Scaling scaling(const Rational& k, bool no_numerator) {
    if (k.is_zero()) return {Scaling::Kind::literal, no_numerator ? 1 : 2, true};
    const int p_chain = chain_tokens(k.p);
    const int q_chain = chain_tokens(k.q);
    Scaling best;
    best.tokens = std::min(p_chain + q_chain, impossible);
    if (best.tokens <= 1) return best;
    const int literal = no_numerator ? 1 : 2;  // 7*(1/x) is 7/x
    if (literal < best.tokens && to_decimal(k)) best = {Scaling::Kind::literal, literal, true};
    const bool p_is_one = k.p == 1;
    const int ratio = (p_is_one ? 0 : literal) + std::min(q_chain, 2);
    if (ratio < best.tokens) best = {Scaling::Kind::ratio, ratio, !p_is_one};
    return best;
}

// Tokens of the power m = p/q > 0 around its base; roots first, then powers.
int power_tokens(const Rational& m) {
    if (m.is_zero()) return 2;
    const int p_chain = chain_tokens(m.p);
    const int chain = std::min(p_chain, 2) + chain_tokens(m.q);
    return chain > 2 && m.q % 2 == 0 && to_decimal(m) ? 2 : chain;
}

void emit_power(const Rational& m, std::vector<Node>& out) {
    if (m.is_zero()) {  // 1 where the base is defined
        emit_number(m, out);
        out.push_back(Node::of(Op::pow));
        return;
    }
    const int p_chain = chain_tokens(m.p);
    const int chain = std::min(p_chain, 2) + chain_tokens(m.q);
    const auto decimal = to_decimal(m);
    if (chain > 2 && m.q % 2 == 0 && decimal) {  // a real power: needs a base >= 0, as the even root does
        out.push_back(Node::number(*decimal));
        out.push_back(Node::of(Op::pow));
        return;
    }
    emit_chain_tokens(m.q, Op::root2, out);
    if (p_chain <= 2) {
        emit_chain_tokens(m.p, Op::pow2, out);
    } else {
        emit_number(Rational::reduced(m.p, 1), out);
        out.push_back(Node::of(Op::pow));
    }
}

int number_tokens(const Rational& value) {
    if (to_decimal(value)) return 1;
    return 1 + std::min(chain_tokens(value.q), 2);
}

namespace {

// An integer of more than 17 digits as a sum of literals: definitions of constants need it, results refuse it as longer
// than what was counted.
void emit_integer(Int128 value, std::vector<Node>& out) {
    if (const auto decimal = to_decimal(Rational::reduced(value, 1))) {
        out.push_back(Node::number(*decimal));
        return;
    }
    constexpr std::int64_t limb = 10000000000000000;
    emit_integer(value / limb, out);
    out.push_back(Node::number({1, 16}));
    out.push_back(Node::of(Op::mul));
    emit_integer(value % limb, out);
    out.push_back(Node::of(Op::add));
}

}  // namespace

void emit_number(const Rational& value, std::vector<Node>& out) {
    if (const auto decimal = to_decimal(value)) {
        out.push_back(Node::number(*decimal));
        return;
    }
    emit_integer(value.p, out);
    if (chain_tokens(value.q) <= 2) {
        emit_chain_tokens(value.q, Op::div2, out);
    } else {
        emit_integer(value.q, out);
        out.push_back(Node::of(Op::div));
    }
}

// ---- sums

// 2*log(|u|) is log(u^2), log(u^4)/2 too, and log(u^2)/2 is log(|u|).
Speller::LogOfPower Speller::log_of_power(const Entry& entry) const {
    const TermNode& term = arena_[entry.term];
    if (term.kind != Kind::function || term.op != Op::log || entry.is_free() || entry.ratio.is_zero() ||
        entry.ratio.absolute().is_one())
        return {};
    LogOfPower log;
    const TermNode& inner = arena_[term.argument];
    if (inner.kind == Kind::function && inner.op == Op::abs) {
        log.base = inner.argument;
        log.exponent = entry.ratio.absolute();
    } else {
        TermId product = term.argument;
        Rational factor = 1;
        if (inner.kind == Kind::sum && inner.n_entries == 1 && !arena_.entries(product)[0].is_free()) {
            factor = arena_.entries(product)[0].ratio;
            product = arena_.entries(product)[0].term;
        }
        const TermNode& node = arena_[product];
        if (node.kind == Kind::product && node.n_entries == 1) {
            const Entry& power = arena_.entries(product)[0];
            const bool even = !power.is_free() && power.ratio.even_integer() && power.ratio.sign() > 0;
            const auto root = even && factor.sign() > 0 ? exact_root(factor, power.ratio.small()) : std::nullopt;
            if (root && chain_tokens(root->p) < impossible && chain_tokens(root->q) < impossible) {
                log.base = power.term;
                log.scale = *root;
                log.exponent = entry.ratio.absolute() * power.ratio;
            }
        }
    }
    if (merge_even_roots_ && log.base == no_term && entry.ratio.even_numerator() &&
        inner.cost.negative < inner.cost.plain) {
        log.base = term.argument;  // 2*log(-u) as log(u^2), which is defined in more places
        log.exponent = entry.ratio.absolute();
    }
    if (log.base == no_term || chain_tokens(log.exponent.p) >= impossible || chain_tokens(log.exponent.q) >= impossible)
        return {};
    const Cost& base = arena_[log.base].cost;
    log.tokens = 1 + chain_tokens(log.exponent.p) + std::min(base.plain, base.negative) + chain_tokens(log.exponent.q) +
                 chain_tokens(log.scale.p) + chain_tokens(log.scale.q) + !log.exponent.even_numerator();
    if (log.tokens >= scaling(entry.ratio.absolute(), false).tokens + term.cost.plain) return {};
    return log;
}

Speller::Scale Speller::entry_cost(const Entry& entry) const {
    const TermNode& term = arena_[entry.term];
    if (entry.term == one_term) {
        const int tokens = entry.is_free() ? 1 : number_tokens(entry.ratio);
        return {tokens, tokens};
    }
    if (term.kind == Kind::function)
        if (const LogOfPower log = log_of_power(entry); log.base != no_term)
            return entry.ratio.sign() > 0 ? Scale{log.tokens, log.tokens + 1} : Scale{log.tokens + 1, log.tokens};
    const int least = std::min(term.cost.plain, term.cost.negative);
    if (entry.is_free()) {
        const int tokens = least + (term.no_numerator ? 1 : 2);
        return {tokens, tokens};
    }
    if (entry.ratio.is_unit())
        return entry.ratio.p > 0 ? Scale{term.cost.plain, term.cost.negative}
                                 : Scale{term.cost.negative, term.cost.plain};
    const Scaling scale = scaling(entry.ratio.absolute(), term.no_numerator);
    const int tokens = scale.tokens - absorption(entry).saved;
    Scale cost{tokens + term.cost.plain, tokens + term.cost.negative};
    if (scale.takes_sign && tokens == scale.tokens) cost = {tokens + least, tokens + least};
    if (entry.ratio.sign() < 0) std::swap(cost.plain, cost.negative);
    return cost;
}

namespace {

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

}  // namespace

// Tokens of an entry divided by k, at its cheaper sign.
int Speller::tokens_in_bracket(const Entry& entry, const Rational& k) const {
    const Rational ratio = entry.ratio.absolute() / k;
    if (entry.term == one_term) return number_tokens(ratio);
    const TermNode& term = arena_[entry.term];
    if (term.kind != Kind::product) return scaling(ratio, false).tokens;
    const Scale cost = entry_cost({entry.term, no_term, ratio});
    return std::min(cost.plain, cost.negative);
}

// How coefficients other than 1, -1 and free ones repeat, where that alone tells what brackets save.
Speller::Repeats Speller::repeats(std::span<const Entry> entries) const {
    std::size_t n_numbers = 0;
    bool all_different = true;
    bool all_single = true;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const Entry& entry = entries[i];
        if (entry.term == one_term || entry.is_free() || entry.ratio.is_zero() || entry.ratio.is_unit()) continue;
        const TermNode& term = arena_[entry.term];
        const auto takes_in = [this](const Entry& factor) {  // a number may be cheaper inside
            return factor.is_free() || !factor.ratio.is_unit() || arena_[factor.term].kind == Kind::sum;
        };
        const std::span<const Entry> factors = arena_.entries(entry.term);
        if (term.kind == Kind::product && std::any_of(factors.begin(), factors.end(), takes_in))
            return Repeats::unknown;
        if (term.kind == Kind::function && term.op == Op::log) return Repeats::unknown;
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

Scratch<Bracket> Speller::coefficient_brackets(std::span<const Entry> entries) const {
    Scratch<Bracket> brackets;
    Scratch<char> done(entries.size(), 0);
    Scratch<int> tokens(entries.size(), 0);  // of entries that may stand in a bracket, outside of one
    const Repeats numbers = is_plain_sum(entries) ? Repeats::nowhere : repeats(entries);
    if (numbers == Repeats::everywhere) {
        Bracket whole{{}, entries[0].ratio.absolute()};
        for (std::uint32_t i = 0; i < entries.size(); ++i) whole.members.push_back(i);
        brackets.push_back(std::move(whole));
        return brackets;
    }
    const bool is_plain = numbers == Repeats::nowhere;
    for (std::size_t i = 0; i < entries.size() && !is_plain; ++i)
        if (!entries[i].is_free() && !entries[i].ratio.is_zero() && !entries[i].ratio.is_unit())
            tokens[i] = tokens_in_bracket(entries[i], 1);
    while (!is_plain) {
        Bracket best;
        int best_saved = 0;
        for (const Rational& k : bracket_scales(entries, done)) {
            Bracket bracket{{}, k};
            int saved = -scaling(k, false).tokens;
            for (std::uint32_t i = 0; i < entries.size(); ++i) {
                if (done[i] || tokens[i] == 0) continue;
                const int less = tokens[i] - tokens_in_bracket(entries[i], k);
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
        if (best_saved == 0) break;
        for (const std::uint32_t i : best.members) done[i] = 1;
        brackets.push_back(std::move(best));
    }
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

namespace {

// Cost of a sum of items: each is added or subtracted as it is cheaper, but the first must stand as it is.
template <class Scale>
Scale unit_sum(std::span<const Scale> items) {
    int total = static_cast<int>(items.size()) - 1;
    int plain_extra = impossible;
    int negative_extra = impossible;
    for (const Scale& item : items) {
        const int least = std::min(item.plain, item.negative);
        total += least;
        plain_extra = std::min(plain_extra, item.plain - least);
        negative_extra = std::min(negative_extra, item.negative - least);
    }
    // a sum of negatives only: one minus sign in front of the whole
    return {total + std::min(plain_extra, negative_extra + 1), total + std::min(negative_extra, plain_extra + 1)};
}

}  // namespace

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

Scratch<Speller::Scale> Speller::chain_items(std::span<const Entry> entries, const Scratch<Bracket>& brackets) const {
    Scratch<Scale> items;
    for (const Bracket& bracket : brackets) {
        if (bracket.members.size() == 1) {
            items.push_back(entry_cost(entries[bracket.members[0]]));
            continue;
        }
        const Scratch<Entry> inside = bracketed(entries, bracket);
        const Scale inner = unit_sum<Scale>(chain_items(inside, coefficient_brackets(inside)));
        const int tokens = scaling(bracket.scale, false).tokens;
        items.push_back({inner.plain + tokens, inner.negative + tokens});
    }
    return items;
}

Speller::Scale Speller::sum_cost(std::span<const Entry> entries) const {
    return unit_sum<Scale>(chain_items(entries, coefficient_brackets(entries)));
}

// ---- products

// Tries root^n * rest for the coefficient of a product, the root inside of its factor with exponent n or -n.
void Speller::absorb(Absorption& best, const Entry& product, std::uint32_t which, const Rational& root,
                     const Rational& rest, bool into_sum) const {
    const Entry& factor = arena_.entries(product.term)[which];
    const TermNode& base = arena_[factor.term];
    const bool no_numerator = arena_[product.term].no_numerator;
    const int before = scaling(product.ratio.absolute(), no_numerator).tokens - scaling(rest, false).tokens;
    const Rational inside = factor.ratio.sign() > 0 ? root : reciprocal(root);
    if (before <= best.saved) return;
    if (into_sum && base.kind == Kind::sum && !all_units(arena_.entries(factor.term))) {
        const Scale scaled = sum_cost(divided(arena_.entries(factor.term), reciprocal(inside)));
        if (scaled.negative - scaled.plain != base.cost.negative - base.cost.plain) return;
        const int saved = before - (scaled.plain - base.cost.plain);
        if (saved > best.saved) best = {which, inside, true, rest, saved};
    }
    if (factor.ratio.is_integer() && !factor.ratio.absolute().is_one()) {
        const Scaling scale = scaling(inside, false);
        if (scale.kind == Scaling::Kind::chain && before - scale.tokens > best.saved)
            best = {which, inside, false, rest, before - scale.tokens};
    }
}

Speller::Absorption Speller::absorption(const Entry& entry) const {
    const TermNode& term = arena_[entry.term];
    const Rational k = entry.ratio.absolute();
    if (term.kind != Kind::product || entry.is_free() || k.is_one() || k.is_zero()) return {};
    // the same entries are asked for again and again, by costs, by brackets and in writing
    struct Slot {
        std::uint64_t generation = 0;
        TermId term = no_term;
        Rational ratio;
        Absorption value;
    };
    using Memo = std::array<Slot, 128>;
    thread_local const auto memo = std::make_unique<Memo>();
    Slot& slot =
        (*memo)[(entry.term * 31U + static_cast<std::uint32_t>(k.p) * 7U + static_cast<std::uint32_t>(k.q)) % 128U];
    if (slot.generation == arena_.generation() && slot.term == entry.term && slot.ratio == k) return slot.value;
    const Absorption found = find_absorption({entry.term, no_term, k});
    slot = {arena_.generation(), entry.term, k, found};
    return found;
}

Speller::Absorption Speller::find_absorption(const Entry& entry) const {
    const TermNode& term = arena_[entry.term];
    const Rational& k = entry.ratio;
    Absorption best;
    const bool is_long = k.is_small() && scaling(k, term.no_numerator).tokens > 1;
    const std::span<const Entry> factors = arena_.entries(entry.term);
    for (std::uint32_t i = 0; i < factors.size(); ++i) {
        if (factors[i].is_free()) continue;
        const Rational size = factors[i].ratio.absolute();
        const bool is_sum = arena_[factors[i].term].kind == Kind::sum;
        if (size.p == 1 && size.q > 1 && size.q <= 5 && is_sum)
            if (const auto power = integer_power(k, static_cast<int>(size.q))) absorb(best, entry, i, *power, 1, true);
        const int n = size.small();
        if (n < 1 || n > 25 || (n == 1 && !is_sum)) continue;
        if (const auto root = n == 1 ? std::optional(k) : exact_root(k, n)) absorb(best, entry, i, *root, 1, true);
        if (is_long) absorb_part(best, entry, i, n);
    }
    return best;
}

// Takes a small number out of the coefficient, such as makes one of a sum's coefficients 1.
void Speller::absorb_part(Absorption& best, const Entry& product, std::uint32_t which, int n) const {
    const Entry& factor = arena_.entries(product.term)[which];
    const Rational k = product.ratio.absolute();
    const auto attempt = [&](const Rational& root, bool into_sum) {
        const auto power = integer_power(root, n);
        if (power && power->is_small()) absorb(best, product, which, root, k / *power, into_sum);
    };
    if (n > 1)
        for (const int j : {2, 3, 4, 5}) {
            if (k.p > 1) attempt(Rational(j), false);
            if (k.q > 1) attempt(Rational::of(1, j), false);
        }
    if (arena_[factor.term].kind != Kind::sum) return;
    for (int j = 2; j <= 5; ++j) {
        const auto is_multiple = [j](const Entry& e) {
            if (e.is_free() || e.ratio.p == 0) return false;
            return e.ratio.is_small() ? static_cast<int>(e.ratio.p) % j == 0 : e.ratio.p % j == 0;
        };
        const std::span<const Entry> entries = arena_.entries(factor.term);
        if (std::any_of(entries.begin(), entries.end(), is_multiple))
            attempt(factor.ratio.sign() > 0 ? Rational::of(1, j) : Rational(j), true);
    }
}

// a^(2/5) * b^(1/5) is (a^2 * b)^(1/5): a group goes inside another where that saves tokens.
void Speller::nest(Scratch<Group>& groups) const {
    for (std::uint32_t g = 0; g < groups.size(); ++g) {
        const Rational& m = groups[g].exponent;
        const bool is_host =
            std::any_of(groups.begin(), groups.end(), [&](const Group& other) { return other.host == g; });
        if (m.is_one() || m.is_zero() || is_host) continue;
        int best = 0;
        for (std::uint32_t h = 0; h < groups.size(); ++h) {
            const Rational& outer = groups[h].exponent;
            if (h == g || outer.is_one() || outer.is_zero() || groups[h].host != no_group) continue;
            // inside an even root only what cannot be negative: a*sqrt(b) is not sqrt(a^2*b)
            if (!outer.odd_denominator() && (!merge_even_roots_ || m.odd_denominator())) continue;
            // x^6 inside a 12th power would be sqrt(x), which is not defined for x < 0
            if (m.odd_denominator() && !(m / outer).odd_denominator()) continue;
            const int saved = power_tokens(m) - power_tokens(m / outer);
            if (saved <= best) continue;
            best = saved;
            groups[g].host = h;
        }
    }
}

// Bases that share an exponent m: separate items for m = 1, else one item base-product^m.
void Speller::add_group(ProductPlan& plan, std::span<const Entry> entries, const Scratch<Group>& groups,
                        std::uint32_t which, const Rational& exponent) const {
    const Scratch<std::uint32_t>& members = groups[which].members;
    ProductPlan units;
    for (std::uint32_t g = 0; g < groups.size(); ++g)
        if (groups[g].host == which) add_group(units, entries, groups, g, groups[g].exponent / groups[which].exponent);
    Item absolutes;
    absolutes.merged_absolute = true;
    int n_absolutes = 0;
    for (const std::uint32_t i : members)
        n_absolutes += arena_[entries[i].term].kind == Kind::function && arena_[entries[i].term].op == Op::abs;
    const auto n_numbers = std::count_if(members.begin(), members.end(),
                                         [&](std::uint32_t i) { return arena_[entries[i].term].kind == Kind::number; });
    const bool scales = !exponent.is_one() && n_numbers > 0 &&
                        n_numbers < static_cast<std::ptrdiff_t>(members.size()) &&
                        (exponent.odd_denominator() || merge_even_roots_);
    Rational scale = 1;
    for (const std::uint32_t i : members) {
        const TermNode& base = arena_[entries[i].term];
        const bool below = entries[i].ratio.sign() < 0;
        if (scales && base.kind == Kind::number) {
            scale = below ? scale / base.value : scale * base.value;
            continue;
        }
        if (n_absolutes > 1 && base.kind == Kind::function && base.op == Op::abs) {
            const Cost& inner = arena_[base.argument].cost;
            absolutes.plain += std::min(inner.plain, inner.negative) + 1;
            (below ? absolutes.denominators : absolutes.numerators).push_back(i);
            continue;
        }
        Item unit;
        unit.denominator = below;
        unit.plain = base.cost.plain;
        unit.negative = base.cost.negative;
        (below ? unit.denominators : unit.numerators).push_back(i);
        units.append(std::move(unit));
    }
    if (n_absolutes > 1) {
        absolutes.denominator = absolutes.numerators.empty();
        units.append(std::move(absolutes));
    }
    if (exponent.is_one()) {
        for (Item& unit : units.items) plan.append(std::move(unit));
        return;
    }
    const int tokens = power_tokens(exponent);
    if (!exponent.odd_denominator() && !merge_even_roots_ && units.items.size() > 1) {
        for (Item& unit : units.items) {
            Item item;
            item.exponent = exponent;
            item.denominator = unit.denominator;
            item.plain = tokens + unit.plain;
            item.units.push_back(std::move(unit));
            plan.append(std::move(item));
        }
        return;
    }
    Item item;
    item.exponent = exponent;
    item.denominator = units.n_numerators == 0;
    item.scale = item.denominator ? reciprocal(scale) : scale;
    const int body = tokens + units.joints() + (item.scale.is_one() ? 0 : scaling(item.scale, false).tokens);
    if (exponent.even_numerator()) {
        item.plain = body + units.total;
    } else {
        item.plain = body + units.plain();
        if (exponent.odd_denominator()) item.negative = body + units.negative();
    }
    item.units = std::move(units.items);
    plan.append(std::move(item));
}

Speller::ProductPlan Speller::plan_product(std::span<const Entry> entries) const {
    ProductPlan plan;
    Scratch<Group> groups;
    Scratch<char> done(entries.size(), 0);
    for (std::uint32_t i = 0; i < entries.size(); ++i) {
        if (done[i]) continue;
        const Entry& entry = entries[i];
        if (entry.is_free()) {  // base ^ term
            const TermNode& base = arena_[entry.term];
            const Cost& power = arena_[entry.other].cost;
            const bool exponential = base.kind == Kind::symbol && base.op == Op::e;
            // c^(-u) is not 1/c^u: they differ in domain where c is 0, and so with any base that a constant makes 0
            const bool may_vanish =
                base.has_constant || base.has_absolute || (base.kind == Kind::number && base.value.is_zero());
            Item item;
            item.denominator = power.negative < power.plain && !may_vanish;
            item.plain = 1 + (exponential ? 0 : base.cost.plain) + (item.denominator ? power.negative : power.plain);
            (item.denominator ? item.denominators : item.numerators).push_back(i);
            plan.append(std::move(item));
            continue;
        }
        Group group{entry.ratio.absolute(), {}, no_group};
        for (std::uint32_t j = i; j < entries.size(); ++j)
            if (!done[j] && !entries[j].is_free() && entries[j].ratio.absolute() == group.exponent) {
                group.members.push_back(j);
                done[j] = 1;
            }
        groups.push_back(std::move(group));
    }
    nest(groups);
    for (std::uint32_t g = 0; g < groups.size(); ++g)
        if (groups[g].host == no_group) add_group(plan, entries, groups, g, groups[g].exponent);
    return plan;
}

// A sum whose entries are written one by one.
Speller::Scale Speller::unit_cost(std::span<const Entry> entries) const {
    int total = static_cast<int>(entries.size()) - 1;
    int plain_extra = impossible;
    int negative_extra = impossible;
    for (const Entry& entry : entries) {
        const Scale item = entry_cost(entry);
        const int least = std::min(item.plain, item.negative);
        total += least;
        plain_extra = std::min(plain_extra, item.plain - least);
        negative_extra = std::min(negative_extra, item.negative - least);
    }
    return {total + std::min(plain_extra, negative_extra + 1), total + std::min(negative_extra, plain_extra + 1)};
}

// Tokens of a factor of a simple product above or below the line, and of its negative.
Speller::Scale Speller::factor_cost(const Entry& factor) const {
    const Cost& base = arena_[factor.term].cost;
    if (factor.ratio.is_unit()) return {base.plain, base.negative};
    const Rational exponent = factor.ratio.absolute();
    const int tokens = power_tokens(exponent);
    if (exponent.even_numerator()) return {tokens + std::min(base.plain, base.negative), impossible};
    return {tokens + base.plain, exponent.odd_denominator() ? tokens + base.negative : impossible};
}

// Whether at most one factor has another exponent than 1 and -1: most products, and they need no plan.
bool Speller::is_simple(std::span<const Entry> factors) const {
    int n_absolutes = 0;
    int n_powers = 0;
    for (const Entry& factor : factors) {
        const TermNode& base = arena_[factor.term];
        n_absolutes += base.kind == Kind::function && base.op == Op::abs;
        n_powers += !factor.ratio.is_unit();
        if (factor.is_free() || n_absolutes > 1 || n_powers > 1) return false;
    }
    return true;
}

void Speller::set_simple_product_cost(TermNode& node, std::span<const Entry> factors) const {
    int total = static_cast<int>(factors.size()) - 1;
    int n_numerators = 0;
    int parity = 0;
    int turn = impossible;
    for (const Entry& factor : factors) {
        const Scale cost = factor_cost(factor);
        n_numerators += factor.ratio.sign() >= 0;
        total += std::min(cost.plain, cost.negative);
        parity ^= cost.negative < cost.plain;
        turn = std::min(turn, std::abs(cost.negative - cost.plain));
    }
    const int plain = total + (parity ? turn : 0);
    const int upright = n_numerators == 0;
    const bool all_above = n_numerators == static_cast<int>(factors.size());
    node.no_numerator = n_numerators == 0;
    node.cost = {plain + upright, std::min(total + (parity ? 0 : turn), plain + 1) + upright, plain + all_above};
}

// Whether the product is a power whose reciprocal has the negative exponent.
bool Speller::turns_exponent(std::span<const Entry> entries) const {
    if (entries.size() != 1 || !entries[0].is_free()) return false;
    const TermNode& base = arena_[entries[0].term];
    return !base.has_constant && !base.has_absolute && !(base.kind == Kind::number && base.value.is_zero());
}

void Speller::set_cost(TermNode& node, std::span<const Entry> entries) const {
    Cost& cost = node.cost;
    switch (node.kind) {
        case Kind::number:
            cost.plain = cost.negative = number_tokens(node.value);
            cost.inverse = node.value.is_zero() ? 2 : std::min(1 + cost.plain, number_tokens(reciprocal(node.value)));
            break;
        case Kind::constant:
            cost = {1, 1, 2};
            break;
        case Kind::symbol:
            cost = {1, node.op == Op::inf || node.op == Op::neg_inf || node.op == Op::nan ? 1 : 2, 2};
            break;
        case Kind::sum: {
            const Scale scale = entries.size() == 1 ? entry_cost(entries[0])
                                                    : (is_plain_sum(entries) ? unit_cost(entries) : sum_cost(entries));
            cost = {scale.plain, std::min(scale.negative, scale.plain + 1), scale.plain + 1};
            cost.plain = std::min(cost.plain, cost.negative + 1);
            break;
        }
        case Kind::product: {
            if (is_simple(entries)) {
                set_simple_product_cost(node, entries);
                break;
            }
            const ProductPlan plan = plan_product(entries);
            const int upright = plan.joints() + (plan.n_numerators == 0);
            cost = {plan.plain() + upright, plan.negative() + upright,
                    plan.plain() + plan.joints() + (plan.n_denominators == 0)};
            node.no_numerator = plan.n_numerators == 0;
            if (turns_exponent(entries)) {  // 1/u^v as u^(-v)
                const bool exponential = arena_[entries[0].term].op == Op::e;
                const int base = exponential ? 0 : arena_[entries[0].term].cost.plain;
                cost.inverse = std::min(cost.inverse, 1 + base + arena_[entries[0].other].cost.negative);
            }
            break;
        }
        case Kind::function: {
            const Cost& inner = arena_[node.argument].cost;
            if (info(node.op).parity == Parity::odd) {
                cost.plain = 1 + std::min(inner.plain, 1 + inner.negative);
                cost.negative = std::min(1 + inner.negative, 1 + cost.plain);
            } else {
                const bool even = info(node.op).parity == Parity::even;
                cost.plain = 1 + (even ? std::min(inner.plain, inner.negative) : inner.plain);
                cost.negative = 1 + (node.op == Op::log ? std::min(inner.inverse, cost.plain) : cost.plain);
            }
            cost.inverse = 1 + cost.plain;
            break;
        }
        default:
            cost = {1, 2, 2};
            break;
    }
}

}  // namespace simplipy
