// Proofs about a formula on a box or along straight lines: that it is defined everywhere and that its values lie in a
// range, or a point where that fails. Branch and bound: a part that intervals do not settle is cut in two, the widest
// parts first, up to a limit. Results do not depend on the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/evaluate/evaluate.hpp"

namespace simplipy {

enum class Proof : std::uint8_t { proved, disproved, unknown };

// The failure at a point: a term is undefined, a pole lies within the next doubles, or the value is beyond the doubles
// or beyond the range of the claim.
enum class Failure : std::uint8_t { none, undefined, pole, overflow, outside };

struct Claim {
    double low;  // values lie in this range; an infinite end means any double
    double high;
    std::size_t max_boxes;  // that are looked at for one formula
};

struct Finding {
    Proof proof = Proof::unknown;
    Failure failure = Failure::none;
    double low = 0.0;  // wherever the formula is defined, its values lie between these
    double high = 0.0;
    std::vector<double> point;  // of the failure, by variable; empty without one
};

// A part of a box, by its lowest and highest corner, or of a line, by its ends: a number a variable.
struct Part {
    std::vector<double> from;
    std::vector<double> to;
    std::vector<std::uint16_t> n_cuts = {};  // across each variable
    std::size_t cut = 0;                     // the variable to cut across next
};

// The claim of each job on one box, given by two numbers a column.
std::vector<Finding> prove_on_box(std::span<const Job> jobs, std::span<const double> low, std::span<const double> high,
                                  const Claim& claim, std::size_t n_threads);

// The claim of each job on the lines from the rows of one matrix (float64) to those of another; the limit counts the
// boxes of all lines together, beyond one a line.
std::vector<Finding> prove_on_lines(std::span<const Job> jobs, const Matrix& starts, const Matrix& ends,
                                    const Claim& claim, std::size_t n_threads);

}  // namespace simplipy
