// A start from the outside in. y = g(h) with an invertible g and all parameters in h is h = g^-1(y), which has more
// linear parameters than y: exp(c*x + d) becomes linear. A quotient A/B = y at the top is A - y*B = 0, linear in what
// is linear in A or B. The optimum of the unwrapped problem is exact for exact data, and a good start for noisy ones.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/watch.hpp"
#include "model.hpp"
#include "program.hpp"
#include "rows.hpp"
#include "search.hpp"

namespace simplipy {

class Unwrapper {
  public:
    // Values of all parameters, NaN for those that it does not find; nothing where there is nothing to unwrap.
    std::optional<std::vector<double>> start(const FitTree& tree, const FitRows& rows, std::uint64_t seed,
                                             Watch& watch);

    std::size_t n_evaluations() const { return model_.n_evaluations(); }
    void reset_evaluations() { model_.reset_evaluations(); }

  private:
    struct Target {
        std::vector<double> values;  // n_padded
        std::vector<double> sizes;
    };

    bool has_parameters(const FitTree& tree, std::size_t i) const;
    bool peel(const FitTree& tree, const FitRows& rows, std::size_t& node, Target& target);
    bool peel_unary(Op op, Target& target) const;
    void peel_binary(Op op, bool left, const std::vector<double>& other, Target& target) const;
    std::vector<double> values_of(const FitTree& tree, std::size_t node, const FitRows& rows);
    std::optional<std::vector<double>> search(const FitTree& tree, std::size_t root, const FitRows& rows,
                                              std::uint64_t seed, Watch& watch);
    std::optional<std::vector<double>> search_quotient(const FitTree& tree, std::size_t node, const FitRows& rows,
                                                       const Target& target, std::uint64_t seed, Watch& watch);

    FitModel model_;
    FitSearch search_;
};

}  // namespace simplipy
