#include "sieve.hpp"

#include <algorithm>
#include <cmath>

namespace simplipy {
namespace {

using Kind = Ref::Kind;

}  // namespace

FitSieve::FitSieve() : kernels_(active_kernels()), vectors_(active_vector_kernels()) {}

double* FitSieve::values(Ref ref) {
    std::size_t at = ref.index;
    if (ref.kind == Kind::column) at += program_->n_scalars;
    if (ref.kind == Kind::block) at += program_->n_scalars + program_->n_columns;
    return registers_.data() + at * size_;
}

void FitSieve::bind(const FitModel& model, std::span<const std::uint32_t> rows, std::span<const double> weights) {
    program_ = &model.program();
    extreme_ = model.rows().extreme();
    n_rows_ = rows.size();
    n_lanes_ = std::max(lane_count, n_values / n_rows_ / lane_count * lane_count);
    size_ = n_rows_ * n_lanes_;
    registers_.reserve((program_->n_scalars + program_->n_columns + program_->n_blocks) * size_);
    points_.reserve(program_->nonlinear.size() * n_lanes_);
    weights_.reserve(size_);
    target_.reserve(size_);
    matrix_.reserve((program_->terms.size() + 1) * size_);
    costs_.reserve(n_lanes_);
    for (std::size_t i = program_->nonlinear.size(); i < program_->n_scalars; ++i) {
        const Ref number{Kind::number, static_cast<std::uint32_t>(i)};
        vectors_.fill(lane_count, model.number(number), values(number));
    }
    const auto spread = [&](const double* from, double* to) {
        for (std::size_t r = 0; r < n_rows_; ++r) vectors_.fill(n_lanes_, from[rows[r]], to + r * n_lanes_);
    };
    for (std::size_t i = 0; i < program_->n_columns; ++i)
        spread(model.column(i), values({Kind::column, static_cast<std::uint32_t>(i)}));
    spread(model.rows().target(), target_.data());
    for (std::size_t r = 0; r < n_rows_; ++r) vectors_.fill(n_lanes_, weights[r], weights_.data() + r * n_lanes_);
}

void FitSieve::run(const FitStep& step) {
    if (arity(step.op) == 1) {
        kernels_.unary[index(step.op)](size_, values(step.a), values(step.out));
        return;
    }
    Shape shape = Shape::block_block;
    if (step.a.kind == Kind::number) shape = Shape::number_block;
    if (step.b.kind == Kind::number) shape = Shape::block_number;
    kernels_.binary[index(step.op)][static_cast<std::size_t>(shape)](size_, values(step.a), values(step.b),
                                                                     values(step.out));
}

void FitSieve::weigh_into(Ref ref, double* out) {
    if (ref.kind == Kind::none) {
        std::copy_n(weights_.data(), size_, out);
    } else if (ref.kind == Kind::number) {
        kernels_.binary[index(Op::mul)][static_cast<std::size_t>(Shape::block_number)](size_, weights_.data(),
                                                                                       values(ref), out);
    } else {
        vectors_.weigh(size_, values(ref), weights_.data(), out);
    }
}

// Divides the column of each start by a power of two, so that its squares stay in the range of doubles.
void FitSieve::balance(double* column) {
    for (std::size_t lane = 0; lane < n_lanes_; ++lane) {
        double largest = 0.0;
        for (std::size_t at = lane; at < size_; at += n_lanes_) largest = std::max(largest, std::fabs(column[at]));
        if (largest == 0.0 || !std::isfinite(largest)) continue;
        const int exponent = std::ilogb(largest);
        for (std::size_t at = lane; at < size_; at += n_lanes_) column[at] = std::scalbn(column[at], -exponent);
    }
}

std::span<const double> FitSieve::costs() {
    for (std::size_t j = 0; j < program_->nonlinear.size(); ++j)
        for (std::size_t r = 0; r < n_rows_; ++r)
            std::copy_n(parameter(j), n_lanes_, registers_.data() + j * size_ + r * n_lanes_);
    for (const FitStep& step : program_->scalar_code) run(step);
    for (const FitStep& step : program_->code) run(step);
    const std::size_t k = program_->terms.size();
    for (std::size_t i = 0; i < k; ++i) {
        weigh_into(program_->terms[i].basis, matrix_.data() + i * size_);
        if (extreme_) balance(matrix_.data() + i * size_);
    }
    double* residual = matrix_.data() + k * size_;
    const Ref base = program_->base;
    if (base.kind == Kind::none) {
        vectors_.weigh(size_, target_.data(), weights_.data(), residual);
    } else if (base.kind == Kind::number) {
        kernels_.binary[index(Op::sub)][static_cast<std::size_t>(Shape::block_number)](size_, target_.data(),
                                                                                       values(base), residual);
        vectors_.weigh(size_, residual, weights_.data(), residual);
    } else {
        vectors_.weigh_difference(size_, target_.data(), values(base), weights_.data(), residual);
    }
    vectors_.project_lanes(n_rows_, n_lanes_, k, matrix_.data(), costs_.data());
    return {costs_.data(), n_lanes_};
}

}  // namespace simplipy
