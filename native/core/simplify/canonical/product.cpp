// Products: like powers collected, constants absorbed, rules applied.

#include <algorithm>

#include "canonical.hpp"
#include "core/simplify/spell/plan.hpp"

namespace simplipy {

TermId Canonicalizer::make_product(const Scratch<Entry>& factors) {
    if (factors.empty()) return one_term;
    if (factors.size() == 1 && !factors[0].is_free() && factors[0].ratio.is_one()) return factors[0].term;
    TermNode node;
    node.kind = Kind::product;
    if (factors.size() == 1) return intern(node, factors);
    Scratch<Entry> sorted = factors;
    arena_.sort(sorted);
    arena_.settle_ties(sorted);
    return intern(node, sorted);
}

// (x^(1/2))^3 as x^(1/2) * x^(2/2), so that it meets other powers of x; merging keeps it apart from x^(3/2).
void Canonicalizer::part_roots(Scratch<Entry>& list) const {
    const std::size_t n = list.size();
    for (std::size_t i = 0; i < n; ++i) {
        const TermNode& root = arena_[list[i].term];
        if (list[i].is_free() || !list[i].ratio.is_integer() || list[i].ratio.is_zero() || root.kind != Kind::product ||
            root.n_entries != 1)
            continue;
        const Entry inner = arena_.entries(list[i].term)[0];
        if (inner.is_free() || inner.ratio.odd_denominator()) continue;
        const Rational times = list[i].ratio;
        list[i] = inner;
        list.push_back({inner.term, no_term, inner.ratio * (times - Rational(1))});
    }
}

// Whether these are x^y and x or 1/x, or e^y and a power of e, which stay apart.
bool Canonicalizer::is_split_power(const Entry& a, const Entry& b) const {
    const Entry& power = a.is_free() ? a : b;
    const Rational& plain = a.is_free() ? b.ratio : a.ratio;
    const TermNode& base = arena_[a.term];
    const TermNode& exponent = arena_[power.other];
    const bool has_number = exponent.kind == Kind::number ||
                            (exponent.kind == Kind::sum && arena_.entries(power.other)[0].term == one_term);
    const bool is_exponential = base.kind == Kind::symbol && base.op == Op::e;
    const bool splits = base.kind == Kind::variable ? plain.absolute().is_one()
                                                    : is_exponential && plain.is_integer() && !plain.is_zero();
    return splits && !has_number && exponent.kind != Kind::constant;
}

// Sorts and adds up exponents of equal bases. True when a merged power must be multiplied in anew.
bool Canonicalizer::merge_factors(Parts& parts) {
    Scratch<Entry>& list = parts.factors;
    if (!options_.extend) part_roots(list);
    arena_.sort(list);
    const auto merges = [&](std::size_t i) {
        return (!list[i].is_free() && list[i].ratio.is_zero()) || (i > 0 && list[i].term == list[i - 1].term);
    };
    std::size_t n_kept = 0;
    while (n_kept < list.size() && !merges(n_kept)) ++n_kept;
    if (n_kept == list.size()) return false;
    Scratch<Entry> merged;
    Scratch<Entry> again;
    merged.reserve(list.size());
    for (std::size_t i = 0; i < list.size();) {
        std::size_t end = i + 1;
        while (end < list.size() && list[end].term == list[i].term) ++end;
        if (end - i == 1 && (list[i].is_free() || !list[i].ratio.is_zero())) {
            merged.push_back(list[i]);
            i = end;
            continue;
        }
        note("like powers");
        const TermNode& base = arena_[list[i].term];
        if (is_infinite(list[i].term)) {  // inf/inf is not 1
            merged.push_back({symbol(Op::nan), no_term, 1});
            i = end;
            continue;
        }
        Scratch<Entry> exponents;
        Scratch<Rational> ratios;
        bool rational = true;
        bool restricted = false;
        bool odd_root = false;
        bool divides = false;
        for (std::size_t k = i; k < end; ++k) {
            divides |= list[k].is_free() || list[k].ratio.sign() < 0;
            odd_root |= !list[k].is_free() && !list[k].ratio.is_integer() && list[k].ratio.odd_denominator();
            rational &= !list[k].is_free();
            restricted |= !list[k].is_free() && !list[k].ratio.odd_denominator();
            ratios.push_back(list[k].ratio);
            if (list[k].is_free()) {
                add(exponents, list[k].other, Rational(1));
            } else {
                exponents.push_back({one_term, no_term, list[k].ratio});
            }
        }
        const Rational total = exact_sum(std::move(ratios));
        const TermId term = list[i].term;
        const auto keep_apart = [&] {
            for (std::size_t k = i; k < end; ++k) merged.push_back(list[k]);
        };
        // (x + |x|)/(x + |x|) is undefined for all x <= 0
        const bool is_thick = !options_.extend && divides && total.sign() >= 0 && may_vanish(term);
        if (is_thick) {
            keep_apart();
        } else if (rational) {
            const bool widens = restricted && total.odd_denominator() && !(base.low >= 0.0);
            if (!options_.extend && widens && !total.is_zero()) {  // sqrt(x) * sqrt(x) is sqrt(x)^2, not x
                Int128 degree = 1;
                for (std::size_t k = i; k < end; ++k) degree = degree / gcd(degree, list[k].ratio.q) * list[k].ratio.q;
                const TermId root = make_product({{term, no_term, Rational::reduced(1, degree)}});
                merged.push_back({root, no_term, total * Rational::reduced(degree, 1)});
            } else if (!options_.extend && (widens || (total.is_zero() && base.partial))) {
                keep_apart();
            } else if (!total.is_zero()) {
                const bool is_atom = base.kind != Kind::number && base.kind != Kind::product &&
                                     !(base.kind == Kind::sum && base.n_entries == 1) && base.kind != Kind::function;
                (is_atom ? merged : again).push_back({term, no_term, total});
            }
        } else {
            const auto n_constants = std::count_if(list.begin() + static_cast<std::ptrdiff_t>(i),
                                                   list.begin() + static_cast<std::ptrdiff_t>(end),
                                                   [this](const Entry& e) { return arena_[e.other].has_constant; });
            const TermId exponent = close_sum(std::move(exponents));
            // x^c * cbrt(x) is defined for x < 0 and integers c, x^(c + 1/3) is not
            const bool narrows = !(base.low >= 0.0) && odd_root;
            // x^(1/3) * x^(2/3) and x^y / x^y need x >= 0, x and 1 do not; x^y * x needs what x^(y + 1) does
            const auto is_whole = [](const Entry& e) { return !e.is_free() && e.ratio.is_integer(); };
            const auto n_partial = static_cast<std::ptrdiff_t>(end - i) -
                                   std::count_if(list.begin() + static_cast<std::ptrdiff_t>(i),
                                                 list.begin() + static_cast<std::ptrdiff_t>(end), is_whole);
            const bool widens = !(base.low >= 0.0) && (arena_[exponent].kind == Kind::number || n_constants > 1 ||
                                                       (n_partial > 1 && may_hold_integer(exponent)));
            if (narrows || (widens && !options_.extend)) {
                keep_apart();
            } else if (end - i == 2 && list[i].is_free() != list[i + 1].is_free() &&
                       is_split_power(list[i], list[i + 1])) {
                merged.push_back(list[i]);
                merged.push_back(list[i + 1]);
            } else {
                again.push_back({term, exponent, 0});
            }
        }
        i = end;
    }
    list = std::move(merged);
    const std::size_t n_before = list.size();
    for (const Entry& entry : again) {
        if (entry.is_free()) {
            multiply_symbolic(parts, entry.term, entry.other);
        } else {
            multiply(parts, entry.term, entry.ratio);
        }
    }
    return parts.factors.size() > n_before;
}

void Canonicalizer::merge_all_factors(Parts& parts) {
    constexpr int max_rounds = 8;  // a few kinds of symbolic powers turn into each other for ever
    for (int round = 0; round < max_rounds && merge_factors(parts); ++round) continue;
    gather_numbers(parts);
}

// One coefficient. A free constant takes in the numbers that do not fit together.
void Canonicalizer::gather_numbers(Parts& parts) {
    if (parts.constant != no_term && !parts.coefficient.is_whole() && !parts.coefficient.value().is_zero()) {
        if (options_.track) {
            std::vector<Node> definition = definition_of(parts.constant);
            for (const Rational& number : parts.coefficient.waiting()) multiply_definition(definition, number);
            parts.constant = new_constant(std::move(definition));
        }
        parts.coefficient = parts.coefficient.value();
    }
    parts.coefficient.gather();
}

bool Canonicalizer::absorb_ground(Parts& parts) {
    if (parts.constant == no_term) return false;
    if (std::any_of(parts.factors.begin(), parts.factors.end(), [this](const Entry& e) { return is_infinite(e.term); }))
        return false;
    const auto ground = [this](const Entry& entry) {
        return is_ground(entry.term) && (!entry.is_free() || is_ground(entry.other));
    };
    Scratch<Entry> absorbed;
    for (const Entry& entry : parts.factors)
        if (ground(entry)) absorbed.push_back(entry);
    if (absorbed.empty() && parts.coefficient.value().is_one()) return false;
    if (parts.coefficient.value().is_zero()) return false;
    note("constants absorbed in a product");
    if (options_.track) {
        std::vector<Node> definition = definition_of(parts.constant);
        for (const Entry& factor : absorbed) multiply_definition_by(definition, factor);
        multiply_definition(definition, parts.coefficient.value());
        parts.constant = new_constant(std::move(definition));
    }
    parts.coefficient = Rational(1);
    erase_if(parts.factors, ground);
    return true;
}

// k * sqrt(c*u) is sqrt(d*u) for k > 0, k/(c*u + d*v) is 1/(c*u + d*v): free coefficients take a number in.
bool Canonicalizer::absorb_in_root(Parts& parts) {
    if (parts.coefficient.value().absolute().is_one() || parts.coefficient.value().is_zero() ||
        parts.constant != no_term)
        return false;
    for (Entry& factor : parts.factors) {
        const Rational degree = factor.is_free() || factor.ratio.is_zero() ? Rational(0) : reciprocal(factor.ratio);
        const bool is_root = degree.is_integer() && (degree.even_numerator() || degree.absolute().is_one());
        if (!is_root || degree.is_zero() || arena_[factor.term].kind != Kind::sum) continue;
        const std::span<const Entry> entries = arena_.entries(factor.term);
        if (!std::all_of(entries.begin(), entries.end(), [](const Entry& e) { return e.is_free(); })) continue;
        const bool takes_sign = degree.absolute().is_one();
        const auto power = integer_power(takes_sign ? parts.coefficient.value() : parts.coefficient.value().absolute(),
                                         degree.small());
        if (!power) continue;
        note("number absorbed by free coefficients");
        factor.term = scaled(factor.term, *power);
        parts.coefficient = takes_sign ? Rational(1) : Rational(parts.coefficient.value().sign());
        return true;
    }
    return false;
}

// |a|^3 * |b| is |a^3 * b|; bars with the same exponent are merged in writing.
bool Canonicalizer::merge_absolutes(Parts& parts) {
    const auto has_bars = [this](const Entry& factor) {
        const TermNode& base = arena_[factor.term];
        return !factor.is_free() && factor.ratio.odd_denominator() && base.kind == Kind::function && base.op == Op::abs;
    };
    const auto first = std::find_if(parts.factors.begin(), parts.factors.end(), has_bars);
    if (first == parts.factors.end()) return false;
    const Rational exponent = first->ratio.absolute();
    if (std::none_of(first, parts.factors.end(),
                     [&](const Entry& e) { return has_bars(e) && !(e.ratio.absolute() == exponent); }))
        return false;
    regrets_ = true;
    if (!options_.keep) return false;
    Scratch<Entry> inside;
    for (const Entry& factor : parts.factors)
        if (has_bars(factor)) inside.push_back({arena_[factor.term].argument, no_term, factor.ratio});
    erase_if(parts.factors, has_bars);
    parts.factors.push_back({make_function(Op::abs, make_product(inside)), no_term, 1});
    return true;
}

namespace {

bool is_power(const Parts& parts) {
    return parts.factors.size() > 1 || parts.factors[0].is_free() || !parts.factors[0].ratio.is_one();
}

}  // namespace

// Whether this is the product of the factors, alone or times a number or constant.
bool Canonicalizer::is_made_of(TermId whole, const Parts& parts) const {
    const TermNode& node = arena_[whole];
    if (node.kind == Kind::product) return true;
    if (node.kind != Kind::sum || node.n_entries != 1) return false;
    const TermId product = arena_.entries(whole)[0].term;
    return is_power(parts) ? arena_[product].kind == Kind::product : product == parts.factors[0].term;
}

// The term of merged factors where there is one, else no_term.
TermId Canonicalizer::find_product(const Parts& parts) const {
    const bool is_multiple = !parts.coefficient.value().is_one() || parts.constant != no_term;
    if (!is_multiple && !is_power(parts)) return no_term;
    TermNode node;
    node.kind = Kind::product;
    const TermId product = is_power(parts) ? arena_.find(node, parts.factors) : parts.factors[0].term;
    if (product == no_term || !is_multiple) return product;
    node.kind = Kind::sum;
    const Entry entry{product, parts.constant, parts.coefficient.value()};
    return arena_.find(node, {&entry, 1});
}

// The sign of an infinity, where the signs of all other factors are known. What is defined nowhere may become anything:
// nan where they are not.
TermId Canonicalizer::infinite_product(const Parts& parts) {
    int sign = parts.coefficient.value().sign();
    if (!options_.extend || sign == 0 || parts.constant != no_term) return symbol(Op::nan);
    for (const Entry& entry : parts.factors) {
        const TermNode& base = arena_[entry.term];
        const bool endless = base.kind == Kind::symbol && (base.op == Op::inf || base.op == Op::neg_inf);
        const bool positive = base.op == Op::inf || (!endless && base.low > 0.0);
        const bool negative = base.op == Op::neg_inf || (!endless && base.high < 0.0);
        if (entry.is_free()) {
            const bool grows = entry.ratio.sign() >= 0 && arena_[entry.other].low > 0.0;
            if (!positive || (endless && !grows)) return symbol(Op::nan);
        } else if (!positive && !(negative && entry.ratio.odd_denominator())) {
            return symbol(Op::nan);
        } else if (negative && !entry.ratio.even_numerator()) {
            sign = -sign;
        }
    }
    return symbol(sign > 0 ? Op::inf : Op::neg_inf);
}

TermId Canonicalizer::close_product(Parts parts) {
    merge_all_factors(parts);
    const bool is_plain = parts.content.is_whole() && parts.content.value().is_one() && parts.content_tokens == 0 &&
                          !parts.factors.empty();
    if (is_plain && may_recall())
        if (const TermId known = recalled(find_product(parts)); known != no_term) return known;
    const OwnRegrets own(regrets_);
    bool changed = absorb_ground(parts);
    changed |= absorb_in_root(parts);
    while (apply_product_rules(parts) || (parts.factors.size() > 1 && cancel_polynomials(parts))) changed = true;
    if (changed) absorb_ground(parts);  // numbers that rules brought
    bool infinite = false;
    int n_bars = 0;
    for (const Entry& entry : parts.factors) {
        const TermNode& base = arena_[entry.term];
        n_bars += base.kind == Kind::function && base.op == Op::abs;
        if (base.kind != Kind::symbol) continue;
        if (base.op == Op::nan) return symbol(Op::nan);
        infinite |= base.op == Op::inf || base.op == Op::neg_inf;
    }
    if (n_bars > 1) changed |= merge_absolutes(parts);
    if (infinite) return infinite_product(parts);
    if (parts.coefficient.value().is_zero()) {
        const TermId rest = make_product(parts.factors);
        if (options_.extend || !arena_[rest].partial) return zero_term;
        return make_sum({{rest, no_term, 0}});
    }
    const TermId product = make_product(parts.factors);
    const TermId whole = with_coefficient(parts, product);
    regrets_ |= is_shorter_with_content(parts, product, whole);
    if (is_plain && !changed && !regrets_ && is_made_of(whole, parts)) settle(whole);
    return whole;
}

// Whether sums would be shorter with the numbers that were taken out of them.
bool Canonicalizer::is_shorter_with_content(const Parts& parts, TermId product, TermId whole) const {
    if (parts.content.is_whole() && parts.content.value().is_one() && parts.content_tokens == 0) return false;
    if (parts.constant != no_term) return parts.content_tokens < 0;
    ExactProduct outside = parts.content.inverse();
    outside.multiply(parts.coefficient.value().absolute());
    if (!attempt([&] { return outside.gather(), true; })) return true;  // the other form has fewer digits
    const Rational& rest = outside.value();
    const int kept = arena_[product].cost.plain + parts.content_tokens + scaling(rest, false).tokens;
    return kept < arena_[whole].cost.plain + !rest.is_one();
}

TermId Canonicalizer::with_coefficient(const Parts& parts, TermId term) {
    const TermNode& node = arena_[term];
    if (parts.constant != no_term) {
        if (term == one_term) return parts.constant;
        if (node.kind == Kind::sum) return free_times_sum(parts.constant, term);
        return make_sum({{term, parts.constant, 1}});
    }
    if (node.kind == Kind::sum || node.kind == Kind::number) return scaled(term, parts.coefficient.value());
    if (parts.coefficient.value().is_one()) return term;
    return make_sum({{term, no_term, parts.coefficient.value()}});
}

// c * (sum): a sum whose coefficients are all free takes c in; a free addend comes out of the bracket.
TermId Canonicalizer::free_times_sum(TermId constant, TermId sum) {
    const Scratch<Entry> entries(arena_.entries(sum).begin(), arena_.entries(sum).end());
    const auto n_free = std::count_if(entries.begin(), entries.end(), [](const Entry& e) { return e.is_free(); });
    const auto times = [&](const Entry& entry) {
        std::vector<Node> definition = definition_of(entry.is_free() ? entry.other : number(entry.ratio));
        const std::vector<Node> factor = definition_of(constant);
        definition.insert(definition.end(), factor.begin(), factor.end());
        if (options_.track) definition.push_back(Node::of(Op::mul));
        return new_constant(std::move(definition));
    };
    if (static_cast<std::size_t>(n_free) + 1 >= entries.size() &&
        !(options_.keep && entries[0].term != one_term)) {  // at most one rational entry: every term gets its own
        Scratch<Entry> list;
        for (const Entry& entry : entries) list.push_back({entry.term, times(entry), 1});
        return make_sum(list);
    }
    if (entries[0].term == one_term && entries[0].is_free()) {
        const Scratch<Entry> rest(entries.begin() + 1, entries.end());
        const TermId inner = make_sum(rest);
        Scratch<Entry> list = {{one_term, times(entries[0]), 1}, {inner, constant, 1}};
        return close_sum(std::move(list));
    }
    return make_sum({{sum, constant, 1}});
}

}  // namespace simplipy
