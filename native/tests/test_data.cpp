// Data generation: pruning, holdouts, skeletons, and batches that depend on seed and index only.
#include <map>
#include <numeric>
#include <string>

#include "ansr/data/generator.hpp"
#include "check.hpp"
#include "core/expression/infix.hpp"
#include "core/expression/prefix.hpp"

using namespace flash_ansr;
using simplipy::parse_infix;

namespace {

std::string pruned_text(const char* text, bool scales = false) {
    std::vector<simplipy::Node> nodes = pruned(parse_infix(text).nodes(), scales);
    return nodes.empty() ? "" : simplipy::to_infix(simplipy::Tree(std::move(nodes), {}), std::nullopt);
}

Prior small_prior() {
    Prior prior;
    prior.skeleton.n_ops_weights = {1, 2, 3, 4, 5, 6, 7, 8};
    prior.skeleton.operator_weights.fill(1.0);
    prior.skeleton.n_variables = 4;
    constexpr double inf = std::numeric_limits<double>::infinity();
    const Numbers normal{{{1.0, Numbers::Kind::normal, 0.0, 5.0, -inf, inf, 0.0}}};
    prior.constants = normal;
    prior.columns.parts = {{1.0, Columns::Kind::uniform, normal, normal, 0.0, 0.0}};
    prior.max_rows = 20;
    return prior;
}

simplipy::SimplifyOptions options() { return masked_options(std::make_shared<const simplipy::RuleSet>(""), 4); }

std::shared_ptr<const Holdout> held_out(const std::vector<simplipy::Tree>& entries) {
    return std::make_shared<const Holdout>(entries, options());
}

bool same(const BatchArrays& a, const BatchArrays& b) {
    return a.X == b.X && a.y == b.y && a.token_ids == b.token_ids && a.constants == b.constants &&
           a.outcomes == b.outcomes && a.n_rows == b.n_rows;
}

}  // namespace

TEST(constants_are_pruned) {
    CHECK(pruned_text("<constant>") == "");
    CHECK(pruned_text("sin(<constant> + 2)") == "");
    CHECK(pruned_text("<constant>/x1") == "1/x1");
    CHECK(pruned_text("x1/<constant>") == "x1");
    CHECK(pruned_text("<constant> - x1") == "-x1");
    CHECK(pruned_text("<constant>^x1") == "x1");
    CHECK(pruned_text("x1^2.5") == "x1");
    CHECK(pruned_text("2*x1*sin(<constant>*x2 + pi)") == "2*x1*sin(x2)");
    CHECK(pruned_text("2*x1*sin(<constant>*x2 + pi)", true) == "x1*sin(x2)");
    CHECK(pruned_text("<constant> - x1", true) == "x1");
}

TEST(held_out_up_to_names_and_constants) {
    const Holdout holdout({parse_infix("2.5*a*sin(b) + 1"), parse_infix("x1*x2/(x3 - x4)")}, {});
    simplipy::Simplifier simplifier;
    const auto entry = [&](const char* text) {
        const auto found = holdout.find(parse_infix(text), simplifier);
        return found ? static_cast<int>(found->entry) : -1;
    };
    CHECK(entry("x7*sin(x3)") == 0);
    CHECK(entry("x3*sin(x7)") == 0);
    CHECK(entry("<constant>*x3*sin(x7 - <constant>)") == 0);
    CHECK(entry("sin(x3)*x7") == 0);
    CHECK(entry("x9*x2/(x5 - x1)") == 1);
    CHECK(entry("x9/(x5 - x1)*x2") == 1);
    CHECK(entry("x9/(x1 - x5)*x2*<constant>") == 1);
    CHECK(entry("-3*x9/(x1/x2 - x5/x2)") == 1);
    CHECK(entry("x9*(x2/(x5 - x1))/(x9/x9)") == 1);
    CHECK(entry("x1*cos(x2)") == -1);
    CHECK(entry("x1*sin(x1)") == -1);
    CHECK(entry("x1*x2/(x3 + x4)") == -1);
    CHECK(entry("x1") == -1);
    CHECK(entry("<constant>") == -1);
}

TEST(what_prunes_to_a_number_is_not_held_out) {
    const Holdout holdout({parse_infix("1 + x1*x2/(1 - x1*x2/3)"), parse_infix("x1*(4 - x1 - x2/(1 + x1))")}, {});
    simplipy::Simplifier simplifier;
    CHECK(!holdout.find(parse_infix("<constant>*x1/(<constant> + x1)"), simplifier));
    CHECK(holdout.find(parse_infix("x1^2 - x2"), simplifier));
}

TEST(large_values_do_not_hide_an_entry) {
    const Holdout holdout({parse_infix("1/(exp(x1/x2) - 1)"), parse_infix("x1^x2")}, {});
    simplipy::Simplifier simplifier;
    const auto held_out = [&](const char* text) { return holdout.find(parse_infix(text), simplifier).has_value(); };
    CHECK(held_out("exp(x1/(<constant> - x2))"));
    CHECK(held_out("exp((<constant> - x3)/x1)"));
    CHECK(held_out("1/(1/x2)^x1"));
    CHECK(held_out("(<constant> + cbrt(x2))^(3*x1)"));
    CHECK(!held_out("abs(x1)^x2"));
}

TEST(a_gap_does_not_hide_an_entry) {
    const Holdout holdout({parse_infix("3*x1 - 2*x1*x2 - x1^2")}, {});
    simplipy::Simplifier simplifier;
    CHECK(holdout.find(parse_infix("x1/(<constant> + <constant>/(x1 - x2))"), simplifier));
    CHECK(!holdout.find(parse_infix("x2/(<constant> + <constant>/(x1 - x2)^2)"), simplifier));
}

TEST(an_entry_with_many_variables_is_known_by_values) {
    const Holdout holdout({parse_infix("x1 + 2*x2^2 + x3^3 + sin(x4) + cos(x5) + exp(x6) + x7^4 + x8^5 + log(x9)")},
                          {});
    simplipy::Simplifier simplifier;
    CHECK(holdout.find(parse_infix("x9 + x8^2 + x7^3 + sin(x6) + cos(x5) + exp(x4) + x3^4 + x2^5 + log(x1)"),
                       simplifier));
    CHECK(!holdout.find(parse_infix("x9 + x8^2 + x7^3 + sin(x6) + cos(x5) + exp(x4) + x3^4 + x2^4 + log(x1)"),
                        simplifier));
}

TEST(skeletons_are_whole_and_short) {
    Prior prior = small_prior();
    const SkeletonSampler sampler(prior.skeleton);
    for (std::uint64_t i = 0; i < 5000; ++i) {
        Random random(1, i, 0);
        const std::vector<simplipy::Node> nodes = sampler.draw(random);
        int depth = 0;
        for (const simplipy::Node& node : nodes) {
            depth += 1 - simplipy::arity(node.op);
            CHECK(depth >= 1);
        }
        CHECK(depth == 1);
        CHECK(nodes.size() <= 15);
    }
}

TEST(batches_depend_on_seed_and_index_only) {
    const Generator generator(small_prior(), options(), held_out({parse_infix("x1*x2")}), {});
    std::vector<std::int64_t> indices(300);
    std::iota(indices.begin(), indices.end(), 0);
    const BatchArrays one = generator.batch({3, indices, 1, false, true});
    CHECK(same(one, generator.batch({3, indices, 4, false, true})));
    CHECK(!same(one, generator.batch({4, indices, 1, false, true})));
    const std::vector<std::int64_t> tail(indices.begin() + 250, indices.end());
    const BatchArrays part = generator.batch({3, tail, 2, false, true});
    CHECK(std::equal(part.y.rbegin(), part.y.rend(), one.y.rbegin()));
    const BatchArrays padded = generator.batch({3, tail, 2, true, true});
    CHECK(padded.y.size() == 50 * padded.width);
    CHECK(padded.constants == part.constants);
}

TEST(a_corpus_replaces_the_sampler) {
    Material material;
    material.corpus = {parse_infix("2.5*x1"), parse_infix("x2 + x3")};
    const Generator generator(small_prior(), options(), held_out({}), material);
    std::vector<std::int64_t> indices(50);
    std::iota(indices.begin(), indices.end(), 0);
    const BatchArrays batch = generator.batch({0, indices, 1, true, true});
    for (const std::int32_t length : batch.lengths) CHECK(length == 3);
    material.corpus = {parse_infix("x9")};
    CHECK(!check::message_of<std::runtime_error>([&] {
               const Generator bad(small_prior(), options(), held_out({}), material);
           }).empty());
}

TEST(a_prior_that_accepts_nothing_says_so) {
    Prior prior = small_prior();
    prior.must_vary = true;
    prior.max_rows = 1;
    const Generator generator(prior, options(), held_out({}), {});
    const std::vector<std::int64_t> indices = {0};
    const std::string message =
        check::message_of<ExhaustedError>([&] { generator.batch({0, indices, 1, true, false}); });
    CHECK(message.find("constant: ") != std::string::npos);
}
