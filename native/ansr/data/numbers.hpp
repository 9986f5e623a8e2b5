// Draws of numbers and of columns.
#pragma once

#include <span>

#include "prior.hpp"

namespace flash_ansr {

enum class Signs : std::uint8_t { as_drawn, negative, mixed };

// The usual values of a variable of a law.
struct Spread {
    Columns::Kind kind = Columns::Kind::uniform;  // any but normal
    double low = 0.0;
    double high = 1.0;
    Signs signs = Signs::as_drawn;
    bool has_unit = false;  // so that its size is arbitrary
};

// One column's distribution with its range drawn: fills any number of values, a few first and the rest later.
class Column {
  public:
    Column(const Columns& prior, Random& random);
    // Values with a unit are scaled by a power of ten between 10^-decades and 10^decades.
    Column(const Spread& spread, double decades, Random& random);
    void fill(std::span<float> values, Random& random) const;

  private:
    double value(Random& random) const;

    Columns::Kind kind_;
    double first_ = 0.0;
    double second_ = 0.0;
    Signs signs_ = Signs::as_drawn;
};

// Index drawn with these weights; their sum must be positive.
template <class Parts, class Weight>
std::size_t draw_index(const Parts& parts, const Weight& weight, Random& random) {
    double total = 0.0;
    for (const auto& part : parts) total += weight(part);
    double left = random.uniform() * total;
    std::size_t last = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (weight(parts[i]) <= 0.0) continue;
        last = i;
        left -= weight(parts[i]);
        if (left < 0.0) return i;
    }
    return last;
}

}  // namespace flash_ansr
