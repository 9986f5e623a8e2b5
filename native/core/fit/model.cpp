#include "model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace simplipy {
namespace {

using Kind = Ref::Kind;

constexpr double rank_tolerance = 1e-13;

double rms(const double* values, std::size_t n) {
    double largest = 0.0;
    for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, std::fabs(values[i]));
    if (!(largest > 0.0) || !std::isfinite(largest)) return 1.0;
    double sum = 0.0;
    for (std::size_t i = 0; i < n; ++i) sum += (values[i] / largest) * (values[i] / largest);
    return sum == sum ? largest * std::sqrt(sum / static_cast<double>(n)) : 1.0;
}

}  // namespace

FitModel::FitModel() : kernels_(active_kernels()), vectors_(active_vector_kernels()) {}

void FitModel::bind(const FitProgram& program, const FitRows& rows) {
    program_ = &program;
    rows_ = &rows;
    stride_ = rows.n_padded();
    block_ = std::min(max_block, stride_);
    const std::size_t p = n_parameters();
    columns_.reserve(program.n_columns * stride_);
    scalars_.reserve((program.n_scalars + 2) * lane_count);
    blocks_.reserve(program.n_blocks * block_);
    adjoints_.reserve((program.n_blocks + program.n_scalars + 1) * block_);
    matrix_.reserve((p + 1) * stride_);
    fixed_residual_.reserve(stride_);
    triangle_.assign(p * p, 0.0);
    norms_.assign(p, 0.0);
    components_.assign(p, 0.0);
    linear_.assign(n_linear(), 0.0);

    for (std::size_t i = 0; i < program.literals.size(); ++i) {
        const double v = program.literals[i];
        std::fill_n(scalars_.data() + (program.nonlinear.size() + i) * lane_count, lane_count, v);
    }
    for (const FitStep& step : program.number_code) run_step(step, 0, lane_count);
    for (std::size_t i = 0; i < program.variables.size(); ++i)
        std::copy_n(rows.column(program.variables[i]), stride_, columns_.data() + i * stride_);
    for (std::size_t start = 0; start < stride_; start += block_)
        run_steps(program.column_code, start, std::min(block_, stride_ - start));
    prepare_fixed();
}

// Where a reference's values of the rows from `start` on stand.
const double* FitModel::value(Ref ref, std::size_t start) const {
    switch (ref.kind) {
        case Kind::column:
            return columns_.data() + ref.index * stride_ + start;
        case Kind::block:
            return blocks_.data() + ref.index * block_;
        default:
            return scalars_.data() + ref.index * lane_count;
    }
}

void FitModel::run_step(const FitStep& step, std::size_t start, std::size_t n) {
    double* out = const_cast<double*>(value(step.out, start));
    if (arity(step.op) == 1) {
        kernels_.unary[index(step.op)](n, value(step.a, start), out);
    } else {
        kernels_.binary[index(step.op)][static_cast<std::size_t>(step.shape)](n, value(step.a, start),
                                                                              value(step.b, start), out);
    }
}

void FitModel::run_steps(const std::vector<FitStep>& code, std::size_t start, std::size_t n) {
    for (const FitStep& step : code) run_step(step, start, n);
}

void FitModel::set_scalars(const double* nonlinear) {
    for (std::size_t j = 0; j < n_nonlinear(); ++j)
        std::fill_n(scalars_.data() + j * lane_count, lane_count, nonlinear[j]);
    run_steps(program_->scalar_code, 0, lane_count);
}

void FitModel::write_basis(std::size_t i, std::size_t start, std::size_t n) {
    const Ref basis = program_->terms[i].basis;
    const double* weights = rows_->root_weights() + start;
    double* out = matrix_column(i) + start;
    if (basis.kind == Kind::none) {
        std::copy_n(weights, n, out);
    } else if (basis.is_scalar()) {
        kernels_.binary[index(Op::mul)][static_cast<std::size_t>(Shape::block_number)](n, weights, value(basis, start),
                                                                                       out);
    } else {
        vectors_.weigh(n, value(basis, start), weights, out);
    }
}

// The target less the base, into the column of the residual.
void FitModel::collect(std::size_t start, std::size_t n) {
    const Ref base = program_->base;
    const double* target = rows_->target() + start;
    const double* weights = rows_->root_weights() + start;
    double* out = residual_column() + start;
    if (base.kind == Kind::none) {
        vectors_.weigh(n, target, weights, out);
    } else if (base.is_scalar()) {
        kernels_.binary[index(Op::sub)][static_cast<std::size_t>(Shape::block_number)](n, target, value(base, start),
                                                                                       out);
        vectors_.weigh(n, out, weights, out);
    } else {
        vectors_.weigh_difference(n, target, value(base, start), weights, out);
    }
}

// Bases that do not depend on parameters are orthogonalised once, and the target's part along them is taken out once.
void FitModel::prepare_fixed() {
    full_rank_ = true;
    for (std::size_t i = 0; i < program_->n_fixed; ++i) {
        write_basis(i, 0, stride_);
        orthogonalise(i);
    }
    fixed_rank_ = full_rank_;
    if (program_->base.active()) return;
    collect(0, stride_);
    for (std::size_t i = 0; i < program_->n_fixed; ++i) {
        components_[i] = vectors_.dot(stride_, matrix_column(i), residual_column());
        vectors_.subtract_multiple(stride_, components_[i], matrix_column(i), residual_column());
    }
    std::copy_n(residual_column(), stride_, fixed_residual_.data());
}

// Divides a column by a power of two where its squares may leave the range of doubles, and returns the exponent.
int FitModel::balance(double* column) {
    if (!rows_->extreme()) return 0;
    double largest = 0.0;
    for (std::size_t row = 0; row < stride_; ++row) largest = std::max(largest, std::fabs(column[row]));
    if (largest == 0.0 || !std::isfinite(largest)) return 0;
    const int exponent = std::ilogb(largest);
    for (std::size_t row = 0; row < stride_; ++row) column[row] = std::scalbn(column[row], -exponent);
    return exponent;
}

void FitModel::orthogonalise(std::size_t i) {
    double* column = matrix_column(i);
    const int exponent = balance(column);
    const double before = std::sqrt(vectors_.dot(stride_, column, column));
    norms_[i] = std::scalbn(before, exponent);
    for (std::size_t j = 0; j < i; ++j) r(j, i) = 0.0;
    double norm = before;
    for (int pass = 0; pass < 2; ++pass) {
        const double start = norm;
        for (std::size_t j = 0; j < i; ++j) {
            if (r(j, j) == 0.0) continue;
            const double part = vectors_.dot(stride_, matrix_column(j), column);
            vectors_.subtract_multiple(stride_, part, matrix_column(j), column);
            r(j, i) += part;
        }
        norm = std::sqrt(vectors_.dot(stride_, column, column));
        if (norm > 0.3 * start) break;  // no digits were lost: a second pass would change nothing
    }
    for (std::size_t j = 0; exponent != 0 && j < i; ++j) r(j, i) = std::scalbn(r(j, i), exponent);
    if (!std::isfinite(before)) {  // undefined or overflown: so is the residual, then
        r(i, i) = before;
        std::fill_n(column, stride_, std::numeric_limits<double>::quiet_NaN());
        return;
    }
    if (!(norm > rank_tolerance * before)) {
        std::fill_n(column, stride_, 0.0);
        full_rank_ = false;
        r(i, i) = 0.0;
        return;
    }
    r(i, i) = std::scalbn(norm, exponent);
    vectors_.scale(stride_, 1.0 / norm, column);
}

void FitModel::forward(std::size_t start, std::size_t n) {
    run_steps(program_->code, start, n);
    for (std::size_t i = program_->n_fixed; i < n_linear(); ++i) write_basis(i, start, n);
    if (program_->base.active()) collect(start, n);
}

double FitModel::solve(const double* nonlinear) {
    ++n_evaluations_;
    set_scalars(nonlinear);
    for (std::size_t start = 0; start < stride_; start += block_) forward(start, std::min(block_, stride_ - start));
    if (!program_->base.active()) std::copy_n(fixed_residual_.data(), stride_, residual_column());
    return settle();
}

// Linear parameters and residual from the collected columns.
double FitModel::settle() {
    const std::size_t k = n_linear();
    double* residual = residual_column();
    full_rank_ = fixed_rank_;
    const std::size_t first = program_->base.active() ? 0 : program_->n_fixed;
    for (std::size_t i = program_->n_fixed; i < k; ++i) orthogonalise(i);
    for (std::size_t i = first; i < k; ++i) {
        components_[i] = vectors_.dot(stride_, matrix_column(i), residual);
        vectors_.subtract_multiple(stride_, components_[i], matrix_column(i), residual);
    }
    for (std::size_t i = k; i-- > 0;) {
        double sum = components_[i];
        for (std::size_t j = i + 1; j < k; ++j) sum -= r(i, j) * linear_[j];
        linear_[i] = r(i, i) == 0.0 ? 0.0 : sum / r(i, i);
    }
    return vectors_.dot(stride_, residual, residual);
}

double FitModel::residual(const double* nonlinear, const double* linear) {
    ++n_evaluations_;
    set_scalars(nonlinear);
    double* out = residual_column();
    for (std::size_t start = 0; start < stride_; start += block_) {
        const std::size_t n = std::min(block_, stride_ - start);
        run_steps(program_->code, start, n);
        collect(start, n);
        for (std::size_t i = 0; i < n_linear(); ++i) {
            write_basis(i, start, n);
            vectors_.subtract_multiple(n, linear[i], matrix_column(i) + start, out + start);
        }
    }
    std::copy_n(linear, n_linear(), linear_.begin());
    return vectors_.dot(stride_, out, out);
}

void FitModel::base_values(std::span<double> out) const {
    const double* values = value(program_->base, 0);
    if (program_->base.is_scalar()) {
        std::fill(out.begin(), out.end(), *values);
    } else {
        std::copy_n(values, out.size(), out.begin());
    }
}

void FitModel::natural_units(std::span<double> units, std::span<double> normal_units) {
    constexpr double paper_size = 10.0;  // of a column of the paper's prior
    const std::size_t q = n_nonlinear();
    std::vector<bool> known(q);
    std::fill(units.begin(), units.end(), 1.0);
    std::fill(normal_units.begin(), normal_units.end(), 1.0);
    for (const FitStep& step : program_->scalar_code)
        for (const Ref ref : {step.a, step.b})
            if (ref.kind == Kind::scalar && ref.index < q) known[ref.index] = true;
    set_scalars(units.data());
    for (const FitStep& step : program_->code) {
        for (const bool left : {true, false}) {
            const Ref own = left ? step.a : step.b;
            if (arity(step.op) != 2 || own.kind != Kind::scalar || own.index >= q || known[own.index]) continue;
            known[own.index] = true;
            const double size = rms(value(left ? step.b : step.a, 0), block_);
            double unit = 1.0;
            double normal_unit = 1.0;
            if (step.op == Op::mul) {
                unit = 1.0 / size;
                normal_unit = paper_size / size;
            } else if (step.op != Op::pow) {
                unit = size;
                normal_unit = size / paper_size;
            }
            units[own.index] = unit;
            normal_units[own.index] = normal_unit;
            std::fill_n(scalars_.data() + own.index * lane_count, lane_count, unit);
        }
        run_step(step, 0, block_);
    }
}

}  // namespace simplipy
