// A compiled tree on a set of rows: residuals with the linear parameters solved exactly, and the Jacobian of the
// nonlinear ones in the space that is left (variable projection with Kaufman's approximation).
//
// Columns of one matrix, orthogonalised from left to right by modified Gram-Schmidt: the bases of the linear
// parameters, the derivatives by the nonlinear ones, the residual. R holds the triangle.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "core/base/aligned.hpp"
#include "core/evaluate/kernels.hpp"
#include "core/evaluate/vectors.hpp"
#include "program.hpp"
#include "rows.hpp"

namespace simplipy {

class FitModel {
  public:
    FitModel();

    // Loads columns and computes what depends on data alone. Both must outlive the model's use.
    void bind(const FitProgram& program, const FitRows& rows);

    std::size_t n_linear() const { return program_->terms.size(); }
    std::size_t n_nonlinear() const { return program_->nonlinear.size(); }
    std::size_t n_parameters() const { return n_linear() + n_nonlinear(); }
    const FitProgram& program() const { return *program_; }
    const FitRows& rows() const { return *rows_; }

    // Solves for the linear parameters at these nonlinear ones and returns the sum of squares, NaN where undefined.
    double solve(const double* nonlinear);

    // The sum of squares at given linear and nonlinear parameters, nothing solved. It and differentiate_all() write
    // over the bases: bind() again before the next solve().
    double residual(const double* nonlinear, const double* linear);

    // The values of a program without parameters on all rows, padded ones too.
    void base_values(std::span<double> out) const;

    // Values that depend on data alone, by register of the program, and numbers.
    const double* column(std::size_t i) const { return columns_.data() + i * stride_; }
    double number(Ref ref) const { return scalars_.data()[ref.index * lane_count]; }

    // Derivatives at the parameters of the last solve(), orthogonalised behind the bases; false if not finite.
    bool differentiate();

    // Derivatives by all parameters, not orthogonalised: columns 0 .. n_parameters()-1.
    bool differentiate_all();

    std::span<const double> linear() const { return linear_; }
    double* matrix_column(std::size_t i) { return matrix_.data() + i * stride_; }
    double* residual_column() { return matrix_column(n_parameters()); }
    double& r(std::size_t row, std::size_t column) { return triangle_[row * n_parameters() + column]; }
    double column_norm(std::size_t i) const { return norms_[i]; }  // before orthogonalisation
    // components of the residual along the orthogonalised derivatives
    double component(std::size_t j) const { return components_[n_linear() + j]; }
    bool full_rank() const { return full_rank_; }

    // Natural units of the nonlinear parameters, from the size of what each of them meets: 1/rms(u) in c*u, rms(u) in
    // c + u; `normal_units` are those in which N(0, 5) is N(0, 5) for u of size 10, the paper's prior.
    void natural_units(std::span<double> units, std::span<double> normal_units);

    // How fast each row's arguments of functions move as the parameters grow from this point; 0 where there are none.
    void row_rates(std::span<const double> point, std::span<double> rates);

    std::size_t n_evaluations() const { return n_evaluations_; }
    void reset_evaluations() { n_evaluations_ = 0; }
    // Counts those of a model on fewer rows as its own.
    void count_evaluations(FitModel& other) { n_evaluations_ += std::exchange(other.n_evaluations_, 0); }

    // Orthogonalises column i behind columns 0 .. i-1 and stores its part of R. Extreme data are scaled by a power of
    // two meanwhile, so that squares stay in the range of doubles; other columns beyond it are undefined.
    void orthogonalise(std::size_t i);

  private:
    static constexpr std::size_t max_block = 256;

    const double* value(Ref ref, std::size_t start) const;
    double* adjoint(Ref ref);
    void run_steps(const std::vector<FitStep>& code, std::size_t start, std::size_t n);
    void run_step(const FitStep& step, std::size_t start, std::size_t n);
    void set_scalars(const double* nonlinear);
    void forward(std::size_t start, std::size_t n);
    void collect(std::size_t start, std::size_t n);
    void backward(std::size_t start, std::size_t n);
    void backward_step(const FitStep& step, std::size_t start, std::size_t n);
    void backward_scalar_step(const FitStep& step, std::size_t n);
    void seed(Ref ref, double value, bool adds, std::size_t n);
    template <class Kernel>
    void send(Ref to, bool adds, std::size_t n, const Kernel& kernel);
    void write_basis(std::size_t i, std::size_t start, std::size_t n);
    void prepare_fixed();
    int balance(double* column);
    void mend_derivative(std::size_t i);
    void sweep(bool with_bases);
    double settle();

    const Kernels& kernels_;
    const VectorKernels& vectors_;
    const FitProgram* program_ = nullptr;
    const FitRows* rows_ = nullptr;
    std::size_t stride_ = 0;  // rows, padded
    std::size_t block_ = 0;
    AlignedBuffer columns_;
    AlignedBuffer scalars_;
    AlignedBuffer blocks_;
    AlignedBuffer adjoints_;  // of blocks, then of scalars, then a spare
    AlignedBuffer matrix_;
    AlignedBuffer fixed_residual_;
    std::vector<double> rates_;
    std::vector<double> triangle_;
    std::vector<double> norms_;
    std::vector<double> components_;
    std::vector<double> linear_;
    bool full_rank_ = true;
    bool fixed_rank_ = true;
    std::size_t n_evaluations_ = 0;
};

}  // namespace simplipy
