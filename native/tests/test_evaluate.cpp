#include <algorithm>
#include <cmath>
#include <random>

#include "check.hpp"
#include "core/base/errors.hpp"
#include "core/evaluate/evaluate.hpp"
#include "core/evaluate/kernels.hpp"
#include "core/expression/infix.hpp"
#include "random_tree.hpp"

using namespace simplipy;

namespace {

std::vector<double> values_of(const Tree& tree, const std::vector<double>& data, std::size_t n_columns,
                              std::vector<double> constants = {}, std::size_t n_threads = 1) {
    const std::size_t n_rows = data.size() / n_columns;
    const Matrix matrix = {data.data(), false, n_rows, n_columns, static_cast<std::ptrdiff_t>(n_columns), 1};
    const Job job = make_job(tree, std::move(constants), n_columns, nullptr);
    std::vector<double> values(n_rows);
    evaluate({&job, 1}, matrix, {values.data(), false}, nullptr, n_threads);
    return values;
}

double value_at(const char* text, double x) { return values_of(parse_infix(text), {x}, 1)[0]; }

bool same(const std::vector<double>& a, const std::vector<double>& b) {
    for (std::size_t i = 0; i < a.size(); ++i)
        if (!(a[i] == b[i] || (a[i] != a[i] && b[i] != b[i]))) return false;
    return a.size() == b.size();
}

}  // namespace

TEST(poles_and_domains_are_undefined) {
    for (const char* text : {"1/x1", "2/x1", "log(x1)", "x1^(-1)", "atan(1/x1)", "0*log(x1)", "atanh(x1 + 1)",
                             "exp(-inf)", "nan^0", "pow(1, log(x1))", "(log(x1))^(0)"})
        CHECK(std::isnan(value_at(text, 0.0)));
    for (const char* text : {"log(x1)", "sqrt(x1)", "pow1_4(x1)", "x1^0.5", "x1^(1/3)", "acosh(x1)", "asin(x1)"})
        CHECK(std::isnan(value_at(text, -2.0)));
    CHECK(value_at("x1^(0)", 0.0) == 1.0);
    CHECK(value_at("cbrt(x1)", -8.0) == -2.0);
    CHECK(std::fabs(value_at("pow1_5(x1)", -32.0) + 2.0) < 1e-15);
    CHECK(value_at("x1^(-3)", -2.0) == -0.125);
    CHECK(value_at("exp(x1)", 1000.0) == std::numeric_limits<double>::infinity());
    CHECK(std::isnan(value_at("x1", std::numeric_limits<double>::infinity())));
    CHECK(value_at("5e-324*x1", 1.0) > 0.0);
}

TEST(kernels_agree_with_the_c_library) {
    std::mt19937_64 random(4);
    std::vector<double> data;
    for (int i = 0; i < 4000; ++i) {
        const double scale = std::pow(10.0, std::uniform_real_distribution<>(-12, 12)(random));
        data.push_back((random() % 2 ? 1 : -1) * scale);
    }
    const std::vector<std::pair<const char*, double (*)(double)>> pairs = {
        {"sin(x1)", std::sin},     {"cos(x1)", std::cos},     {"tan(x1)", std::tan},   {"asin(x1)", std::asin},
        {"acos(x1)", std::acos},   {"atan(x1)", std::atan},   {"sinh(x1)", std::sinh}, {"cosh(x1)", std::cosh},
        {"tanh(x1)", std::tanh},   {"asinh(x1)", std::asinh}, {"exp(x1)", std::exp},   {"log(x1)", std::log},
        {"acosh(x1)", std::acosh}, {"atanh(x1)", std::atanh}, {"cbrt(x1)", std::cbrt}, {"sqrt(x1)", std::sqrt}};
    for (const auto& [text, function] : pairs) {
        const std::vector<double> values = values_of(parse_infix(text), data, 1);
        double worst = 0.0;
        for (std::size_t i = 0; i < data.size(); ++i) {
            const double expected = function(data[i]);
            if (std::isnan(expected) || std::isnan(values[i])) {
                CHECK(std::isnan(expected) && std::isnan(values[i]));
            } else if (expected != values[i]) {
                worst = std::max(worst, std::fabs(values[i] - expected) / std::fabs(expected));
            }
        }
        CHECK(worst < 2e-15);
    }
}

TEST(threads_and_blocks_do_not_change_bits) {
    std::mt19937_64 random(5);
    std::vector<double> data(3 * 9001);
    for (double& v : data) v = std::uniform_real_distribution<>(-4, 4)(random);
    for (int i = 0; i < 30; ++i) {
        const Tree tree = named_as_columns(random_tree(random, 10));
        const std::vector<double> constants(count(tree, Op::constant), 0.7);
        const std::vector<double> one = values_of(tree, data, 3, constants, 1);
        CHECK(same(one, values_of(tree, data, 3, constants, 3)));
        const std::vector<double> tail(data.begin() + 3 * 8990, data.end());
        CHECK(same(std::vector<double>(one.begin() + 8990, one.end()), values_of(tree, tail, 3, constants, 1)));
    }
}

// A root has no slope at 0, and a product of its infinite slope with a slope of 0 is unknown.
bool holds_root(const Tree& tree) {
    return std::any_of(operators().begin(), operators().end(),
                       [&](const OpInfo& row) { return row.has(role::root) && count(tree, row.op) > 0; });
}

TEST(gradients_agree_with_differences) {
    std::mt19937_64 random(6);
    int n_compared = 0;
    for (int i = 0; i < 3000; ++i) {
        const Tree tree = named_as_columns(random_tree(random, 1 + static_cast<int>(random() % 6)));
        std::vector<double> constants(count(tree, Op::constant));
        for (double& c : constants) c = std::uniform_real_distribution<>(0.2, 0.9)(random);
        const std::vector<double> row = {0.37, 0.61, 0.83};
        const Matrix matrix = {row.data(), false, 1, 3, 3, 1};
        std::vector<double> slopes(constants.size());
        const Job job = make_job(tree, constants, 3, nullptr);
        double value = 0.0;
        gradient(job, matrix, Wrt::constants, {slopes.data(), false}, &value, 1);
        for (std::size_t k = 0; k < constants.size(); ++k) {
            const double h = 1e-6;
            std::vector<double> shifted = constants;
            shifted[k] += h;
            const double up = values_of(tree, row, 3, shifted)[0];
            shifted[k] -= 2 * h;
            const double down = values_of(tree, row, 3, shifted)[0];
            const double slope = (up - down) / (2 * h);
            const double scale = 1.0 + std::fabs(slope) + std::fabs(value);
            if (!std::isfinite(scale) || scale > 1e3) continue;
            if (std::isnan(slopes[k]) && holds_root(tree)) continue;
            CHECK(std::fabs(slopes[k] - slope) < 1e-4 * scale);
            ++n_compared;
        }
    }
    CHECK(n_compared > 100);
}

TEST(wrong_data_is_refused) {
    const Tree tree = parse_infix("x3 + <constant>");
    const auto bind_error = [&](std::vector<double> constants, std::size_t n_columns, const ColumnNames* names) {
        return check::message_of<EvaluationError>([&] { make_job(tree, constants, n_columns, names); });
    };
    const ColumnNames names = {{"mass", 0}};
    CHECK(bind_error({1.0}, 2, nullptr).find("column 3") != std::string::npos);
    CHECK(bind_error({}, 3, nullptr).find("1 free constants") != std::string::npos);
    CHECK(bind_error({1.0}, 1, &names).find("'x3'") != std::string::npos);
}

TEST(an_assigned_tree_forgets_its_program) {
    Tree tree = parse_infix("x1 + 1");
    const double x = 3.0;
    const Matrix matrix{&x, false, 1, 1, 1, 1};
    double value = 0.0;
    evaluate(make_job(tree, {}, 1, nullptr), matrix, {&value, false});
    CHECK(value == 4.0);
    tree = parse_infix("5*x1");
    evaluate(make_job(tree, {}, 1, nullptr), matrix, {&value, false});
    CHECK(value == 15.0);
}
