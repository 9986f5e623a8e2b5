// A tree compiled for fitting. Its value is base + sum of coefficient_i * basis_i: the coefficients are the parameters
// that enter linearly, base and basis depend on the other, nonlinear ones. A value that depends on data alone is
// computed once for a set of rows (columns), what depends on parameters alone once for all rows (scalars), the rest in
// blocks.
//
// Parameters are the tree's free constants, in prefix order, then the variables that the caller declares to be
// parameters. `pow(c, u)` with a free base is exp(k*u): a parameter marked `is_log` is the logarithm k.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/evaluate/kernels.hpp"
#include "fit_tree.hpp"

namespace simplipy {

struct Ref {
    enum class Kind : std::uint8_t { none, number, scalar, column, block };
    Kind kind = Kind::none;
    std::uint32_t index = 0;  // numbers and scalars share one file of registers

    bool active() const { return kind == Kind::scalar || kind == Kind::block; }
    bool is_scalar() const { return kind == Kind::number || kind == Kind::scalar; }
    friend bool operator==(const Ref&, const Ref&) = default;
};

struct FitStep {
    Op op = Op::nan;
    Shape shape = Shape::block_block;
    Ref a;
    Ref b;
    Ref out;
    bool a_adds = false;  // in the backward sweep: this is not the first contribution to the adjoint of a
    bool b_adds = false;
};

// coefficient * factor * basis, with basis 1 where the reference is none. In a*(b + c*u) both a and c are linear: the
// coefficient of c is the product a*c, and its parent is a.
struct LinearTerm {
    std::uint32_t parameter = 0;
    std::int32_t parent = -1;  // a parameter, or none
    double factor = 1.0;
    Ref basis;
    bool adds = false;
};

struct Nonlinear {
    std::uint32_t parameter = 0;
    bool is_log = false;
    bool is_affine = false;  // while all else is fixed, the value is affine in it; told only where nothing is projected
};

struct FitProgram {
    std::vector<Nonlinear> nonlinear;      // scalar registers 0 .. nonlinear.size()-1
    std::vector<double> literals;          // the registers after those
    std::vector<std::uint32_t> variables;  // columns of the data that fill column registers 0 ..
    std::size_t n_scalars = 0;
    std::size_t n_columns = 0;
    std::size_t n_blocks = 0;
    std::vector<FitStep> number_code;  // once
    std::vector<FitStep> column_code;  // once for a set of rows
    std::vector<FitStep> scalar_code;  // for each vector of parameters
    std::vector<FitStep> code;         // and over each block of rows
    Ref base;                          // none = 0
    bool base_adds = false;
    std::vector<LinearTerm> terms;  // those whose basis is fixed for a set of rows come first
    std::size_t n_fixed = 0;
    std::vector<bool> reached;  // scalar registers that the backward sweep writes

    // The parameters that what the model fits stands for: multiples of the bases, and nonlinear ones.
    void recover(std::span<const double> linear, std::span<const double> nonlinear, std::span<double> parameters) const;
    std::size_t term_of(std::int32_t parameter) const;

    // The same the other way round: all parameters as nonlinear ones; NaN where a parameter is not known.
    std::vector<std::vector<double>> starts(std::span<const std::vector<double>> parameters) const;
};

// How many parameters the subtree that ends at node `root` is jointly affine in.
std::size_t n_linear_parameters(const FitTree& tree, std::size_t root);

// The program of the subtree that ends at node `root`; `project` = false makes every parameter a nonlinear one.
FitProgram compile_fit(const FitTree& tree, std::size_t root, bool project);

}  // namespace simplipy
