// Problems by (seed, index): skeleton, simplification, data, holdout check, as arrays for a batch in one call.
// Problem i is the same whatever the batch, the thread and the worker that make it.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/simplify/rules.hpp"
#include "holdout.hpp"
#include "render.hpp"
#include "source.hpp"

namespace flash_ansr {

// Ids of the model's vocabulary: padding, start, end, the paper's operators, the free constant, x1, x2, ..., and then
// the operators beyond the paper's that the prior draws, so that these never move an id.
inline constexpr std::int16_t pad_id = 0;
inline constexpr std::int16_t start_id = 1;
inline constexpr std::int16_t end_id = 2;
inline constexpr std::int16_t first_operator_id = 3;
inline constexpr std::int16_t constant_id = first_operator_id + static_cast<std::int16_t>(simplipy::Op::constant);
inline constexpr std::int16_t first_variable_id = constant_id + 1;

// A prior that accepts hardly anything. The message says which rejections there were.
struct ExhaustedError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Problem {
    simplipy::Tree skeleton;
    simplipy::Tree drawn;  // before simplification
    DataSet data;
    std::array<std::int32_t, n_outcomes> outcomes{};  // of all attempts, the accepted one included
};

struct BatchRequest {
    std::uint64_t seed = 0;
    std::span<const std::int64_t> indices;
    std::size_t n_threads = 1;
    bool padded = true;     // X (n, max_rows, D), else (sum of n_rows, D)
    bool detailed = false;  // with constants and drawn skeletons
};

struct BatchArrays {
    std::size_t n = 0;
    std::size_t width = 0;   // rows a problem where padded
    std::size_t length = 0;  // ids a problem
    std::vector<float> X;
    std::vector<float> y;
    std::vector<std::int32_t> n_rows;
    std::vector<std::int32_t> n_columns;  // those with data, from the front where the prior says `leading`
    std::vector<std::int16_t> token_ids;  // start, tokens, end, padding
    std::vector<std::int32_t> lengths;    // tokens alone
    std::vector<float> noise;
    std::vector<std::int32_t> outcomes;  // (n, n_outcomes)
    std::vector<double> constants;       // all, one problem after the other
    std::vector<std::int32_t> n_constants;
    std::vector<std::int16_t> drawn_ids;  // like token_ids, without start and end
    std::vector<std::int32_t> drawn_lengths;
};

// How skeletons are simplified: numbers count as free constants.
simplipy::SimplifyOptions masked_options(std::shared_ptr<const simplipy::RuleSet> rules, int max_pattern_length);

class Generator {
  public:
    // Another generator from which a share of the problems is drawn; its vocabulary must be the same.
    struct Part {
        double share;
        std::shared_ptr<const Generator> generator;
    };

    Generator(Prior prior, simplipy::SimplifyOptions options, std::shared_ptr<const Holdout> holdout, Material material,
              std::vector<Part> parts = {});
    Generator(const Generator&) = delete;
    Generator& operator=(const Generator&) = delete;

    const Prior& prior() const { return prior_; }
    BatchArrays batch(const BatchRequest& request) const;

    // Skeletons alone, simplified or as drawn, as ids one after the other; nothing is rejected.
    BatchArrays skeletons(const BatchRequest& request, bool simplified) const;

  private:
    Material checked(Material material) const;
    const Generator& of_index(std::uint64_t seed, std::uint64_t index) const;
    Problem draw(std::uint64_t seed, std::uint64_t index, simplipy::Simplifier& simplifier) const;
    Outcome attempt(Random& random, simplipy::Simplifier& simplifier, Problem& problem) const;
    simplipy::Tree normal_form(const simplipy::Tree& drawn, simplipy::Simplifier& simplifier) const;
    simplipy::Tree moved_forward(const simplipy::Tree& tree, Random& random, std::size_t& n_columns) const;
    void fill_irrelevant(Random& random, std::size_t n_columns, DataSet& data) const;
    bool is_closed(const simplipy::Tree& tree) const;
    std::int16_t id_of(const simplipy::Node& node) const;
    void place(const Problem& problem, std::size_t i, std::size_t first_row, BatchArrays& arrays) const;

    Prior prior_;
    simplipy::SimplifyOptions options_;
    Renderer renderer_;
    std::shared_ptr<const Holdout> holdout_;
    std::vector<Part> parts_;
    std::array<std::int16_t, simplipy::max_symbols> operator_ids_;  // -1 for what is not in the vocabulary
    SkeletonSource source_;
};

}  // namespace flash_ansr
