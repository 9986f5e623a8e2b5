#include "points.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/random.hpp"

namespace simplipy {
namespace {

enum class Signs : std::uint8_t { positive, negative, any };

struct RowClass {
    double low;
    double high;
    Signs signs;
};

// Inside (0, 1), (1, 3), beyond pi; every one with several signs, since many terms are defined on one side only.
constexpr std::array<RowClass, rows_per_draw - 1> mild = {{{0.15, 0.95, Signs::positive},
                                                           {1.05, 3.0, Signs::positive},
                                                           {0.2, 2.8, Signs::any},
                                                           {0.1, 0.95, Signs::negative},
                                                           {1.05, 3.0, Signs::negative},
                                                           {3.3, 8.5, Signs::positive},
                                                           {3.3, 8.5, Signs::any}}};
constexpr std::array<RowClass, 2> extreme = {{{1e-4, 1e-3, Signs::any}, {30.0, 300.0, Signs::any}}};
constexpr std::array<double, 5> corners = {0.0, 1.0, -1.0, 2.0, -2.0};
// The free constants of each draw: of both signs, and whole numbers, odd and even, for which powers have other domains.
// 0 stands for a number between 0.3 and 2.7 of that draw, -0.5 for its negative.
constexpr double drawn_constant = 0.0;
constexpr double negative_constant = -0.5;
constexpr double draw_constants[mine_draws][max_pattern_constants] = {
    {drawn_constant, drawn_constant}, {negative_constant, negative_constant}, {3.0, -2.0}, {-2.0, 3.0}};

double drawn(Random& random, const RowClass& row) {
    const double size = random.uniform(row.low, row.high);
    const bool turned = random.uniform() < 0.5;
    return row.signs == Signs::negative || (row.signs == Signs::any && turned) ? -size : size;
}

}  // namespace

MinePoints::MinePoints(std::uint64_t seed) {
    Random random(seed);
    for (std::size_t row = 0; row < mine_rows; ++row) {
        const std::size_t draw = row / rows_per_draw;
        const std::size_t place = row % rows_per_draw;
        for (RowValues& values : variables) {
            if (place < mild.size()) {
                values[row] = drawn(random, mild[place]);
            } else if (draw < extreme.size()) {
                values[row] = drawn(random, extreme[draw]);
            } else {
                values[row] = corners[random.next() % corners.size()];
            }
        }
    }
    for (std::size_t row = 0; row < mine_rows; row += rows_per_draw) {
        for (std::size_t k = 0; k < max_pattern_constants; ++k) {
            const double size = random.uniform(0.3, 2.7);
            double value = draw_constants[row / rows_per_draw][k];
            if (value == drawn_constant) value = size;
            if (value == negative_constant) value = -size;
            std::fill_n(constants[k].begin() + static_cast<std::ptrdiff_t>(row), rows_per_draw, value);
        }
    }
}

RowMask usable_rows(const double* values) {
    constexpr double huge = 1e9;
    constexpr double tiny = 1e-9;
    RowMask mask = 0;
    for (std::size_t row = 0; row < mine_rows; ++row) {
        const double size = std::fabs(values[row]);
        const bool is_usable = size < huge && (size > tiny || size < rounded_zero);  // never so for NaN
        mask |= static_cast<RowMask>(is_usable) << row;
    }
    return mask;
}

RowMask tame_rows(const double* values) {
    RowMask mask = 0;
    for (std::size_t row = 0; row < mine_rows; ++row) {
        const double size = std::fabs(values[row]);
        mask |= static_cast<RowMask>((size > 0.02 && size < 12.0) || size == 0.0) << row;
    }
    return mask;
}

}  // namespace simplipy
