// The covariance of the parameters at an optimum, from the triangle that stands in the model.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "model.hpp"

namespace simplipy {

// value / s^2, also where s^2 leaves the range of doubles.
inline double over_square(double value, double s) { return std::isnormal(s * s) ? value / (s * s) : value / s / s; }

// (R^T R)^-1 of what the model fits, in the units of the parameters, times the variance of a residual of weight 1 in
// squares of `unit`; n_parameters squared, row by row. R must be regular.
std::vector<double> covariance(FitModel& model, std::span<const double> nonlinear, std::span<const double> linear,
                               double variance, double unit);

}  // namespace simplipy
