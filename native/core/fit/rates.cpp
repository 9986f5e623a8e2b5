// How fast each row's arguments of functions move with the parameters: an envelope of forward derivatives, in which a
// bounded or periodic function never damps what comes in. Rows that move slowly have few local optima to offer.
#include <algorithm>
#include <cmath>
#include <limits>

#include "model.hpp"

namespace simplipy {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

bool is_transcendental(Op op) { return info(op).has(role::transcendental); }

// A bound of |d op(a) / d a| that ignores saturation.
double unary_slope(Op op, double a, double v) {
    switch (op) {
        case Op::inv:
            return v * v;
        case Op::exp:
        case Op::cosh:
            return std::fabs(v);
        case Op::sinh:
            return std::fabs(v) + 1.0;
        case Op::log:
            return std::fabs(1.0 / a);
        default:
            break;
    }
    const OpInfo& row = info(op);
    const double k = row.literal;
    if (row.form == Form::power) return k * std::fabs(v / a);
    if (row.has(role::root)) return std::fabs(v / (k * a));
    if (row.form == Form::scale) return k;
    if (row.form == Form::quotient) return 1.0 / k;
    return 1.0;
}

double binary_slope(Op op, bool left, double a, double b, double v) {
    switch (op) {
        case Op::mul:
            return std::fabs(left ? b : a);
        case Op::div:
            return std::fabs(left ? 1.0 / b : v / b);
        case Op::pow:
            return std::fabs(left ? b * v / a : v * std::log(std::fabs(a)));
        default:
            return 1.0;
    }
}

}  // namespace

void FitModel::row_rates(std::span<const double> point, std::span<double> rates) {
    const std::size_t n_file = program_->n_scalars + program_->n_blocks;
    rates_.assign(n_file * block_, 0.0);
    const auto rate = [&](Ref ref) {
        return rates_.data() + (ref.kind == Ref::Kind::block ? program_->n_scalars + ref.index : ref.index) * block_;
    };
    std::fill(rates.begin(), rates.end(), 0.0);
    set_scalars(point.data());
    for (std::size_t j = 0; j < n_nonlinear(); ++j)
        std::fill_n(rates_.data() + j * block_, block_, std::fabs(point[j]));
    for (std::size_t start = 0; start < stride_; start += block_) {
        const std::size_t n = std::min(block_, stride_ - start);
        run_steps(program_->code, start, n);
        const auto follow = [&](const FitStep& step) {
            const std::size_t size_a = step.a.is_scalar() ? 0 : 1;
            const std::size_t size_b = step.b.is_scalar() ? 0 : 1;
            const std::size_t size_out = step.out.is_scalar() ? 0 : 1;
            const double* a = value(step.a, start);
            const double* b = value(step.b, start);
            const double* v = value(step.out, start);
            double* out = rate(step.out);
            std::fill_n(out, n, 0.0);
            const bool binary = arity(step.op) == 2;
            if (step.a.active()) {
                const double* in = rate(step.a);
                for (std::size_t i = 0; i < n; ++i) {
                    const double x = a[i * size_a], y = b[i * size_b], z = v[i * size_out];
                    out[i] += in[i] * (binary ? binary_slope(step.op, true, x, y, z) : unary_slope(step.op, x, z));
                    if (is_transcendental(step.op) && !(in[i] <= rates[start + i]))
                        rates[start + i] = std::isfinite(in[i]) ? in[i] : infinity;
                }
            }
            if (binary && step.b.active()) {
                const double* in = rate(step.b);
                for (std::size_t i = 0; i < n; ++i)
                    out[i] += in[i] * binary_slope(step.op, false, a[i * size_a], b[i * size_b], v[i * size_out]);
            }
        };
        for (const FitStep& step : program_->scalar_code) follow(step);
        for (const FitStep& step : program_->code) follow(step);
    }
}

}  // namespace simplipy
