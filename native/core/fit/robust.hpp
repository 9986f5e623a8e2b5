// Objectives that count large residuals by their size, not by its square: Huber's and log cosh. Both equal the square
// for small residuals. The descent is Levenberg-Marquardt over all parameters on squares that are reweighted in each
// step; a step is taken only if the objective itself falls.
#pragma once

#include <span>
#include <vector>

#include "core/base/watch.hpp"
#include "fit.hpp"
#include "levenberg.hpp"
#include "model.hpp"

namespace simplipy {

// The objective of one residual in units of its size, and its weight rho'(u) / (2 u).
double robust_loss(Objective objective, double threshold, double u);
double robust_weight(Objective objective, double threshold, double u);

class RobustDescent {
  public:
    RobustDescent(Objective objective, double threshold) : objective_(objective), threshold_(threshold) {}

    // Improves both in place and returns the weighted sum of losses. The model needs bind() afterwards.
    double descend(FitModel& model, std::span<double> nonlinear, std::span<double> linear,
                   std::span<const double> units, const Bounds& bounds, Watch& watch);

  private:
    double objective(FitModel& model) const;
    void reweigh(FitModel& model) const;

    Objective objective_;
    double threshold_;
};

}  // namespace simplipy
