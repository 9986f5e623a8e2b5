// Search: keys, variation, first looks and generations.
#include <cmath>
#include <limits>
#include <string>

#include "ansr/data/generator.hpp"
#include "ansr/evolve/breed.hpp"
#include "check.hpp"
#include "core/expression/infix.hpp"
#include "core/expression/prefix.hpp"

using namespace flash_ansr;
using simplipy::Node;
using simplipy::Op;
using simplipy::parse_infix;
using simplipy::Tree;

namespace {

constexpr std::size_t n_rows = 40;

TokenWeights all_weights() {
    TokenWeights weights;
    weights.operators.fill(1.0);
    weights.variables = {1.0, 2.0};
    return weights;
}

Mutator mutator() { return Mutator(all_weights(), {1, 1, 1, 1, 1, 1, 1, 1}); }

// y = 2*x1*x2 + 1 on points of a spiral.
Screen screen() {
    std::vector<double> x(2 * n_rows);
    std::vector<double> y(n_rows);
    for (std::size_t i = 0; i < n_rows; ++i) {
        const double t = 0.1 * static_cast<double>(i + 1);
        x[i] = t * std::cos(t) + 5.0;
        x[n_rows + i] = t * std::sin(t) + 6.0;
        y[i] = 2.0 * x[i] * x[n_rows + i] + 1.0;
    }
    const std::vector<double> ones(n_rows, 1.0);
    return Screen(simplipy::FitRows(x, 2, y, ones, ones));
}

bool is_whole(const Postfix& nodes) {
    std::size_t depth = 0;
    for (const Node& node : nodes) {
        const auto n = static_cast<std::size_t>(simplipy::arity(node.op));
        if (depth < n) return false;
        depth += 1 - n;
    }
    return depth == 1;
}

std::vector<double> fields(const Brood& brood) {
    std::vector<double> all(brood.ids.begin(), brood.ids.end());
    all.insert(all.end(), brood.constants.begin(), brood.constants.end());
    all.insert(all.end(), brood.costs.begin(), brood.costs.end());
    return all;
}

Brood bred(std::size_t n_threads, std::size_t n_generations) {
    BreedOptions options;
    options.simplify = masked_options(nullptr, 0);
    options.allowed.fill(true);
    Breeder breeder(mutator(), options);
    const Screen rows = screen();
    std::vector<std::string> extras;
    simplipy::Interner interner(extras);
    std::vector<std::int16_t> ids;
    std::vector<std::int64_t> offsets = {0};
    for (const char* text : {"x1", "x2", "x1 + x2", "sin(<constant>*x1)"}) {
        interner.append(parse_infix(text), ids);
        offsets.push_back(static_cast<std::int64_t>(ids.size()));
    }
    const std::vector<double> constants = {0.7};
    const std::vector<double> limits(60, std::numeric_limits<double>::infinity());
    std::vector<std::int32_t> first;
    std::vector<std::int32_t> second;
    for (std::int32_t i = 0; i < 200; ++i) {
        first.push_back(i % 4);
        second.push_back((i / 4) % 4);
    }
    Brood brood;
    for (std::size_t k = 0; k < n_generations; ++k)
        brood = breeder.breed(rows, {{ids, offsets, constants}, first, second, limits, 10.0, 4, 6, k, -1.0, n_threads});
    return brood;
}

}  // namespace

TEST(a_key_is_new_once) {
    KeySet keys;
    std::uint64_t key = 1;
    for (int i = 0; i < 5000; ++i) {
        key = key * 6364136223846793005u + 1442695040888963407u;
        CHECK(keys.insert(key));
        CHECK(!keys.insert(key));
    }
    CHECK(keys.insert(0));
    CHECK(keys.size() == 5001);
    CHECK(keys.keys().size() == 5001);
}

TEST(forms_that_differ_have_other_keys) {
    KeySet keys;
    for (std::int16_t a = 0; a < 60; ++a)
        for (std::int16_t b = 0; b < 60; ++b) {
            const std::array<std::int16_t, 3> ids = {a, b, static_cast<std::int16_t>(a + b)};
            CHECK(keys.insert(hash_form(ids)));
            CHECK(keys.insert(hash_form(std::span(ids).first(2))));
        }
    CHECK(keys.size() == 7200);
}

TEST(children_are_whole_formulas) {
    const Mutator varied = mutator();
    Random random(1, 2, 3);
    Postfix parent = varied.grow(3, random);
    for (int i = 0; i < 5000; ++i) {
        const Postfix donor = varied.grow(random.below(5), random);
        Postfix child = varied.child(parent, donor, random);
        CHECK(is_whole(child));
        if (child.size() < 40) parent = std::move(child);
    }
}

TEST(operators_without_weight_are_never_written) {
    TokenWeights weights;
    weights.operators[index(Op::add)] = 1.0;
    weights.operators[index(Op::sin)] = 1.0;
    weights.variables = {0.0, 1.0};
    const Mutator varied(weights, {1, 1, 1, 1, 1, 1, 1, 1});
    Random random(4, 5, 6);
    Postfix parent = varied.grow(2, random);
    for (int i = 0; i < 2000; ++i) {
        parent = varied.child(parent, parent, random);
        for (const Node& node : parent) {
            CHECK(!is_operator(node.op) || node.op == Op::add || node.op == Op::sin);
            CHECK(node.op != Op::variable || node.payload == 2);
        }
        if (parent.size() > 40) parent = varied.grow(2, random);
    }
}

TEST(a_glance_sees_affine_functions) {
    const Screen rows = screen();
    Glance glance(rows);
    CHECK(glance.affine_cost(parse_infix("x1*x2").nodes()) < 1e-20 * glance.affine_cost(parse_infix("x1").nodes()));
    CHECK(std::isinf(glance.affine_cost(parse_infix("log(x1 - 5)").nodes())));
}

TEST(scalars_are_valued_as_rows_are) {
    const std::vector<double> values = {2.0, 3.0};
    CHECK(scalar_value(parse_infix("x1*x2 + pow2(x2)/x1").nodes(), values) == 10.5);
    CHECK(std::isnan(scalar_value(parse_infix("log(x1 - x2)").nodes(), values)));
}

TEST(a_generation_is_the_same_on_any_number_of_threads) {
    const Brood one = bred(1, 3);
    CHECK(one.n_new > 20);
    CHECK(fields(one) == fields(bred(2, 3)));
    CHECK(fields(one) == fields(bred(5, 3)));
}

TEST(products_of_both_variables_are_found) {
    const Brood brood = bred(1, 1);
    double lowest = 1.0;
    for (const double cost : brood.costs) lowest = std::min(lowest, cost);
    CHECK(lowest < 1e-20);
}
