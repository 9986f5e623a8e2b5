// The value of a formula on a few rows: its linear constants solved exactly, the others where they stand, or a few
// steps of Levenberg-Marquardt further. One screener a thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ansr/data/random.hpp"
#include "core/base/aligned.hpp"
#include "core/evaluate/kernels.hpp"
#include "core/expression/tree.hpp"
#include "core/fit/levenberg.hpp"
#include "core/fit/model.hpp"
#include "core/fit/rows.hpp"
#include "core/fit/search.hpp"

namespace flash_ansr {

// Of a number, pi or e; NaN for other leaves.
double literal_value(const simplipy::Node& node);

// Rows, and the ranks of their targets.
class Screen {
  public:
    explicit Screen(simplipy::FitRows rows);

    const simplipy::FitRows& rows() const { return rows_; }

    // Spearman's rank correlation of values (one a row) with the target; 0 where either does not vary.
    double rank_correlation(std::span<const double> values) const;

  private:
    simplipy::FitRows rows_;
    std::vector<double> ranks_;  // of the target, ties averaged, mean 0
    double spread_ = 0.0;        // sum of their squares
};

struct Screened {
    double cost = 0.0;  // fraction of variance unexplained; inf where the formula is undefined on a row
    bool descended = false;
    std::vector<double> constants;
    double rank_correlation = 0.0;  // where the cost is within the limit
};

// A first look at formulas as they are written, without simplification or fit: one pass of the kernels over the rows.
class Glance {
  public:
    explicit Glance(const Screen& screen);

    // Sum of squares that c0 + c1*phi leaves of the target; inf where phi is undefined on a row. Constants have values.
    double affine_cost(std::span<const simplipy::Node> postfix);

  private:
    const simplipy::FitRows& rows_;
    const simplipy::Kernels& kernels_;
    std::vector<double> weights_;  // normalised to the sum 1
    double target_mean_ = 0.0;
    double target_spread_ = 0.0;
    simplipy::AlignedBuffer stack_;
};

class Screener {
  public:
    Screener(const Screen& screen, std::size_t n_steps) : screen_(screen), n_steps_(n_steps) {}

    // `constants` are starts, NaN where unknown. What is `promising` at its start is descended from, and ranked by rank
    // correlation if it ends within `limit`.
    Screened run(const simplipy::Tree& tree, std::vector<double> constants, double limit, double promising,
                 Random& random, simplipy::Watch& watch);

  private:
    bool set_point(std::span<const double> constants);
    double solve_from_draws(Random& random);
    std::vector<double> fitted_values();

    const Screen& screen_;
    std::size_t n_steps_;
    simplipy::FitTree fit_tree_;
    simplipy::FitProgram program_;
    simplipy::FitModel model_;
    simplipy::Levenberg levenberg_;
    std::vector<double> point_;
    std::vector<double> units_;
    std::vector<double> normal_units_;
};

}  // namespace flash_ansr
