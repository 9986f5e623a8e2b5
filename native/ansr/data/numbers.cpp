#include "numbers.hpp"

#include <algorithm>
#include <cmath>

namespace flash_ansr {
namespace {

constexpr int max_redraws = 1000;

double draw_part(const Numbers::Part& part, Random& random) {
    switch (part.kind) {
        case Numbers::Kind::uniform:
            return random.uniform(part.first, part.second);
        case Numbers::Kind::normal:
            return part.first + part.second * random.normal();
        case Numbers::Kind::log_uniform:
            return std::exp(random.uniform(std::log(part.first), std::log(part.second)));
        case Numbers::Kind::cauchy:
            return part.first + part.second * std::tan(3.141592653589793 * (random.uniform() - 0.5));
        case Numbers::Kind::integers:
            return std::floor(random.uniform(part.first, part.second + 1.0));
    }
    return 0.0;
}

}  // namespace

double Numbers::draw(Random& random) const {
    const Part& part =
        parts.size() == 1 ? parts.front() : parts[draw_index(parts, [](const Part& p) { return p.weight; }, random)];
    double value = 0.0;
    for (int redraw = 0; redraw < max_redraws; ++redraw) {
        value = draw_part(part, random);
        if (part.negative > 0.0 && random.uniform() < part.negative) value = -value;
        if (value >= part.low && value <= part.high) return value;
    }
    return std::clamp(value, part.low, part.high);
}

Column::Column(const Columns& prior, Random& random) {
    const Columns::Part& part =
        prior.parts.size() == 1
            ? prior.parts.front()
            : prior.parts[draw_index(prior.parts, [](const Columns::Part& p) { return p.weight; }, random)];
    kind_ = part.kind;
    first_ = part.first.draw(random);
    switch (kind_) {
        case Columns::Kind::uniform:
        case Columns::Kind::integers:
            second_ = part.first.draw(random);
            if (first_ > second_) std::swap(first_, second_);
            break;
        case Columns::Kind::log_uniform:
            second_ = (first_ + part.second.draw(random)) * std::log(10.0);
            first_ *= std::log(10.0);
            break;
        case Columns::Kind::normal:
            second_ = part.second.draw(random);
            break;
    }
    const double u = part.negative + part.signs > 0.0 ? random.uniform() : 1.0;
    signs_ = u < part.negative ? Signs::negative : (u < part.negative + part.signs ? Signs::mixed : Signs::as_drawn);
}

Column::Column(const Spread& spread, double decades, Random& random)
    : kind_(spread.kind), first_(spread.low), second_(spread.high), signs_(spread.signs) {
    const bool is_scaled = spread.has_unit && kind_ != Columns::Kind::integers;
    const double power = is_scaled ? random.uniform(-decades, decades) * std::log(10.0) : 0.0;
    for (double* end : {&first_, &second_})
        *end = kind_ == Columns::Kind::log_uniform ? std::log(*end) + power : *end * std::exp(power);
}

double Column::value(Random& random) const {
    switch (kind_) {
        case Columns::Kind::uniform:
            return random.uniform(first_, second_);
        case Columns::Kind::log_uniform:
            return std::exp(random.uniform(first_, second_));
        case Columns::Kind::integers:
            return std::floor(random.uniform(std::ceil(first_), std::floor(second_) + 1.0));
        case Columns::Kind::normal:
            return first_ + second_ * random.normal();
    }
    return 0.0;
}

void Column::fill(std::span<float> values, Random& random) const {
    for (float& slot : values) {
        double drawn = value(random);
        if (signs_ == Signs::negative || (signs_ == Signs::mixed && random.uniform() < 0.5)) drawn = -drawn;
        slot = static_cast<float>(drawn);
    }
}

}  // namespace flash_ansr
