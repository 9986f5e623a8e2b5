#include <cmath>
#include <random>

#include "check.hpp"
#include "core/evaluate/evaluate.hpp"
#include "core/expression/infix.hpp"
#include "core/expression/names.hpp"
#include "core/fit/fit.hpp"
#include "core/fit/jobs.hpp"
#include "core/fit/levenberg.hpp"
#include "core/fit/model.hpp"
#include "core/fit/program.hpp"
#include "core/fit/sieve.hpp"
#include "random_tree.hpp"

using namespace simplipy;

namespace {

constexpr std::size_t n_columns = 3;

// Columns one after the other.
std::vector<double> random_columns(std::mt19937_64& random, std::size_t n_rows, double low, double high) {
    std::vector<double> x(n_columns * n_rows);
    for (double& v : x) v = std::uniform_real_distribution<>(low, high)(random);
    return x;
}

std::vector<double> values_of(const Tree& tree, const std::vector<double>& x, std::vector<double> constants) {
    const std::size_t n_rows = x.size() / n_columns;
    std::vector<double> values(n_rows);
    evaluate(make_job(tree, std::move(constants), n_columns, nullptr),
             {x.data(), false, n_rows, n_columns, 1, static_cast<std::ptrdiff_t>(n_rows)}, {values.data(), false});
    return values;
}

FitJob job_of(const Tree& tree) {
    FitJob job;
    job.tree = &tree;
    for (const std::int64_t code : variable_codes(tree)) job.columns.push_back(code - 1);
    job.n_constants = job.n_parameters = count(tree, Op::constant);
    return job;
}

FitRows rows_of(const std::vector<double>& x, const std::vector<double>& y) {
    const std::vector<double> ones(y.size(), 1.0);
    return FitRows(x, n_columns, y, ones, ones);
}

FitResult fit(const Tree& tree, const std::vector<double>& x, const std::vector<double>& y, FitOptions options = {}) {
    const FitJob job = job_of(tree);
    FitResult result;
    fit_batch({&job, 1}, rows_of(x, y), options, {&result, 1});
    return result;
}

// The multiple of a term's basis at these parameters.
double coefficient(const FitProgram& program, const LinearTerm& term, const std::vector<double>& parameters) {
    double product = term.factor * parameters[term.parameter];
    for (std::int32_t at = term.parent; at >= 0; at = program.terms[program.term_of(at)].parent)
        product *= parameters[static_cast<std::size_t>(at)];
    return product;
}

std::vector<std::uint32_t> linear_parameters(const char* text) {
    const Tree tree = parse_infix(text);
    const FitJob job = job_of(tree);
    const FitProgram program = compile_fit(make_fit_tree(tree, job.columns, job.n_parameters), tree.size() - 1, true);
    std::vector<std::uint32_t> found;
    for (const LinearTerm& term : program.terms) found.push_back(term.parameter);
    std::sort(found.begin(), found.end());
    return found;
}

}  // namespace

TEST(linear_parameters_are_found) {
    using List = std::vector<std::uint32_t>;
    CHECK(linear_parameters("<constant>*x1 + <constant>") == (List{0, 1}));
    CHECK(linear_parameters("<constant>*exp(<constant>*x1) - x2*<constant>/3") == (List{0, 2}));
    CHECK(linear_parameters("exp(<constant>*x1)").empty());
    CHECK(linear_parameters("(<constant> + <constant>*x1)/(<constant> + x2)") == (List{0, 1}));
    CHECK(linear_parameters("<constant>*(<constant>*x1 + <constant>)") == (List{1, 2}));
    CHECK(linear_parameters("<constant>*(x2 + <constant>*x1)") == (List{0, 1}));
    CHECK(linear_parameters("x3 - <constant>*(x2 + <constant>*(x1 - <constant>/x2))/2") == (List{0, 1, 2}));
    CHECK(linear_parameters("-(x1 - 2*<constant>)") == (List{0}));
}

// base + sum of coefficients * bases is the tree itself, for random trees and parameters.
TEST(projection_splits_the_tree) {
    std::mt19937_64 random(11);
    int n_compared = 0;
    for (int i = 0; i < 6000; ++i) {
        const Tree tree = named_as_columns(random_tree(random, 1 + static_cast<int>(random() % 8)));
        const FitJob job = job_of(tree);
        if (job.n_parameters == 0) continue;
        const std::vector<double> x = random_columns(random, 20, 0.2, 0.9);
        std::vector<double> truth(job.n_parameters);
        for (double& c : truth) c = std::uniform_real_distribution<>(0.2, 0.9)(random);
        const std::vector<double> y = values_of(tree, x, truth);
        bool finite = true;
        for (const double v : y) finite = finite && std::fabs(v) < 1e6;
        if (!finite) continue;
        const FitRows rows = rows_of(x, y);
        for (const bool project : {true, false}) {
            const FitProgram program =
                compile_fit(make_fit_tree(tree, job.columns, job.n_parameters), tree.size() - 1, project);
            std::vector<double> nonlinear;
            std::vector<double> linear;
            for (const Nonlinear& n : program.nonlinear)
                nonlinear.push_back(n.is_log ? std::log(truth[n.parameter]) : truth[n.parameter]);
            for (const LinearTerm& term : program.terms) linear.push_back(coefficient(program, term, truth));
            std::vector<double> recovered(truth.size());
            program.recover(linear, nonlinear, recovered);
            for (std::size_t k = 0; k < truth.size(); ++k) CHECK(std::fabs(recovered[k] - truth[k]) < 1e-9);
            FitModel model;
            model.bind(program, rows);
            CHECK(model.residual(nonlinear.data(), linear.data()) < 1e-18);
            model.bind(program, rows);
            CHECK(model.solve(nonlinear.data()) < 1e-18);
            ++n_compared;
        }
    }
    CHECK(n_compared > 100);
}

// The derivatives by all parameters against differences of residuals.
TEST(derivatives_agree_with_differences) {
    std::mt19937_64 random(12);
    int n_compared = 0;
    for (int i = 0; i < 1000; ++i) {
        const Tree tree = named_as_columns(random_tree(random, 1 + static_cast<int>(random() % 8)));
        const FitJob job = job_of(tree);
        if (job.n_parameters == 0) continue;
        const std::vector<double> x = random_columns(random, 300, 0.2, 0.9);  // more than one block
        std::vector<double> y(300);
        for (double& v : y) v = std::uniform_real_distribution<>(-1.0, 1.0)(random);
        const FitRows rows = rows_of(x, y);
        const FitProgram program =
            compile_fit(make_fit_tree(tree, job.columns, job.n_parameters), tree.size() - 1, true);
        std::vector<double> point(program.terms.size() + program.nonlinear.size());
        for (double& c : point) c = std::uniform_real_distribution<>(0.2, 0.9)(random);
        const std::size_t k = program.terms.size();
        FitModel model;
        model.bind(program, rows);
        const double cost = model.residual(point.data() + k, point.data());
        if (!(cost < 1e6) || !model.differentiate_all()) continue;
        std::vector<std::vector<double>> slopes;
        for (std::size_t p = 0; p < point.size(); ++p)
            slopes.emplace_back(model.matrix_column(p), model.matrix_column(p) + 300);
        for (std::size_t p = 0; p < point.size(); ++p) {
            const double h = 1e-6;
            std::vector<double> shifted = point;
            shifted[p] += h;
            model.residual(shifted.data() + k, shifted.data());
            const std::vector<double> up(model.residual_column(), model.residual_column() + 300);
            shifted[p] -= 2 * h;
            model.residual(shifted.data() + k, shifted.data());
            for (std::size_t row = 0; row < 300; ++row) {
                const double difference = (model.residual_column()[row] - up[row]) / (2 * h);
                if (!(std::fabs(difference) < 1e2) || !(cost < 1e3)) continue;
                CHECK(std::fabs(slopes[p][row] - difference) < 1e-3 * (1.0 + std::fabs(difference)));
                ++n_compared;
            }
        }
    }
    CHECK(n_compared > 10000);
}

// All starts at once on a few rows against one solve after the other on these rows.
TEST(the_sieve_agrees_with_the_model) {
    std::mt19937_64 random(16);
    int n_compared = 0;
    for (int i = 0; i < 1500; ++i) {
        const Tree tree = named_as_columns(random_tree(random, 1 + static_cast<int>(random() % 8)));
        const FitJob job = job_of(tree);
        if (job.n_parameters == 0) continue;
        const std::vector<double> x = random_columns(random, 50, 0.2, 0.9);
        std::vector<double> y(50);
        for (double& v : y) v = std::uniform_real_distribution<>(-1.0, 1.0)(random);
        const FitRows rows = rows_of(x, y);
        const FitProgram program =
            compile_fit(make_fit_tree(tree, job.columns, job.n_parameters), tree.size() - 1, true);
        if (program.nonlinear.empty()) continue;
        std::vector<std::uint32_t> chosen;
        for (std::uint32_t row = static_cast<std::uint32_t>(random() % 4); row < 50; row += 5) chosen.push_back(row);
        const FitRows few = rows.subset(chosen);
        FitModel all, model;
        all.bind(program, rows);
        model.bind(program, few);
        FitSieve sieve;
        sieve.bind(all, chosen, {few.root_weights(), chosen.size()});
        for (std::size_t j = 0; j < program.nonlinear.size(); ++j)
            for (std::size_t lane = 0; lane < sieve.n_lanes(); ++lane)
                sieve.parameter(j)[lane] = std::uniform_real_distribution<>(-2.0, 2.0)(random);
        const std::span<const double> costs = sieve.costs();
        for (std::size_t lane = 0; lane < sieve.n_lanes(); ++lane) {
            std::vector<double> point;
            for (std::size_t j = 0; j < program.nonlinear.size(); ++j) point.push_back(sieve.parameter(j)[lane]);
            const double cost = model.solve(point.data());
            CHECK(std::isfinite(cost) == std::isfinite(costs[lane]));
            if (!model.full_rank() || !(cost < 1e6) || !(cost > 1e-12)) continue;
            CHECK(std::fabs(costs[lane] - cost) <= 1e-6 * cost);
            ++n_compared;
        }
    }
    CHECK(n_compared > 1000);
}

TEST(rates_follow_what_a_parameter_multiplies) {
    std::mt19937_64 random(17);
    const std::vector<double> x = random_columns(random, 300, 0.5, 3.0);  // more than one block
    const FitRows rows = rows_of(x, std::vector<double>(x.begin(), x.begin() + 300));
    const Tree tree = parse_infix("tanh(x2*sin(<constant>*x1))");
    const FitJob job = job_of(tree);
    const FitProgram program = compile_fit(make_fit_tree(tree, job.columns, job.n_parameters), tree.size() - 1, true);
    FitModel model;
    model.bind(program, rows);
    std::vector<double> rates(rows.n_padded());
    model.row_rates(std::vector<double>{2.0}, rates);
    for (std::size_t i = 0; i < 300; ++i) {
        const double inner = 2.0 * x[i];
        CHECK(std::fabs(rates[i] - std::max(inner, inner * x[300 + i])) < 1e-12);
    }
}

TEST(a_race_drops_what_cannot_win_for_any_number_of_threads) {
    std::mt19937_64 random(18);
    std::vector<Tree> trees;
    for (int i = 0; i < 600; ++i)
        trees.push_back(named_as_columns(random_tree(random, 1 + static_cast<int>(random() % 8))));
    const std::vector<double> x = random_columns(random, 300, 0.5, 3.0);
    const std::vector<double> y = values_of(parse_infix("sin(x1) + x2^2 + 0.1*x3"), x, {});
    std::vector<FitJob> jobs;
    for (const Tree& tree : trees) jobs.push_back(job_of(tree));
    const FitRows rows = rows_of(x, y);
    FitOptions options;
    options.n_restarts = 2;
    std::vector<FitResult> all(jobs.size()), one(jobs.size()), many(jobs.size());
    fit_batch(jobs, rows, options, all);
    options.race = {5, 0.01};
    fit_batch(jobs, rows, options, one);
    options.n_threads = 3;
    fit_batch(jobs, rows, options, many);
    std::size_t n_dropped = 0;
    std::vector<double> best, raced;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        CHECK(one[i].status == many[i].status && one[i].fvu == many[i].fvu);
        n_dropped += one[i].status == FitStatus::dropped ? 1 : 0;
        // with a limit to beat, what stays unexplained is searched for less
        const bool may_differ = all[i].fvu > 1e-8;
        if (one[i].status != FitStatus::dropped)
            CHECK(may_differ ? one[i].fvu >= (1.0 - 1e-9) * all[i].fvu : one[i].fvu == all[i].fvu);
        best.push_back(all[i].fvu);
        raced.push_back(one[i].fvu);
    }
    CHECK(n_dropped > 20);
    std::sort(best.begin(), best.end());
    std::sort(raced.begin(), raced.end());
    CHECK(best[0] == raced[0]);
}

TEST(names_become_columns_and_parameters) {
    const Tree first = parse_infix("<constant>*x2 + a*b");
    const Tree second = parse_infix("b*x10");
    const std::vector<const Tree*> trees = {&first, &second};
    CHECK(variables_of(trees) == (std::vector<std::string>{"x2", "x10", "a", "b"}));
    std::vector<FitJob> jobs = make_fit_jobs(trees, {{"x10", "x2", "a"}, {"c", "b"}}, std::vector<double>{1.0, 2.0});
    CHECK(jobs[0].columns == (std::vector<std::int64_t>{1, 2, -2}));
    CHECK(jobs[0].n_constants == 1 && jobs[0].n_parameters == 2);
    CHECK(jobs[0].starts.size() == 1 && std::isnan(jobs[0].starts[0][0]) && jobs[0].starts[0][1] == 2.0);
    CHECK(jobs[1].columns == (std::vector<std::int64_t>{0, -1}));
    set_starts(jobs[0], std::vector<double>{5.0, 6.0});
    CHECK(jobs[0].starts == (std::vector<std::vector<double>>{{5.0, 2.0}, {6.0, 2.0}}));
}

TEST(damped_systems_are_solved) {
    // R^T R + D^2 by hand: R = [[2, 1], [0, 3]], D = diag(1, 2), b = (4, 5)
    std::vector<double> r = {2.0, 1.0, 0.0, 3.0}, b = {4.0, 5.0}, row(2), x(2);
    solve_damped(2, r, b, std::vector<double>{1.0, 2.0}, row, x);
    // normal equations: [[5, 2], [2, 14]] x = (8, 19)
    CHECK(std::fabs(5 * x[0] + 2 * x[1] - 8.0) < 1e-12);
    CHECK(std::fabs(2 * x[0] + 14 * x[1] - 19.0) < 1e-12);
    std::vector<double> singular = {0.0, 1.0, 0.0, 0.0}, zeros = {1.0, 1.0};
    solve_damped(2, singular, zeros, std::vector<double>{0.0, 0.0}, row, x);
    CHECK(std::isfinite(x[0]) && std::isfinite(x[1]));
}

TEST(laws_are_recovered) {
    std::mt19937_64 random(13);
    const std::vector<std::pair<const char*, std::vector<double>>> laws = {
        {"<constant>*sin(<constant>*x1 + <constant>) + x2", {2.0, 1.3, 0.4}},
        {"pow(<constant>, x1)*<constant>", {1.7, 0.3}},
        {"exp(<constant>*x1 + <constant>)", {0.7, 0.3}},
        {"<constant>/(x1 + <constant>)", {3.0, 7.0}},
    };
    for (const auto& [text, truth] : laws)
        for (const std::size_t n_rows : {1u, 7u, 64u, 513u, 2000u}) {
            const Tree tree = parse_infix(text);
            const std::vector<double> x = random_columns(random, n_rows, -3.0, 3.0);
            const FitResult result = fit(tree, x, values_of(tree, x, truth));
            CHECK(result.fvu < 1e-20);
            CHECK(result.parameters.size() == truth.size());
        }
}

TEST(random_trees_on_random_targets) {
    std::mt19937_64 random(14);
    std::vector<Tree> trees;
    for (int i = 0; i < 300; ++i)
        trees.push_back(named_as_columns(random_tree(random, 1 + static_cast<int>(random() % 10))));
    const std::vector<double> x = random_columns(random, 100, -3.0, 3.0);
    std::vector<double> y(100);
    for (double& v : y) v = std::normal_distribution<>()(random);
    std::vector<FitJob> jobs;
    for (const Tree& tree : trees) jobs.push_back(job_of(tree));
    const FitRows rows = rows_of(x, y);
    for (const Objective objective : {Objective::squared, Objective::huber, Objective::log_cosh}) {
        FitOptions options;
        options.objective = objective;
        options.n_restarts = 3;
        std::vector<FitResult> one(jobs.size());
        fit_batch(jobs, rows, options, one);
        options.n_threads = 3;
        std::vector<FitResult> many(jobs.size());
        fit_batch(jobs, rows, options, many);
        for (std::size_t i = 0; i < jobs.size(); ++i) {
            CHECK(one[i].cost == many[i].cost && one[i].status == many[i].status);
            CHECK((one[i].status == FitStatus::non_finite) == std::isinf(one[i].fvu));
        }
    }
}

TEST(a_deadline_and_an_interruption_end_a_batch) {
    std::mt19937_64 random(15);
    const Tree tree = parse_infix("<constant>*sin(<constant>*x1 + <constant>*x2)");
    const std::vector<double> x = random_columns(random, 500, -3.0, 3.0);
    std::vector<double> y(500);
    for (double& v : y) v = std::normal_distribution<>()(random);
    const std::vector<FitJob> jobs(2000, job_of(tree));
    std::vector<FitResult> results(jobs.size());
    FitOptions options;
    options.seconds = 0.01;
    CHECK(fit_batch(jobs, rows_of(x, y), options, results));
    CHECK(results.back().status == FitStatus::deadline);
    options.seconds = -1.0;
    options.interrupted = [] { return true; };
    CHECK(!fit_batch(jobs, rows_of(x, y), options, results));
}
