// The backward sweep: derivatives of the residuals by the nonlinear parameters, as columns of the matrix.

#include <algorithm>
#include <cmath>
#include <limits>

#include "model.hpp"

namespace simplipy {

double* FitModel::adjoint(Ref ref) {
    const std::size_t i = ref.kind == Ref::Kind::block ? ref.index : program_->n_blocks + ref.index;
    return adjoints_.data() + i * block_;
}

void FitModel::seed(Ref ref, double seed_value, bool adds, std::size_t n) {
    if (!ref.active()) return;
    double* out = adjoint(ref);
    if (!adds) {
        vectors_.fill(n, seed_value, out);
    } else {
        for (std::size_t i = 0; i < n; ++i) out[i] += seed_value;
    }
}

template <class Kernel>
void FitModel::send(Ref to, bool adds, std::size_t n, const Kernel& kernel) {
    if (!adds) {
        kernel(adjoint(to));
        return;
    }
    double* spare = adjoints_.data() + (program_->n_blocks + program_->n_scalars) * block_;
    kernel(spare);
    vectors_.add(n, spare, adjoint(to));
}

void FitModel::backward_step(const FitStep& step, std::size_t start, std::size_t n) {
    const double* a = value(step.a, start);
    const double* b = value(step.b, start);
    const double* v = value(step.out, start);
    const double* g = adjoint(step.out);
    const std::size_t op = index(step.op);
    const std::size_t shape = static_cast<std::size_t>(step.shape);
    if (arity(step.op) == 1) {
        send(step.a, step.a_adds, n, [&](double* out) { kernels_.unary_adjoint[op](n, a, v, g, out); });
        return;
    }
    if (step.a.active())
        send(step.a, step.a_adds, n, [&](double* out) { kernels_.left_adjoint[op][shape](n, a, b, v, g, out); });
    if (step.b.active())
        send(step.b, step.b_adds, n, [&](double* out) { kernels_.right_adjoint[op][shape](n, a, b, v, g, out); });
}

// The adjoint of a scalar is a block, one entry a row; its local derivative is one number.
void FitModel::backward_scalar_step(const FitStep& step, std::size_t n) {
    const double* a = value(step.a, 0);
    const double* b = value(step.b, 0);
    const double* v = value(step.out, 0);
    const double* g = adjoint(step.out);
    double* one = scalars_.data() + program_->n_scalars * lane_count;
    double* slope = one + lane_count;
    std::fill_n(one, lane_count, 1.0);
    const std::size_t op = index(step.op);
    const auto times = [&](double* out) {
        kernels_.binary[index(Op::mul)][static_cast<std::size_t>(Shape::block_number)](n, g, slope, out);
    };
    if (arity(step.op) == 1) {
        kernels_.unary_adjoint[op](lane_count, a, v, one, slope);
        send(step.a, step.a_adds, n, times);
        return;
    }
    if (step.a.active()) {
        kernels_.left_adjoint[op][0](lane_count, a, b, v, one, slope);
        send(step.a, step.a_adds, n, times);
    }
    if (step.b.active()) {
        kernels_.right_adjoint[op][0](lane_count, a, b, v, one, slope);
        send(step.b, step.b_adds, n, times);
    }
}

// Extreme data: adjoints are in the unit of the target, as a linear parameter times a column may leave the range of
// doubles where that over the target does not.
void FitModel::backward(std::size_t start, std::size_t n) {
    const std::size_t k = n_linear();
    const double weight = rows_->extreme() ? rows_->normalisation() / rows_->sizes()[0] : 1.0;
    const int exponent = weight > 0.0 && std::isfinite(weight) ? std::ilogb(weight) : 0;
    const auto in_unit = [&](double value) { return exponent == 0 ? value : std::scalbn(value, exponent); };
    seed(program_->base, in_unit(1.0), program_->base_adds, n);
    for (std::size_t i = 0; i < k; ++i) seed(program_->terms[i].basis, in_unit(linear_[i]), program_->terms[i].adds, n);
    for (auto step = program_->code.rbegin(); step != program_->code.rend(); ++step) backward_step(*step, start, n);
    for (auto step = program_->scalar_code.rbegin(); step != program_->scalar_code.rend(); ++step)
        backward_scalar_step(*step, n);
    for (std::size_t j = 0; j < n_nonlinear(); ++j) {
        const double* slope = adjoint({Ref::Kind::scalar, static_cast<std::uint32_t>(j)});
        const double* weights = rows_->root_weights() + start;
        double* out = matrix_column(k + j) + start;
        if (!program_->reached[j]) {
            std::fill_n(out, n, 0.0);
        } else if (exponent != 0) {
            for (std::size_t i = 0; i < n; ++i) out[i] = slope[i] * std::scalbn(weights[i], -exponent);
        } else {
            vectors_.weigh(n, slope, weights, out);
        }
    }
}

// The backward sweep over all rows; values of one block are still there from the forward pass.
void FitModel::sweep(bool with_bases) {
    const bool one_block = block_ == stride_;
    for (std::size_t start = 0; start < stride_; start += block_) {
        const std::size_t n = std::min(block_, stride_ - start);
        if (!one_block) run_steps(program_->code, start, n);
        for (std::size_t i = 0; with_bases && i < n_linear(); ++i) write_basis(i, start, n);
        backward(start, n);
    }
}

// Far out, a saturated value stands on intermediates that overflow: 1/cosh(c*x) is 0, and its derivative 0 * inf. It is
// 0 there; what is left beyond the range of doubles is no derivative at all.
void FitModel::mend_derivative(std::size_t i) {
    double* column = matrix_column(i);
    if (std::isfinite(vectors_.dot(stride_, column, column))) return;
    const double limit = rows_->extreme() ? std::numeric_limits<double>::infinity() : 1e150;
    for (std::size_t row = 0; row < stride_; ++row)
        if (!(std::fabs(column[row]) < limit)) column[row] = 0.0;
}

bool FitModel::differentiate() {
    sweep(false);
    const std::size_t k = n_linear();
    for (std::size_t j = 0; j < n_nonlinear(); ++j) {
        mend_derivative(k + j);
        orthogonalise(k + j);
        if (!std::isfinite(norms_[k + j])) return false;
        components_[k + j] = vectors_.dot(stride_, matrix_column(k + j), residual_column());
    }
    return true;
}

bool FitModel::differentiate_all() {
    sweep(true);
    for (std::size_t j = 0; j < n_nonlinear(); ++j) mend_derivative(n_linear() + j);
    const auto is_defined = [&](std::size_t i) {
        const double* column = matrix_column(i);
        if (!rows_->extreme()) return std::isfinite(vectors_.dot(stride_, column, column));
        return std::all_of(column, column + stride_, [](double v) { return std::isfinite(v); });
    };
    for (std::size_t i = 0; i < n_parameters(); ++i)
        if (!is_defined(i)) return false;
    return true;
}

}  // namespace simplipy
