// The rows on which the miner compares terms: values of metavariables and of free constants, in classes of magnitude.
//
// Rows come in draws of eight. Within a draw the free constants keep their values, so that a draw is one member of a
// family; the metavariables change from row to row. The last row of a draw is extreme: tiny, huge or a corner. Doubles
// err there, so extreme rows refuse a match but never make one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace simplipy {

inline constexpr std::size_t mine_rows = 32;
inline constexpr std::size_t rows_per_draw = 8;
inline constexpr std::size_t mine_draws = mine_rows / rows_per_draw;
inline constexpr std::size_t max_metavariables = 4;
inline constexpr std::size_t max_pattern_constants = 2;

using RowValues = std::array<double, mine_rows>;
using RowMask = std::uint32_t;

// Rounding leaves less than this of zero.
inline constexpr double rounded_zero = 1e-12;

inline constexpr RowMask mild_rows = 0x7f7f7f7f;
// Those with values below 3, where rounding errors are small.
inline constexpr RowMask small_rows = 0x1f1f1f1f;

struct MinePoints {
    explicit MinePoints(std::uint64_t seed);

    alignas(64) std::array<RowValues, max_metavariables> variables;
    alignas(64) std::array<RowValues, max_pattern_constants> constants;
};

// Rows with a value that doubles compare well: neither infinite nor huge nor, unless it is zero, tiny.
RowMask usable_rows(const double* values);

// Rows with a value that is neither large nor tiny: tanh(20) is 1 and 0.01^9 is 0 to all digits of a double.
RowMask tame_rows(const double* values);

}  // namespace simplipy
