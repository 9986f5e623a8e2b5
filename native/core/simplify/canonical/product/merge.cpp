#include "merge.hpp"

#include <algorithm>

#include "core/simplify/canonical/sum/sum.hpp"
#include "core/simplify/canonical/terms/analysis.hpp"
#include "power.hpp"
#include "product.hpp"
#include "symbolic.hpp"

namespace simplipy::canonical {
namespace {

// (x^(1/2))^3 as x^(1/2) * x^(2/2), so that it meets other powers of x; merging keeps it apart from x^(3/2).
void part_roots(const Context& c, Scratch<Entry>& list) {
    const std::size_t n = list.size();
    for (std::size_t i = 0; i < n; ++i) {
        const TermNode& root = c.terms[list[i].term];
        if (list[i].is_free() || !list[i].ratio.is_integer() || list[i].ratio.is_zero() || root.kind != Kind::product ||
            root.n_entries != 1)
            continue;
        const Entry inner = c.terms.entries(list[i].term)[0];
        if (inner.is_free() || inner.ratio.odd_denominator()) continue;
        const Rational times = list[i].ratio;
        list[i] = inner;
        list.push_back({inner.term, no_term, inner.ratio * (times - Rational(1))});
    }
}

// Whether these are x^y and x or 1/x, or e^y and a power of e, which stay apart.
bool is_split_power(const Context& c, std::span<const Entry> powers) {
    if (powers.size() != 2 || powers[0].is_free() == powers[1].is_free()) return false;
    const Entry& power = powers[0].is_free() ? powers[0] : powers[1];
    const Rational& plain = powers[0].is_free() ? powers[1].ratio : powers[0].ratio;
    const TermNode& base = c.terms[power.term];
    const TermNode& exponent = c.terms[power.other];
    const bool has_number = exponent.kind == Kind::number ||
                            (exponent.kind == Kind::sum && c.terms.entries(power.other)[0].term == one_term);
    const bool splits = base.kind == Kind::variable ? plain.absolute().is_one()
                                                    : is_euler(base) && plain.is_integer() && !plain.is_zero();
    return splits && !has_number && exponent.kind != Kind::constant;
}

// Merges the powers of one base into `merged`, or into `again` what has to be multiplied in anew.
struct PowerMerge {
    Context& c;
    Scratch<Entry> merged;
    Scratch<Entry> again;

    void merge(std::span<const Entry> powers) {
        c.note("like powers");
        const TermId term = powers[0].term;
        if (c.terms.is_infinite(term)) {  // inf/inf is not 1
            merged.push_back({c.terms.symbol(Op::nan), no_term, 1});
            return;
        }
        bool rational = true;
        bool divides = false;
        Scratch<Rational> ratios;
        for (const Entry& power : powers) {
            divides |= power.is_free() || power.ratio.sign() < 0;
            rational &= !power.is_free();
            ratios.push_back(power.ratio);
        }
        const Rational total = exact_sum(std::move(ratios));
        // (x + |x|)/(x + |x|) is undefined for all x <= 0
        if (!c.options.extend && divides && total.sign() >= 0 && may_vanish(c.terms.arena(), term)) {
            keep_apart(powers);
        } else if (rational) {
            merge_rational(powers, total);
        } else {
            merge_symbolic(powers);
        }
    }

  private:
    void keep_apart(std::span<const Entry> powers) {
        for (const Entry& power : powers) merged.push_back(power);
    }

    void merge_rational(std::span<const Entry> powers, const Rational& total) {
        const TermId term = powers[0].term;
        const TermNode& base = c.terms[term];
        const bool restricted =
            std::any_of(powers.begin(), powers.end(), [](const Entry& e) { return !e.ratio.odd_denominator(); });
        const bool widens = restricted && total.odd_denominator() && !(base.low >= 0.0);
        if (!c.options.extend && widens && !total.is_zero()) {  // sqrt(x) * sqrt(x) is sqrt(x)^2, not x
            Int128 degree = 1;
            for (const Entry& power : powers) degree = degree / gcd(degree, power.ratio.q) * power.ratio.q;
            const TermId root = c.terms.product({{term, no_term, Rational::reduced(1, degree)}});
            merged.push_back({root, no_term, total * Rational::reduced(degree, 1)});
        } else if (!c.options.extend && (widens || (total.is_zero() && base.partial))) {
            keep_apart(powers);
        } else if (!total.is_zero()) {
            const bool is_atom = base.kind != Kind::number && base.kind != Kind::product && !base.is_multiple() &&
                                 base.kind != Kind::function;
            (is_atom ? merged : again).push_back({term, no_term, total});
        }
    }

    void merge_symbolic(std::span<const Entry> powers) {
        Scratch<Entry> exponents;
        bool odd_root = false;
        int n_constants = 0;
        int n_partial = 0;
        for (const Entry& power : powers) {
            const bool is_whole = !power.is_free() && power.ratio.is_integer();
            odd_root |= !power.is_free() && !is_whole && power.ratio.odd_denominator();
            n_constants += c.terms[power.other].has_constant;
            n_partial += !is_whole;
            if (power.is_free()) {
                add(c, exponents, power.other, Rational(1));
            } else {
                exponents.push_back({one_term, no_term, power.ratio});
            }
        }
        const TermId term = powers[0].term;
        const TermId exponent = close_sum(c, std::move(exponents));
        const bool nonnegative = c.terms.is_nonnegative(term);
        // x^c * cbrt(x) is defined for x < 0 and integers c, x^(c + 1/3) is not
        const bool narrows = !nonnegative && odd_root;
        // x^(1/3) * x^(2/3) and x^y / x^y need x >= 0, x and 1 do not; x^y * x needs what x^(y + 1) does
        const bool widens = !nonnegative && (c.terms[exponent].kind == Kind::number || n_constants > 1 ||
                                             (n_partial > 1 && may_hold_integer(c.terms.arena(), exponent)));
        if (narrows || (widens && !c.options.extend) || is_split_power(c, powers)) {
            keep_apart(powers);
        } else {
            again.push_back({term, exponent, 0});
        }
    }
};

// Sorts and adds up exponents of equal bases. True when a merged power must be multiplied in anew.
bool merge_factors(Context& c, Parts& parts) {
    Scratch<Entry>& list = parts.factors;
    if (!c.options.extend) part_roots(c, list);
    c.terms.arena().sort(list);
    const auto is_trivial = [&](std::size_t i) { return !list[i].is_free() && list[i].ratio.is_zero(); };
    const auto merges = [&](std::size_t i) { return list[i].term == list[i - 1].term; };
    std::size_t n_kept = 0;
    while (n_kept < list.size() && !is_trivial(n_kept) && !(n_kept > 0 && merges(n_kept))) ++n_kept;
    if (n_kept == list.size()) return false;
    PowerMerge powers{c, {}, {}};
    powers.merged.reserve(list.size());
    for (std::size_t i = 0; i < list.size();) {
        std::size_t end = i + 1;
        while (end < list.size() && merges(end)) ++end;
        if (end - i == 1 && !is_trivial(i)) {
            powers.merged.push_back(list[i]);
        } else {
            powers.merge({list.data() + i, end - i});
        }
        i = end;
    }
    list = std::move(powers.merged);
    const std::size_t n_before = list.size();
    for (const Entry& entry : powers.again) {
        if (entry.is_free()) {
            multiply_symbolic(c, parts, entry.term, entry.other);
        } else {
            multiply(c, parts, entry.term, entry.ratio);
        }
    }
    return parts.factors.size() > n_before;
}

}  // namespace

void merge_all_factors(Context& c, Parts& parts) {
    constexpr int max_rounds = 8;  // a few kinds of symbolic powers turn into each other for ever
    for (int round = 0; round < max_rounds && merge_factors(c, parts); ++round) continue;
    gather_numbers(c, parts);
}

}  // namespace simplipy::canonical
