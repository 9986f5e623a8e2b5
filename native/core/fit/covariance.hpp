// The covariance of the parameters at an optimum, from the triangle that stands in the model.
#pragma once

#include <span>
#include <vector>

#include "model.hpp"

namespace simplipy {

// (R^T R)^-1 of what the model fits, in the units of the parameters, times the variance of a residual of weight 1;
// n_parameters squared, row by row. R must be regular.
std::vector<double> covariance(FitModel& model, std::span<const double> nonlinear, std::span<const double> linear,
                               double variance);

}  // namespace simplipy
