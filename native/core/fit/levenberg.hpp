// Levenberg-Marquardt over the nonlinear parameters of a model whose linear ones are solved exactly.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "core/base/watch.hpp"
#include "model.hpp"

namespace simplipy {

// Why a descent ended. `perfect`: what is left is rounding. `abandoned`: it cannot beat the cost to beat.
enum class Stop { converged, perfect, budget, abandoned, undefined, deadline };

struct DescentLimits {
    std::size_t n_steps = 50;
    double perfect = 1e-28;
    double progress = 1e-10;   // relative progress of a step below which the descent has converged
    double damping = 1e-3;     // of the first step
    bool may_abandon = false;  // for the search: whether it sets the next
    double cost_to_beat = std::numeric_limits<double>::infinity();  // a slow descent above it is abandoned
    std::size_t patience = 5;                                       // steps before that
};

struct Bounds {
    std::vector<double> low;  // by nonlinear parameter; empty = none
    std::vector<double> high;
};

class Levenberg {
  public:
    // Improves `point` (nonlinear parameters) in place and returns its cost. `units`: natural sizes of the parameters.
    double descend(FitModel& model, std::span<double> point, std::span<const double> units, const Bounds& bounds,
                   const DescentLimits& limits, Watch& watch);

    Stop stop() const { return stop_; }

  private:
    struct Descent;
    Stop run(Descent& at);
    std::optional<Stop> prepare(Descent& at);
    bool step(Descent& at);
    void start(std::size_t q);
    void propose(FitModel& model, double damping);
    double clip(std::span<const double> point, std::span<const double> units, const Bounds& bounds);
    double predicted_cost(FitModel& model, double cost) const;
    void mark_blocked(FitModel& model, std::span<const double> point, const Bounds& bounds);
    void mark_superfluous(FitModel& model);

    Stop stop_ = Stop::converged;
    std::vector<double> scale_;  // largest norm so far of each derivative
    std::vector<double> step_;
    std::vector<double> trial_;
    std::vector<double> triangle_;
    std::vector<double> rhs_;
    std::vector<double> row_;
    std::vector<bool> blocked_;  // does not move in this step
};

// Solves min |R x - b|^2 + |diagonal x|^2 for an upper triangular R (q x q, row by row) by Givens rotations; R and b
// are overwritten. A direction without any weight gets 0.
void solve_damped(std::size_t q, std::span<double> r, std::span<double> b, std::span<const double> diagonal,
                  std::span<double> row, std::span<double> x);

}  // namespace simplipy
