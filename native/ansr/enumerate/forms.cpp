#include "forms.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>

#include "ansr/data/random.hpp"
#include "core/evaluate/kernels.hpp"

namespace flash_ansr {

using simplipy::Op;

namespace {

// beyond it, differences of forms are rounding
constexpr double largest_value = 1e20;
// a spread below this part of the size is rounding: such a form is a constant
constexpr double least_spread = 1e-9;
constexpr double smallest_rest = 1e-15;
// bits of a projection that rounding may change
constexpr unsigned rounding_bits = 18;
// distance of projections of normalised values within which they are compared row by row
constexpr double same_projection = 1e-7;
constexpr double largest_difference = 1e4;
constexpr double same_values = 1e-7;

double largest(const double* row, std::size_t n) {
    double size = 0.0;
    for (std::size_t i = 0; i < n; ++i) size = std::max(size, std::abs(row[i]));
    return size;
}

double dot(const double* a, const double* b, std::size_t n) {
    // eight sums that do not wait for each other
    double sums[8] = {};
    for (std::size_t i = 0; i < n; i += 8)
        for (std::size_t k = 0; k < 8; ++k) sums[k] += a[i + k] * b[i + k];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

// Mean and norm of a row before it had mean 0 and norm 1; the norm is 0 for what is not finite or does not vary.
struct Affine {
    double mean = 0.0;
    double norm = 0.0;
};

Affine normalise(double* row, std::size_t n) {
    double mean = 0.0;
    const double size = largest(row, n);
    for (std::size_t i = 0; i < n; ++i) mean += row[i];
    mean /= static_cast<double>(n);
    if (!(size < largest_value) || !std::isfinite(mean)) return {};
    double square = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        row[i] -= mean;
        square += row[i] * row[i];
    }
    const double norm = std::sqrt(square);
    if (!(norm > least_spread * size)) return {};
    for (std::size_t i = 0; i < n; ++i) row[i] /= norm;
    return {mean, norm};
}

}  // namespace

Forms::Forms(std::span<const double> columns, std::size_t n_rows, const FormCosts& costs, std::size_t max_forms)
    : n_rows_(n_rows),
      costs_(costs),
      max_forms_(max_forms),
      n_columns_(n_rows == 0 ? 0 : columns.size() / n_rows),
      trial_(n_rows),
      directions_(n_rows) {
    Random random(0, n_rows, 0);
    for (double& direction : directions_) direction = random.normal();
    nodes_.reserve(max_forms);
    values_.reserve(max_forms * n_rows);
    tops_ = {Op::variable, Op::number};
    for (const simplipy::OpInfo& row : simplipy::operators())
        if (costs.operators[simplipy::index(row.op)] > 0) tops_.push_back(row.op);
    for (std::size_t k = 0; k < n_columns_; ++k) {
        std::copy_n(columns.data() + k * n_rows, n_rows, trial_.data());
        add({Op::variable, static_cast<std::uint16_t>(k), 0, 0, costs.variable});
    }
    if (costs.one > 0 && !full()) {
        // constant, so that no form of it alone is kept
        level(Op::number, costs.one).push_back(static_cast<std::uint32_t>(nodes_.size()));
        nodes_.push_back({Op::number, 0, 0, 0, costs.one});
        values_.insert(values_.end(), n_rows, 1.0);
    }
}

void Forms::grow(std::size_t n, double seconds) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    // a cost without forms may precede one with some, but not many
    int empty = 0;
    while (nodes_.size() < n && !full() && empty < 16) {
        const std::size_t before = nodes_.size();
        make_cost(next_cost_++);
        empty = nodes_.size() == before ? empty + 1 : 0;
        if (std::chrono::duration<double>(Clock::now() - start).count() > seconds) return;
    }
}

Forms::Level& Forms::level(Op top, int cost) {
    std::vector<Level>& levels = levels_[simplipy::index(top)];
    if (levels.size() <= static_cast<std::size_t>(cost)) levels.resize(static_cast<std::size_t>(cost) + 1);
    return levels[static_cast<std::size_t>(cost)];
}

std::span<const std::uint32_t> Forms::made(Op top, int cost) const {
    const std::vector<Level>& levels = levels_[simplipy::index(top)];
    if (levels.size() <= static_cast<std::size_t>(cost)) return {};
    return levels[static_cast<std::size_t>(cost)];
}

void Forms::make_cost(int cost) {
    for (const simplipy::OpInfo& row : simplipy::operators()) {
        const std::size_t id = simplipy::index(row.op);
        if (costs_.operators[id] == 0) continue;
        for (const Op top : tops_) {
            if (row.arity == 2) {
                for (const Op right_top : tops_) make_binary(row, top, right_top, cost);
                continue;
            }
            const int left_over = cost - costs_.operators[id] - costs_.operands[id][0][simplipy::index(top)];
            if (left_over <= 0) continue;
            for (const std::uint32_t operand : made(top, left_over))
                if (!full()) unary(row.op, operand, cost);
        }
    }
}

void Forms::make_binary(const simplipy::OpInfo& row, Op left_top, Op right_top, int cost) {
    const std::size_t id = simplipy::index(row.op);
    const int left_over = cost - costs_.operators[id] - costs_.operands[id][0][simplipy::index(left_top)] -
                          costs_.operands[id][1][simplipy::index(right_top)];
    const bool ordered = row.has(simplipy::role::commutative) || row.op == Op::sub;
    if (ordered && left_top > right_top) return;
    for (int a = 1; a < left_over && !full(); ++a) {
        if (ordered && left_top == right_top && a > left_over - a) break;
        const bool is_same = left_top == right_top && a == left_over - a;
        const std::span<const std::uint32_t> left = made(left_top, a), right = made(right_top, left_over - a);
        for (std::size_t i = 0; i < left.size() && !full(); ++i)
            for (std::size_t j = ordered && is_same ? i : 0; j < right.size() && !full(); ++j)
                binary(row.op, left[i], right[j], cost);
    }
}

void Forms::unary(Op op, std::uint32_t operand, int cost) {
    simplipy::active_kernels().unary[simplipy::index(op)](n_rows_, values(operand), trial_.data());
    add({op, 0, operand, 0, cost});
}

void Forms::binary(Op op, std::uint32_t left, std::uint32_t right, int cost) {
    const auto kernel = simplipy::active_kernels().binary[simplipy::index(op)][0];
    kernel(n_rows_, values(left), values(right), trial_.data());
    if (op == Op::sub) {
        // of a - b and b - a the one that is mostly positive: it has a root and a logarithm more often
        std::size_t n_negative = 0;
        for (const double value : trial_) n_negative += value < 0;
        if (2 * n_negative > n_rows_) {
            std::swap(left, right);
            for (double& value : trial_) value = -value;
        }
    }
    add({op, 0, left, right, cost});
}

void Forms::add(const Node& node) {
    double size = 0.0, low = trial_[0], high = trial_[0], projected = 0.0;
    for (std::size_t i = 0; i < n_rows_; ++i) {
        const double value = trial_[i];
        if (!(std::abs(value) < largest_value)) return;  // NaN too
        size = std::max(size, std::abs(value));
        low = std::min(low, value);
        high = std::max(high, value);
        projected += directions_[i] * value;
    }
    if (!(high - low > least_spread * size)) return;
    const std::uint64_t key =
        (std::bit_cast<std::uint64_t>(projected) + (1ULL << (rounding_bits - 1))) >> rounding_bits;
    if (known(key)) return;
    const auto id = static_cast<std::uint32_t>(nodes_.size());
    seen_.emplace(key, id);
    nodes_.push_back(node);
    values_.insert(values_.end(), trial_.begin(), trial_.end());
    level(node.op, node.cost).push_back(id);
}

bool Forms::known(std::uint64_t key) const {
    return seen_.contains(key) || seen_.contains(key - 1) || seen_.contains(key + 1);
}

std::vector<std::int16_t> Forms::prefix(std::size_t form, std::int16_t first_variable) const {
    std::vector<std::int16_t> ids;
    std::vector<std::uint32_t> open{static_cast<std::uint32_t>(form)};
    while (!open.empty()) {
        const Node& node = nodes_[open.back()];
        open.pop_back();
        if (node.op == Op::variable) {
            ids.push_back(static_cast<std::int16_t>(first_variable + node.variable));
        } else if (node.op == Op::number) {
            ids.push_back(-1);
        } else {
            ids.push_back(static_cast<std::int16_t>(node.op));
            if (simplipy::arity(node.op) == 2) open.push_back(node.right);
            open.push_back(node.left);
        }
    }
    return ids;
}

std::vector<std::uint32_t> Forms::best(std::span<const double> target, std::span<const double> weight, double price,
                                       std::size_t n_best) const {
    std::vector<double> squares(n_rows_), weighted(n_rows_);
    double total = 0.0, mean = 0.0;
    for (std::size_t i = 0; i < n_rows_; ++i) {
        squares[i] = weight[i] * weight[i];
        total += squares[i];
        mean += squares[i] * target[i];
    }
    if (!(total > 0)) return {};
    mean /= total;
    double spread = 0.0;
    for (std::size_t i = 0; i < n_rows_; ++i) {
        weighted[i] = squares[i] * (target[i] - mean);
        spread += weighted[i] * (target[i] - mean);
    }
    if (!(spread > 0)) return {};
    std::vector<std::pair<double, std::uint32_t>> found;
    for (std::uint32_t form = 0; form < nodes_.size(); ++form) {
        const double* row = values(form);
        double sum = 0.0, square = 0.0;
        double parts[2][8] = {};
        for (std::size_t i = 0; i < n_rows_; i += 8)
            for (std::size_t k = 0; k < 8; ++k) {
                const double part = squares[i + k] * row[i + k];
                parts[0][k] += part;
                parts[1][k] += part * row[i + k];
            }
        for (std::size_t k = 0; k < 8; ++k) {
            sum += parts[0][k];
            square += parts[1][k];
        }
        const double own = square - sum * sum / total;
        if (!(own > 1e-14 * square)) continue;
        const double common = dot(weighted.data(), row, n_rows_);
        const double r2 = std::min(common * common / (own * spread), 1.0);
        const double score = std::log10(std::max(1.0 - r2, smallest_rest)) + price * nodes_[form].cost;
        found.emplace_back(score, form);
    }
    const std::size_t n = std::min(n_best, found.size());
    std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(n), found.end());
    std::vector<std::uint32_t> hits;
    for (std::size_t i = 0; i < n; ++i) hits.push_back(found[i].second);
    return hits;
}

double Forms::projection(std::span<const double> row) const {
    return std::abs(dot(row.data(), directions_.data(), n_rows_));
}

void Forms::index_forms() {
    if (n_sorted_ == nodes_.size()) return;
    std::vector<double> row(n_rows_);
    for (; n_sorted_ < nodes_.size(); ++n_sorted_) {
        std::copy_n(values(n_sorted_), n_rows_, row.data());
        if (normalise(row.data(), n_rows_).norm > 0)
            sorted_.push_back({projection(row), static_cast<std::uint32_t>(n_sorted_)});
    }
    std::sort(sorted_.begin(), sorted_.end());
}

bool Forms::matches(std::span<const double> row, std::span<const double> sizes, std::uint32_t form) const {
    std::vector<double> own(row.begin(), row.end()), other(values(form), values(form) + n_rows_);
    const Affine to = normalise(own.data(), n_rows_), from = normalise(other.data(), n_rows_);
    if (!(from.norm > 0)) return false;
    const double sign = dot(own.data(), other.data(), n_rows_) < 0 ? -1.0 : 1.0;
    const double slope = sign * to.norm / from.norm;
    for (std::size_t i = 0; i < n_rows_; ++i) {
        // each row by its own size: what holds for the largest alone is a coincidence
        const double rest = row[i] - to.mean - slope * (values(form)[i] - from.mean);
        if (!(std::abs(rest) <= same_values * sizes[i])) return false;
    }
    return true;
}

std::vector<FormJoin> Forms::meet(std::span<const double> target, std::size_t n_first, std::size_t n_best) {
    index_forms();
    const double size = largest(target.data(), n_rows_);
    std::vector<FormJoin> found;
    std::vector<double> raw(n_rows_), sizes(n_rows_), row(n_rows_);
    for (std::uint32_t first = 0; first < std::min(n_first, nodes_.size()); ++first) {
        const double* own = values(first);
        for (const Join join : {Join::product, Join::quotient, Join::sum}) {
            for (std::size_t i = 0; i < n_rows_; ++i) {
                switch (join) {
                    case Join::sum:
                        raw[i] = target[i] - own[i];
                        break;
                    case Join::product:
                        raw[i] = target[i] / own[i];
                        break;
                    case Join::quotient:
                        raw[i] = target[i] * own[i];
                        break;
                }
                // a target that is small beside what is taken off would be met by rounding
                sizes[i] = join == Join::sum ? std::abs(target[i]) + 1e-6 * std::abs(own[i]) : std::abs(raw[i]);
            }
            row = raw;
            // what is far larger than the target is met by its own negative
            if (join == Join::sum && largest(own, n_rows_) > largest_difference * size) continue;
            if (!(normalise(row.data(), n_rows_).norm > 0)) continue;
            const double place = projection(row);
            auto near = std::lower_bound(sorted_.begin(), sorted_.end(),
                                         std::pair<double, std::uint32_t>{place - same_projection, 0});
            for (; near != sorted_.end() && near->first < place + same_projection; ++near)
                if (matches(raw, sizes, near->second)) {
                    found.push_back({join, first, near->second});
                    if (found.size() == n_best) return found;
                }
        }
    }
    return found;
}

}  // namespace flash_ansr
