// Laws recombined, constants in scale, and problems of several priors.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>
#include <string>

#include "ansr/data/constants.hpp"
#include "ansr/data/generator.hpp"
#include "check.hpp"
#include "core/expression/infix.hpp"
#include "core/expression/prefix.hpp"

using namespace flash_ansr;
using simplipy::Node;
using simplipy::Op;
using simplipy::parse_infix;
using simplipy::Tree;

namespace {

enum Edit { exchange, join, merge, fix, free_constant };

Spread up_to(double high, bool has_unit = false) {
    return {Columns::Kind::uniform, high / 2.0, high, Signs::as_drawn, has_unit};
}

std::vector<Law> some_laws() {
    return {{parse_infix("x1*exp(<constant>*x2)"), {up_to(1.0), up_to(2.0)}},
            {parse_infix("sin(x1) + x2/(x3 + <constant>)"), {up_to(3.0), up_to(4.0), up_to(5.0)}},
            {parse_infix("(x1 - <constant>)^x2"), {up_to(6.0), up_to(7.0)}}};
}

Prior prior_with(double p_edit, std::array<double, 5> weights) {
    Prior prior;
    prior.skeleton.n_ops_weights = {0, 1};
    prior.skeleton.operator_weights.fill(1.0);
    prior.skeleton.n_variables = 5;
    prior.skeleton.max_length = 20;
    prior.sources = {0.0, 1.0, 0.0};
    prior.recombination.p_edit = p_edit;
    prior.recombination.weights = weights;
    const Numbers one_to_two{{{1.0, Numbers::Kind::uniform, 1.0, 2.0, 1.0, 2.0, 0.0}}};
    prior.constants = one_to_two;
    prior.columns.parts = {{1.0, Columns::Kind::uniform, one_to_two, one_to_two, 0.0, 0.0}};
    prior.min_rows = prior.max_rows = 40;
    return prior;
}

Prior prior_with(double p_edit, Edit edit) {
    std::array<double, 5> weights{};
    weights[edit] = 1.0;
    return prior_with(p_edit, weights);
}

std::vector<Drawn> draws(const Recombiner& recombiner, std::uint64_t n) {
    std::vector<Drawn> all;
    for (std::uint64_t i = 0; i < n; ++i) {
        Random random(1, i, 0);
        all.push_back(recombiner.draw(random));
    }
    return all;
}

// The formula with its variables numbered as they occur in prefix order.
std::string up_to_names(const Tree& tree) {
    std::vector<std::int64_t> codes;
    std::vector<Node> nodes = tree.nodes();
    for (const std::size_t i : simplipy::prefix_order(tree)) {
        if (nodes[i].op != Op::variable) continue;
        auto known = std::find(codes.begin(), codes.end(), nodes[i].payload);
        if (known == codes.end()) known = codes.insert(codes.end(), nodes[i].payload);
        nodes[i].payload = 1 + (known - codes.begin());
    }
    return simplipy::to_infix(Tree(std::move(nodes), {}), std::nullopt);
}

// The parts of a tree with their parents: the operator, the side where that counts, and the symbol below it.
std::set<std::string> links(const Tree& tree) {
    std::set<std::string> found;
    const std::vector<Node>& nodes = tree.nodes();
    const auto add = [&](const Node& above, const char* side, const Node& below) {
        found.insert(std::string(simplipy::symbol_token(above.op)) + side +
                     std::string(below.op == Op::variable ? "x" : simplipy::symbol_token(below.op)));
    };
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (!is_operator(nodes[i].op)) continue;
        add(nodes[i], arity(nodes[i].op) == 2 ? " right " : " only ", nodes[i - 1]);
        if (arity(nodes[i].op) == 2) add(nodes[i], " left ", nodes[simplipy::left_of(nodes, i)]);
    }
    return found;
}

std::shared_ptr<const Holdout> nothing_held_out() {
    return std::make_shared<const Holdout>(std::vector<Tree>{}, simplipy::SimplifyOptions{});
}

Generator generator_of(const Prior& prior, std::vector<Law> laws, std::vector<Generator::Part> parts = {}) {
    Material material;
    material.laws = std::move(laws);
    return {prior, masked_options(std::make_shared<const simplipy::RuleSet>(""), -1), nothing_held_out(),
            std::move(material), std::move(parts)};
}

// The constants of a formula over x1 near 100 and x2 near 0.01, as they are without any spread of their sizes.
std::vector<double> constants_of(const char* text) {
    Prior prior;
    prior.in_scale = {1.0, 0.0, 0.0, 0.0};
    prior.constants = {{{1.0, Numbers::Kind::uniform, 7.0, 7.0, 7.0, 7.0, 0.0}}};
    const Tree tree = parse_infix(text);
    DataSet data;
    data.n_rows = 3;
    data.X = {90, 100, 110, 0.009F, 0.01F, 0.011F};
    Random random(0, 0, 0);
    return ConstantsInScale(prior, tree, data, 3).draw(random);
}

bool near(const std::vector<double>& found, const std::vector<double>& expected) {
    return std::equal(found.begin(), found.end(), expected.begin(), expected.end(),
                      [](double a, double b) { return std::fabs(a / b - 1.0) < 1e-6; });
}

}  // namespace

TEST(without_edits_laws_differ_in_names_alone) {
    std::set<std::string> laws;
    for (const Law& law : some_laws()) laws.insert(up_to_names(law.form));
    std::set<std::string> found;
    std::set<std::int64_t> numbers;
    for (const Drawn& drawn : draws({some_laws(), prior_with(0.0, exchange)}, 300)) {
        found.insert(up_to_names(drawn.tree));
        for (const std::int64_t code : simplipy::variable_codes(drawn.tree)) numbers.insert(code);
    }
    CHECK(found == laws);
    CHECK(numbers == (std::set<std::int64_t>{1, 2, 3, 4, 5}));
}

TEST(a_variable_keeps_the_spread_of_its_law) {
    const Recombiner recombiner(some_laws(), prior_with(0.0, exchange));  // owns the spreads
    for (const Drawn& drawn : draws(recombiner, 100)) {
        if (drawn.tree.root().op != Op::mul) continue;
        const std::vector<Node>& nodes = drawn.tree.nodes();
        CHECK(drawn.spreads[static_cast<std::size_t>(nodes[0].payload) - 1]->high == 1.0);
        CHECK(drawn.spreads[static_cast<std::size_t>(nodes[2].payload) - 1]->high == 2.0);
    }
}

TEST(exchanged_subterms_stand_where_they_stood) {
    std::set<std::string> known;
    for (const Law& law : some_laws()) known.merge(links(law.form));
    known.insert({"* left +", "* left -", "* right +", "- left *"});  // terms are terms, factors are factors
    std::set<std::string> formulas;
    for (const Drawn& drawn : draws({some_laws(), prior_with(0.7, exchange)}, 2000)) {
        formulas.insert(up_to_names(drawn.tree));
        for (const std::string& link : links(drawn.tree)) {
            const bool is_arithmetic = link[0] == '+' || link[0] == '-' || link[0] == '*' || link.starts_with("/ left");
            CHECK(is_arithmetic || known.contains(link));
        }
    }
    CHECK(formulas.size() > 100);
}

TEST(joined_merged_fixed_and_freed) {
    const auto all = [](Edit edit, const std::function<bool(const Drawn&)>& holds) {
        const std::vector<Drawn> drawn = draws({some_laws(), prior_with(0.9, edit)}, 300);
        return std::all_of(drawn.begin(), drawn.end(), holds);
    };
    const auto n_variables = [](const Drawn& drawn) { return simplipy::variable_codes(drawn.tree).size(); };
    const auto n_constants = [](const Drawn& drawn) { return simplipy::count(drawn.tree, Op::constant); };
    CHECK(!all(merge, [&](const Drawn& drawn) { return n_variables(drawn) > 1; }));
    CHECK(all(merge, [&](const Drawn& drawn) { return n_variables(drawn) > 0 && n_constants(drawn) == 1; }));
    CHECK(all(fix, [&](const Drawn& drawn) { return n_variables(drawn) > 0 && n_constants(drawn) > 0; }));
    CHECK(!all(fix, [&](const Drawn& drawn) { return n_variables(drawn) > 1; }));
    CHECK(all(free_constant, [&](const Drawn& drawn) { return n_variables(drawn) + n_constants(drawn) <= 4; }));
    CHECK(!all(free_constant, [&](const Drawn& drawn) { return n_constants(drawn) > 0; }));
    CHECK(!all(join, [&](const Drawn& drawn) { return drawn.tree.size() < 19; }));
}

TEST(recombined_laws_keep_the_limits) {
    std::size_t most_variables = 0;
    for (const Drawn& drawn : draws({some_laws(), prior_with(0.9, {5, 3, 1, 1, 2})}, 5000)) {
        CHECK(drawn.tree.root().length == drawn.tree.size());
        CHECK(drawn.tree.size() <= 20);
        const std::vector<std::int64_t> codes = simplipy::variable_codes(drawn.tree);
        CHECK(codes.empty() || (codes.front() >= 1 && codes.back() <= 5));
        most_variables = std::max(most_variables, codes.size());
    }
    CHECK(most_variables == 5);
}

TEST(columns_lie_in_the_ranges_of_their_law) {
    Prior prior = prior_with(0.0, exchange);
    const std::vector<std::int64_t> indices = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    const auto extremes = [&](bool has_unit) {
        const Generator generator =
            generator_of(prior, {{parse_infix("sin(x1) + <constant>"), {up_to(8.0, has_unit)}}});
        const BatchArrays batch = generator.batch({0, indices, 1, false, false});
        std::vector<float> values;
        for (const float x : batch.X)
            if (x != 0.0F) values.push_back(x);
        CHECK(values.size() == 400);
        const auto [low, high] = std::minmax_element(values.begin(), values.end());
        return std::pair(*low, *high);
    };
    prior.recombination.unit_decades = 2.0;
    const auto [low, high] = extremes(false);
    CHECK(low >= 4.0F && low < 4.2F && high <= 8.0F && high > 7.8F);
    const auto [scaled_low, scaled_high] = extremes(true);
    CHECK(scaled_low >= 0.04F && scaled_low < 1.0F && scaled_high <= 800.0F && scaled_high > 10.0F);
    prior.recombination.p_new_range = 1.0;
    const auto [new_low, new_high] = extremes(true);
    CHECK(new_low >= 1.0F && new_high <= 2.0F);
}

TEST(constants_are_as_large_as_their_neighbours) {
    CHECK(near(constants_of("x1 + <constant>"), {100}));
    CHECK(near(constants_of("<constant>*x1"), {7}));
    CHECK(near(constants_of("exp(<constant>*x1)"), {0.01}));
    CHECK(near(constants_of("exp(x1/<constant>)"), {100}));
    CHECK(near(constants_of("x1 + <constant>*x2"), {1e4}));
    CHECK(near(constants_of("<constant>*x1/(<constant> + x1)"), {7, 100}));
    CHECK(near(constants_of("<constant>*x1 + <constant>*x2"), {0.07, 700}));
    CHECK(near(constants_of("x1 + (<constant>*x2)^2"), {1000}));
    CHECK(near(constants_of("x1 + sqrt(<constant>*x2)"), {1e6}));
    CHECK(near(constants_of("x2 - 1/(<constant>*x1)"), {1}));
    CHECK(near(constants_of("x1^<constant>"), {1}));
    CHECK(near(constants_of("<constant>^x1"), {std::exp(0.01)}));
    CHECK(near(constants_of("x1*(x2 + <constant>)"), {0.01}));
}

TEST(each_problem_is_of_one_of_the_mixed_priors) {
    const Prior prior = prior_with(0.0, exchange);
    const auto other = std::make_shared<const Generator>(
        prior, masked_options(std::make_shared<const simplipy::RuleSet>(""), -1), nothing_held_out(), [] {
            Material material;
            material.laws = {{parse_infix("cos(x1)"), {up_to(1.0)}}};
            return material;
        }());
    const std::vector<Law> own = {{parse_infix("x1 + <constant>"), {up_to(1.0)}}};
    const Generator alone = generator_of(prior, own);
    const Generator mixed = generator_of(prior, own, {{0.25, other}});
    std::size_t n_other = 0;
    for (std::int64_t i = 0; i < 400; ++i) {
        const std::vector<std::int64_t> index = {i};
        const BatchArrays batch = mixed.batch({5, index, 1, false, false});
        const bool is_other = batch.y == other->batch({5, index, 1, false, false}).y;
        CHECK(is_other != (batch.y == alone.batch({5, index, 1, false, false}).y));
        n_other += is_other ? 1 : 0;
    }
    CHECK(n_other > 70 && n_other < 130);
}
