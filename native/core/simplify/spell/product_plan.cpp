#include "product_plan.hpp"

namespace simplipy::spelling {
namespace {

constexpr std::uint32_t no_group = 0xffffffffU;

// Entries of a product with the same |exponent|, and the group that they are written inside of.
struct Group {
    Rational exponent;
    Scratch<std::uint32_t> members;
    std::uint32_t host = no_group;
};

// Plans one product.
class Planner {
  public:
    Planner(const Speller& speller, std::span<const Entry> entries) : speller_(speller), entries_(entries) {}

    ProductPlan plan() {
        ProductPlan plan;
        Scratch<char> done(entries_.size(), 0);
        for (std::uint32_t i = 0; i < entries_.size(); ++i) {
            if (done[i]) continue;
            if (entries_[i].is_free()) {
                plan.append(symbolic_power(i));
                continue;
            }
            Group group{entries_[i].ratio.absolute(), {}, no_group};
            for (std::uint32_t j = i; j < entries_.size(); ++j)
                if (!done[j] && !entries_[j].is_free() && entries_[j].ratio.absolute() == group.exponent) {
                    group.members.push_back(j);
                    done[j] = 1;
                }
            groups_.push_back(std::move(group));
        }
        nest();
        for (std::uint32_t g = 0; g < groups_.size(); ++g)
            if (groups_[g].host == no_group) add_group(plan, g, groups_[g].exponent);
        return plan;
    }

  private:
    const TermNode& base(std::uint32_t entry) const { return speller_[entries_[entry].term]; }
    bool is_below(std::uint32_t entry) const { return entries_[entry].ratio.sign() < 0; }

    // base ^ term
    Item symbolic_power(std::uint32_t i) const {
        const Cost& power = speller_[entries_[i].other].cost;
        // c^(-u) is not 1/c^u: they differ in domain where c is 0, and so with any base that a constant makes 0
        const bool may_vanish =
            base(i).has_constant || base(i).has_absolute || (base(i).kind == Kind::number && base(i).value.is_zero());
        Item item;
        item.denominator = power.negative < power.plain && !may_vanish;
        item.plain =
            1 + (base(i).is_symbol(Op::e) ? 0 : base(i).cost.plain) + (item.denominator ? power.negative : power.plain);
        item.side(item.denominator).push_back(i);
        return item;
    }

    // a^(2/5) * b^(1/5) is (a^2 * b)^(1/5): a group goes inside another where that saves tokens.
    void nest() {
        for (std::uint32_t g = 0; g < groups_.size(); ++g) {
            const Rational& m = groups_[g].exponent;
            const bool is_host =
                std::any_of(groups_.begin(), groups_.end(), [&](const Group& other) { return other.host == g; });
            if (m.is_one() || m.is_zero() || is_host) continue;
            int best = 0;
            for (std::uint32_t h = 0; h < groups_.size(); ++h) {
                const Rational& outer = groups_[h].exponent;
                if (h == g || outer.is_one() || outer.is_zero() || groups_[h].host != no_group) continue;
                // inside an even root only what cannot be negative: a*sqrt(b) is not sqrt(a^2*b)
                if (!outer.odd_denominator() && (!speller_.merges_even_roots() || m.odd_denominator())) continue;
                // x^6 inside a 12th power would be sqrt(x), which is not defined for x < 0
                if (m.odd_denominator() && !(m / outer).odd_denominator()) continue;
                const int saved = power_tokens(m) - power_tokens(m / outer);
                if (saved <= best) continue;
                best = saved;
                groups_[g].host = h;
            }
        }
    }

    // Bases that share an exponent m: separate items for m = 1, else one item base-product^m.
    void add_group(ProductPlan& plan, std::uint32_t which, const Rational& exponent) const {
        ProductPlan units;
        for (std::uint32_t g = 0; g < groups_.size(); ++g)
            if (groups_[g].host == which) add_group(units, g, groups_[g].exponent / groups_[which].exponent);
        const Rational scale = add_bases(units, groups_[which].members, exponent);
        if (exponent.is_one()) {
            for (Item& unit : units.items) plan.append(std::move(unit));
        } else if (!exponent.odd_denominator() && !speller_.merges_even_roots() && units.items.size() > 1) {
            for (Item& unit : units.items) plan.append(root_of(std::move(unit), exponent));
        } else {
            plan.append(power_of(std::move(units), exponent, scale));
        }
    }

    // Appends the bases, those in bars as one item; returns the number that multiplies them.
    Rational add_bases(ProductPlan& units, const Scratch<std::uint32_t>& members, const Rational& exponent) const {
        const auto has_bars = [this](std::uint32_t i) { return base(i).is_function(Op::abs); };
        const auto is_number = [this](std::uint32_t i) { return base(i).kind == Kind::number; };
        const bool merges_bars = std::count_if(members.begin(), members.end(), has_bars) > 1;
        const bool scales = !exponent.is_one() && (exponent.odd_denominator() || speller_.merges_even_roots()) &&
                            !std::all_of(members.begin(), members.end(), is_number);
        Item bars;
        bars.merged_absolute = true;
        Rational scale = 1;
        for (const std::uint32_t i : members) {
            if (scales && is_number(i)) {
                scale = is_below(i) ? scale / base(i).value : scale * base(i).value;
            } else if (merges_bars && has_bars(i)) {
                bars.plain += Scale::of(speller_[base(i).argument].cost).least() + 1;
                bars.side(is_below(i)).push_back(i);
            } else {
                Item unit;
                unit.denominator = is_below(i);
                unit.plain = base(i).cost.plain;
                unit.negative = base(i).cost.negative;
                unit.side(unit.denominator).push_back(i);
                units.append(std::move(unit));
            }
        }
        if (merges_bars) {
            bars.denominator = bars.numerators.empty();
            units.append(std::move(bars));
        }
        return scale;
    }

    static Item root_of(Item unit, const Rational& exponent) {
        Item item;
        item.exponent = exponent;
        item.denominator = unit.denominator;
        item.plain = power_tokens(exponent) + unit.plain;
        item.units.push_back(std::move(unit));
        return item;
    }

    static Item power_of(ProductPlan units, const Rational& exponent, const Rational& scale) {
        Item item;
        item.exponent = exponent;
        item.denominator = units.n_numerators == 0;
        item.scale = item.denominator ? reciprocal(scale) : scale;
        const int body =
            power_tokens(exponent) + units.joints() + (item.scale.is_one() ? 0 : scaling(item.scale, false).tokens);
        if (exponent.even_numerator()) {
            item.plain = body + units.total;
        } else {
            item.plain = body + units.plain();
            if (exponent.odd_denominator()) item.negative = body + units.negative();
        }
        item.units = std::move(units.items);
        return item;
    }

    const Speller& speller_;
    std::span<const Entry> entries_;
    Scratch<Group> groups_;
};

void set_simple_product_cost(const Speller& speller, TermNode& node, std::span<const Entry> factors) {
    int total = static_cast<int>(factors.size()) - 1;
    int n_numerators = 0;
    int parity = 0;
    int turn = impossible;
    for (const Entry& factor : factors) {
        const Scale cost = factor_cost(speller, factor);
        n_numerators += factor.ratio.sign() >= 0;
        total += cost.least();
        parity ^= cost.negative < cost.plain;
        turn = std::min(turn, std::abs(cost.negative - cost.plain));
    }
    const int plain = total + (parity ? turn : 0);
    const int upright = n_numerators == 0;
    const bool all_above = n_numerators == static_cast<int>(factors.size());
    node.no_numerator = n_numerators == 0;
    node.cost = {plain + upright, std::min(total + (parity ? 0 : turn), plain + 1) + upright, plain + all_above};
}

}  // namespace

ProductPlan plan_product(const Speller& speller, std::span<const Entry> factors) {
    return Planner(speller, factors).plan();
}

bool is_simple(const Speller& speller, std::span<const Entry> factors) {
    int n_absolutes = 0;
    int n_powers = 0;
    for (const Entry& factor : factors) {
        n_absolutes += speller[factor.term].is_function(Op::abs);
        n_powers += !factor.ratio.is_unit();
        if (factor.is_free() || n_absolutes > 1 || n_powers > 1) return false;
    }
    return true;
}

Scale factor_cost(const Speller& speller, const Entry& factor) {
    const Cost& base = speller[factor.term].cost;
    if (factor.ratio.is_unit()) return Scale::of(base);
    const Rational exponent = factor.ratio.absolute();
    const int tokens = power_tokens(exponent);
    if (exponent.even_numerator()) return {tokens + Scale::of(base).least(), impossible};
    return {tokens + base.plain, exponent.odd_denominator() ? tokens + base.negative : impossible};
}

bool turns_exponent(const Speller& speller, std::span<const Entry> factors) {
    if (factors.size() != 1 || !factors[0].is_free()) return false;
    const TermNode& base = speller[factors[0].term];
    return !base.has_constant && !base.has_absolute && !(base.kind == Kind::number && base.value.is_zero());
}

void set_product_cost(const Speller& speller, TermNode& node, std::span<const Entry> factors) {
    if (is_simple(speller, factors)) {
        set_simple_product_cost(speller, node, factors);
        return;
    }
    const ProductPlan plan = plan_product(speller, factors);
    const int upright = plan.joints() + (plan.n_numerators == 0);
    node.cost = {plan.plain() + upright, plan.negative() + upright,
                 plan.plain() + plan.joints() + (plan.n_denominators == 0)};
    node.no_numerator = plan.n_numerators == 0;
    if (!turns_exponent(speller, factors)) return;
    const TermNode& base = speller[factors[0].term];  // 1/u^v as u^(-v)
    const int turned = 1 + (base.op == Op::e ? 0 : base.cost.plain) + speller[factors[0].other].cost.negative;
    node.cost.inverse = std::min(node.cost.inverse, turned);
}

}  // namespace simplipy::spelling
