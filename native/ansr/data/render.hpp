// Data for a skeleton: rows, columns, constants, targets, noise. A data set with an undefined, infinite or too large
// value is drawn again, a few times at most.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/expression/tree.hpp"
#include "numbers.hpp"
#include "prior.hpp"

namespace simplipy {
struct Job;
}

namespace flash_ansr {

enum class Outcome : std::uint8_t {
    accepted,
    not_finite,  // simplified to an expression with inf or nan
    too_long,
    undefined,  // the target is undefined somewhere
    overflow,   // the target leaves the range of float32
    constant,   // the target is the same in all rows
    no_effect,  // a variable hardly changes the target
    held_out_symbolic,
    held_out_numeric,
    held_out_canonical,
};
inline constexpr std::size_t n_outcomes = 10;
extern const char* const outcome_names[n_outcomes];

struct DataSet {
    std::size_t n_rows = 0;
    std::vector<std::size_t> columns;  // their places in X, ascending
    std::vector<float> X;              // column by column
    std::vector<float> y;
    std::vector<double> constants;
    double noise = 0.0;  // standard deviation of the noise by that of the target
};

class Renderer {
  public:
    explicit Renderer(const Prior& prior) : prior_(prior) {}

    // Where the values of each column come from; null and a missing one stand for the columns of the prior.
    using Spreads = std::span<const Spread* const>;

    // Tries once and n_retries times more; the outcome of the last try. The tree's variables are x_k.
    Outcome render(const simplipy::Tree& tree, Spreads spreads, Random& random, DataSet& data) const;

  private:
    Outcome attempt(const simplipy::Tree& tree, Spreads spreads, Random& random, DataSet& data) const;
    std::vector<Column> draw_columns(std::size_t n, Spreads spreads, Random& random) const;
    bool all_matter(const simplipy::Job& job, const DataSet& data) const;
    std::size_t draw_rows(Random& random) const;
    void add_noise(Random& random, DataSet& data) const;

    const Prior& prior_;
};

}  // namespace flash_ansr
