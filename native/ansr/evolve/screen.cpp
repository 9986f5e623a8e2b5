#include "screen.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace flash_ansr {

using simplipy::FitRows;

namespace {

constexpr std::size_t n_draws = 8;  // starts where a constant has no value yet
constexpr double infinity = std::numeric_limits<double>::infinity();

// Ranks less their mean; equal values share the mean of their ranks.
std::vector<double> centred_ranks(std::span<const double> values) {
    const std::size_t n = values.size();
    std::vector<std::uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return values[a] < values[b]; });
    std::vector<double> ranks(n);
    for (std::size_t i = 0; i < n;) {
        std::size_t end = i + 1;
        while (end < n && values[order[end]] == values[order[i]]) ++end;
        const double rank = 0.5 * static_cast<double>(i + end - 1) - 0.5 * static_cast<double>(n - 1);
        for (; i < end; ++i) ranks[order[i]] = rank;
    }
    return ranks;
}

}  // namespace

double literal_value(const simplipy::Node& node) {
    using simplipy::Op;
    if (node.op == Op::number) return to_double(node.decimal());
    if (node.op == Op::pi) return 3.141592653589793238462643383279502884;
    if (node.op == Op::e) return 2.718281828459045235360287471352662498;
    return std::numeric_limits<double>::quiet_NaN();
}

Screen::Screen(FitRows rows) : rows_(std::move(rows)) {
    ranks_ = centred_ranks({rows_.target(), rows_.n()});
    spread_ = std::inner_product(ranks_.begin(), ranks_.end(), ranks_.begin(), 0.0);
}

double Screen::rank_correlation(std::span<const double> values) const {
    const std::vector<double> ranks = centred_ranks(values);
    const double spread = std::inner_product(ranks.begin(), ranks.end(), ranks.begin(), 0.0);
    if (!(spread > 0.0) || !(spread_ > 0.0)) return 0.0;
    return std::inner_product(ranks.begin(), ranks.end(), ranks_.begin(), 0.0) / std::sqrt(spread * spread_);
}

Glance::Glance(const Screen& screen) : rows_(screen.rows()), kernels_(simplipy::active_kernels()) {
    const std::size_t n = rows_.n_padded();
    double total = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        const double root = rows_.root_weights()[i];
        weights_.push_back(root * root);
        total += root * root;
    }
    for (double& weight : weights_) weight /= total;
    for (std::size_t i = 0; i < n; ++i) target_mean_ += weights_[i] * rows_.target()[i];
    for (std::size_t i = 0; i < n; ++i) {
        const double difference = rows_.target()[i] - target_mean_;
        target_spread_ += weights_[i] * difference * difference;
    }
}

double Glance::affine_cost(std::span<const simplipy::Node> postfix) {
    using simplipy::Op;
    const std::size_t n = rows_.n_padded();
    stack_.reserve((postfix.size() + 1) * n);
    std::size_t depth = 0;
    for (const simplipy::Node& node : postfix) {
        double* top = stack_.data() + depth * n;
        if (node.op == Op::variable) {
            std::copy_n(rows_.column(static_cast<std::size_t>(node.payload) - 1), n, top);
            ++depth;
        } else if (arity(node.op) == 0) {
            std::fill_n(top, n, node.op == Op::constant ? std::bit_cast<double>(node.payload) : literal_value(node));
            ++depth;
        } else if (arity(node.op) == 1) {
            kernels_.unary[index(node.op)](n, top - n, top - n);
        } else {
            kernels_.binary[index(node.op)][0](n, top - 2 * n, top - n, top - 2 * n);
            --depth;
        }
    }
    const double* values = stack_.data();
    double mean = 0.0;
    for (std::size_t i = 0; i < n; ++i) mean += weights_[i] * values[i];
    double spread = 0.0;
    double product = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        const double difference = values[i] - mean;
        spread += weights_[i] * difference * difference;
        product += weights_[i] * difference * (rows_.target()[i] - target_mean_);
    }
    if (!std::isfinite(spread)) return infinity;
    return spread > 0.0 ? target_spread_ - product * product / spread : target_spread_;
}

// The nonlinear parameters as the starts say; whether all are known.
bool Screener::set_point(std::span<const double> constants) {
    point_.clear();
    bool known = true;
    for (const simplipy::Nonlinear& nonlinear : program_.nonlinear) {
        double value = constants[nonlinear.parameter];
        if (nonlinear.is_log) value = value > 0.0 ? std::log(value) : std::numeric_limits<double>::quiet_NaN();
        known = known && std::isfinite(value);
        point_.push_back(value);
    }
    return known;
}

// The best of a few draws of what is not known, in the natural units of the data.
double Screener::solve_from_draws(Random& random) {
    const std::vector<double> given = point_;
    std::vector<double> best = units_;
    double lowest = infinity;
    for (std::size_t k = 0; k < n_draws; ++k) {
        for (std::size_t j = 0; j < point_.size(); ++j) {
            if (std::isfinite(given[j])) continue;
            const double sign = k % 2 == 0 ? 1.0 : -1.0;
            const double size = k < 2 ? 1.0 : std::pow(10.0, random.uniform(-1.5, 1.5));
            point_[j] = sign * size * units_[j];
        }
        const double cost = model_.solve(point_.data());
        if (cost < lowest) {
            lowest = cost;
            best = point_;
        }
    }
    point_ = best;
    return model_.solve(point_.data());
}

std::vector<double> Screener::fitted_values() {
    const FitRows& rows = screen_.rows();
    const double* residual = model_.residual_column();
    std::vector<double> values(rows.n());
    for (std::size_t i = 0; i < rows.n(); ++i) {
        const double weight = rows.root_weights()[i];
        values[i] = weight > 0.0 ? rows.target()[i] - residual[i] / weight : rows.target()[i];
    }
    return values;
}

Screened Screener::run(const simplipy::Tree& tree, std::vector<double> constants, double limit, double promising,
                       Random& random, simplipy::Watch& watch) {
    std::vector<std::int64_t> columns;
    for (const std::int64_t code : variable_codes(tree)) columns.push_back(code - 1);
    fit_tree_ = make_fit_tree(tree, columns, constants.size());
    program_ = compile_fit(fit_tree_, tree.size() - 1, true);
    model_.bind(program_, screen_.rows());
    const std::size_t q = program_.nonlinear.size();
    Screened result;
    const bool known = set_point(constants);
    units_.assign(q, 1.0);
    normal_units_.assign(q, 1.0);
    if (q > 0) model_.natural_units(units_, normal_units_);
    result.cost = known ? model_.solve(point_.data()) : solve_from_draws(random);
    if (q > 0 && result.cost <= promising && result.cost > simplipy::good_as_perfect) {
        const simplipy::DescentLimits limits{.n_steps = n_steps_, .progress = 1e-4};
        result.cost = levenberg_.descend(model_, point_, units_, {}, limits, watch);
        result.descended = true;
    }
    if (!(result.cost <= limit)) {
        if (!(result.cost >= 0.0)) result.cost = infinity;
        return result;
    }
    program_.recover(model_.linear(), point_, constants);
    const bool finite = std::all_of(constants.begin(), constants.end(), [](double v) { return std::isfinite(v); });
    if (!finite) result.cost = infinity;
    result.constants = std::move(constants);
    result.rank_correlation = screen_.rank_correlation(fitted_values());
    return result;
}

}  // namespace flash_ansr
