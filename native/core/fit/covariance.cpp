#include "covariance.hpp"

#include <algorithm>
#include <cmath>

namespace simplipy {
namespace {

// Of R, upper triangular, row by row.
std::vector<double> inverse_triangle(FitModel& model) {
    const std::size_t p = model.n_parameters();
    std::vector<double> inverse(p * p, 0.0);
    for (std::size_t j = 0; j < p; ++j) {
        inverse[j * p + j] = 1.0 / model.r(j, j);
        for (std::size_t i = j; i-- > 0;) {
            double sum = 0.0;
            for (std::size_t k = i + 1; k <= j; ++k) sum += model.r(i, k) * inverse[k * p + j];
            inverse[i * p + j] = -sum / model.r(i, i);
        }
    }
    return inverse;
}

// Derivatives of the parameters by what the model fits, (n_parameters, n_parameters).
std::vector<double> parameter_slopes(const FitProgram& program, std::span<const double> nonlinear,
                                     std::span<const double> linear) {
    const std::size_t p = program.terms.size() + program.nonlinear.size();
    std::vector<double> slopes(p * p, 0.0);
    for (std::size_t i = 0; i < program.terms.size(); ++i) {
        const LinearTerm& term = program.terms[i];
        double* row = slopes.data() + term.parameter * p;
        row[i] = 1.0 / term.factor;
        if (term.parent < 0) continue;
        const std::size_t parent = program.term_of(term.parent);
        const double scale = linear[parent] / program.terms[parent].factor;
        row[parent] = over_square(-linear[i] / term.factor, scale) / program.terms[parent].factor;
        row[i] /= scale;
    }
    for (std::size_t j = 0; j < program.nonlinear.size(); ++j)
        slopes[program.nonlinear[j].parameter * p + program.terms.size() + j] =
            program.nonlinear[j].is_log ? std::exp(nonlinear[j]) : 1.0;
    return slopes;
}

// Divides values by a power of two, so that the largest is about 1, and returns the exponent.
int balance(std::span<double> values) {
    double largest = 0.0;
    for (const double v : values) largest = std::max(largest, std::fabs(v));
    if (largest == 0.0 || !std::isfinite(largest)) return 0;
    const int exponent = std::ilogb(largest);
    for (double& v : values) v = std::scalbn(v, -exponent);
    return exponent;
}

}  // namespace

std::vector<double> covariance(FitModel& model, std::span<const double> nonlinear, std::span<const double> linear,
                               double variance, double unit) {
    const std::size_t p = model.n_parameters();
    const std::vector<double> inverse = inverse_triangle(model);
    const std::vector<double> slopes = parameter_slopes(model.program(), nonlinear, linear);
    std::vector<double> root(p * p, 0.0);  // slopes * inverse
    for (std::size_t i = 0; i < p; ++i)
        for (std::size_t k = 0; k < p; ++k)
            for (std::size_t j = 0; j < p; ++j) root[i * p + j] += slopes[i * p + k] * inverse[k * p + j];
    std::vector<int> exponents(p);  // of the rows of `root`
    for (std::size_t i = 0; i < p; ++i) exponents[i] = balance({root.data() + i * p, p});
    const int unit_exponent = balance({&unit, 1});
    std::vector<double> result(p * p);
    for (std::size_t i = 0; i < p; ++i)
        for (std::size_t j = 0; j < p; ++j) {
            double sum = 0.0;
            for (std::size_t k = 0; k < p; ++k) sum += root[i * p + k] * root[j * p + k];
            result[i * p + j] =
                std::scalbn(sum * (variance * (unit * unit)), exponents[i] + exponents[j] + 2 * unit_exponent);
        }
    return result;
}

}  // namespace simplipy
