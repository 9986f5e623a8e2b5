// The prior of problems: plain values, checked by the Python side that reads them from YAML.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/expression/ops.hpp"
#include "random.hpp"

namespace flash_ansr {

// A mixture of distributions of one real number.
struct Numbers {
    enum class Kind : std::uint8_t { uniform, normal, log_uniform, cauchy, integers };
    struct Part {
        double weight = 1.0;
        Kind kind = Kind::uniform;
        double first = 0.0;   // uniform, log_uniform, integers: lowest; normal, cauchy: location
        double second = 1.0;  // uniform, log_uniform, integers: highest; normal, cauchy: scale
        double low = 0.0;     // what lies outside [low, high] is drawn again
        double high = 0.0;
        double negative = 0.0;  // probability that the sign is turned
    };
    std::vector<Part> parts;

    double draw(Random& random) const;
};

// How the values of one column are spread; each column of a problem draws its own part and its own range.
struct Columns {
    enum class Kind : std::uint8_t { uniform, log_uniform, integers, normal };
    struct Part {
        double weight = 1.0;
        Kind kind = Kind::uniform;
        Numbers first;          // uniform, integers: both ends; log_uniform: log10 of the lower end; normal: location
        Numbers second;         // log_uniform: decades; normal: scale
        double negative = 0.0;  // probability that all values are negative
        double signs = 0.0;     // probability that each value has a sign of its own
    };
    std::vector<Part> parts;
};

struct SkeletonPrior {
    std::vector<double> n_ops_weights;  // of 0, 1, ... operators
    std::array<double, simplipy::max_symbols> operator_weights{};
    std::size_t max_length = 35;
    std::size_t n_variables = 17;
    double p_constant = -1.0;  // probability that the free constant is among the leaves; < 0: as likely as a variable
};

// Shares of the sources of skeletons.
struct Sources {
    double trees = 1.0;
    double laws = 0.0;
    double grammar = 0.0;
};

// How laws are recombined, see recombine.hpp.
struct Recombination {
    double p_edit = 0.0;    // probability of an edit, and of another one after each
    double p_shared = 0.5;  // probability that a variable that comes in is one that is there
    std::array<double, 5> weights{};
    double p_new_range = 0.0;   // probability that a variable gets a range of the prior instead of its law's
    double unit_decades = 0.0;  // its law's range moves by up to so many decades, as with another unit
};

// Constants of the size of what stands beside them, see constants.hpp.
struct InScale {
    double probability = 0.0;  // of a data set whose constants are drawn so
    double decades = 0.0;      // standard deviation of log10 of their sizes around that
    double negative = 0.0;
    double rounded = 0.0;  // probability that a constant has one digit
};

struct Prior {
    SkeletonPrior skeleton;
    Sources sources;
    Recombination recombination;
    InScale in_scale;
    bool simplify = true;
    bool free_multipliers = false;  // mult2, div3, ... become free constants, as the search does with proposals
    Columns columns;
    Numbers constants;
    std::size_t min_rows = 1;
    std::size_t max_rows = 1024;
    bool log_rows = false;
    double p_noise = 0.0;  // probability of noise, whose level is between the two below, log-uniform
    double min_noise = 0.0;
    double max_noise = 0.0;
    double p_outliers = 0.0;    // probability that rows of a noisy target are outliers
    double max_outliers = 0.0;  // share of such rows, at most
    int n_retries = 4;
    double min_effect = 0.0;    // every variable must move the target by this share of the target's spread
    bool must_vary = false;     // a target that is the same in all rows is rejected
    bool leading = false;       // used columns are moved to the front
    double p_irrelevant = 0.0;  // probability of columns that the formula does not use, where `leading`
};

}  // namespace flash_ansr
