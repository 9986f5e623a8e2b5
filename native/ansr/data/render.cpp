#include "render.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "constants.hpp"
#include "core/evaluate/evaluate.hpp"

namespace flash_ansr {

using simplipy::Op;
using simplipy::Tree;

const char* const outcome_names[n_outcomes] = {
    "accepted", "not_finite", "too_long",          "undefined",        "overflow",
    "constant", "no_effect",  "held_out_symbolic", "held_out_numeric", "held_out_canonical"};

namespace {

constexpr std::size_t n_probe_rows = 8;    // evaluated first: most bad data sets show there
constexpr std::size_t n_effect_rows = 16;  // looked at for the effect of a variable
constexpr double outlier_factor = 10.0;    // of the noise

// Values of rows [start, end) into `y`; what the evaluator gives is checked and stored as float32.
Outcome evaluate_rows(const simplipy::Job& job, const DataSet& data, std::size_t start, std::size_t end,
                      std::vector<double>& scratch, std::vector<float>& y) {
    const std::size_t n = end - start;
    scratch.resize(n);
    const simplipy::Matrix matrix{data.X.data() + start, true, n,
                                  job.columns.size(),    1,    static_cast<std::ptrdiff_t>(data.n_rows)};
    simplipy::evaluate(job, matrix, {scratch.data(), false});
    constexpr double largest = std::numeric_limits<float>::max();
    bool defined = true;
    bool small = true;
    for (const double value : scratch) {
        defined = defined && value == value;
        small = small && std::fabs(value) <= largest;
    }
    if (!defined) return Outcome::undefined;
    if (!small) return Outcome::overflow;
    std::transform(scratch.begin(), scratch.end(), y.begin() + static_cast<std::ptrdiff_t>(start),
                   [](double value) { return static_cast<float>(value); });
    return Outcome::accepted;
}

// Standard deviation in double precision, centred first: squares of float32's largest values stay finite.
double deviation(const std::vector<float>& y) {
    const double mean = std::accumulate(y.begin(), y.end(), 0.0) / static_cast<double>(y.size());
    double sum = 0.0;
    for (const float value : y) sum += (value - mean) * (value - mean);
    return std::sqrt(sum / static_cast<double>(y.size()));
}

bool all_equal(const std::vector<float>& y) {
    return std::all_of(y.begin(), y.end(), [&](float value) { return value == y.front(); });
}

}  // namespace

std::size_t Renderer::draw_rows(Random& random) const {
    const auto low = static_cast<double>(prior_.min_rows);
    const auto high = static_cast<double>(prior_.max_rows);
    const double drawn = prior_.log_rows ? std::exp(random.uniform(std::log(low), std::log(high + 1.0)))
                                         : random.uniform(low, high + 1.0);
    return std::clamp(static_cast<std::size_t>(drawn), prior_.min_rows, prior_.max_rows);
}

void Renderer::add_noise(Random& random, DataSet& data) const {
    data.noise = 0.0;
    if (prior_.p_noise <= 0.0 || random.uniform() >= prior_.p_noise) return;
    data.noise = std::exp(random.uniform(std::log(prior_.min_noise), std::log(prior_.max_noise)));
    const double scale = data.noise * deviation(data.y);
    const bool has_outliers = prior_.p_outliers > 0.0 && random.uniform() < prior_.p_outliers;
    const double outliers = has_outliers ? random.uniform(0.0, prior_.max_outliers) : 0.0;
    for (float& value : data.y) {
        const bool is_outlier = has_outliers && random.uniform() < outliers;
        value = static_cast<float>(value + (is_outlier ? outlier_factor : 1.0) * scale * random.normal());
    }
}

// Whether each variable alone changes the target: its values, moved on by a row, must move some value by more than
// min_effect times the spread. What becomes undefined by that counts as changed.
bool Renderer::all_matter(const simplipy::Job& job, const DataSet& data) const {
    const std::size_t n = std::min(n_effect_rows, data.n_rows);
    std::vector<float> X(n * data.columns.size());
    for (std::size_t j = 0; j < data.columns.size(); ++j)
        std::copy_n(data.X.begin() + static_cast<std::ptrdiff_t>(j * data.n_rows), n,
                    X.begin() + static_cast<std::ptrdiff_t>(j * n));
    const auto [low, high] = std::minmax_element(data.y.begin(), data.y.begin() + static_cast<std::ptrdiff_t>(n));
    const double least = prior_.min_effect * (static_cast<double>(*high) - static_cast<double>(*low));
    const simplipy::Matrix matrix{X.data(), true, n, data.columns.size(), 1, static_cast<std::ptrdiff_t>(n)};
    std::array<double, n_effect_rows> moved;
    for (std::size_t j = 0; j < data.columns.size(); ++j) {
        const auto column = X.begin() + static_cast<std::ptrdiff_t>(j * n);
        const auto end = column + static_cast<std::ptrdiff_t>(n);
        std::rotate(column, column + 1, end);
        simplipy::evaluate(job, matrix, {moved.data(), false});
        std::rotate(column, end - 1, end);
        bool matters = false;
        for (std::size_t i = 0; i < n && !matters; ++i) matters = !(std::fabs(moved[i] - data.y[i]) <= least);
        if (!matters) return false;
    }
    return true;
}

std::vector<Column> Renderer::draw_columns(std::size_t n, Spreads spreads, Random& random) const {
    const Recombination& how = prior_.recombination;
    std::vector<Column> columns;
    columns.reserve(n);
    for (std::size_t j = 0; j < n; ++j) {
        const Spread* spread = spreads.empty() ? nullptr : spreads[j];
        if (spread != nullptr && random.uniform() >= how.p_new_range)
            columns.emplace_back(*spread, how.unit_decades, random);
        else
            columns.emplace_back(prior_.columns, random);
    }
    return columns;
}

Outcome Renderer::attempt(const Tree& tree, Spreads spreads, Random& random, DataSet& data) const {
    data.n_rows = draw_rows(random);
    simplipy::Job job;
    job.tree = &tree;
    job.columns.resize(data.columns.size());
    std::iota(job.columns.begin(), job.columns.end(), std::size_t{0});
    const double p_in_scale = data.constants.empty() ? 0.0 : prior_.in_scale.probability;
    const bool in_scale = p_in_scale > 0.0 && random.uniform() < p_in_scale;
    if (!in_scale)
        for (double& constant : data.constants) constant = prior_.constants.draw(random);

    const std::vector<Column> columns = draw_columns(data.columns.size(), spreads, random);
    data.X.resize(data.n_rows * columns.size());
    data.y.resize(data.n_rows);
    std::vector<double> scratch;
    const std::size_t n_probe = std::min(n_probe_rows, data.n_rows);
    for (std::size_t start = 0, end = n_probe; start < data.n_rows; start = end, end = data.n_rows) {
        for (std::size_t j = 0; j < columns.size(); ++j)
            columns[j].fill({data.X.data() + j * data.n_rows + start, end - start}, random);
        if (start == 0 && in_scale) data.constants = ConstantsInScale(prior_, tree, data, end).draw(random);
        if (start == 0) job.constants = data.constants;
        const Outcome outcome = evaluate_rows(job, data, start, end, scratch, data.y);
        if (outcome != Outcome::accepted) return outcome;
    }
    if (prior_.must_vary && all_equal(data.y)) return Outcome::constant;
    if (prior_.min_effect > 0.0 && !all_matter(job, data)) return Outcome::no_effect;
    add_noise(random, data);
    const bool finite = std::all_of(data.y.begin(), data.y.end(), [](float value) { return std::isfinite(value); });
    return finite ? Outcome::accepted : Outcome::overflow;
}

Outcome Renderer::render(const Tree& tree, Spreads spreads, Random& random, DataSet& data) const {
    data.columns.clear();
    for (const std::int64_t code : simplipy::variable_codes(tree))
        data.columns.push_back(static_cast<std::size_t>(code) - 1);
    data.constants.resize(simplipy::count(tree, Op::constant));
    Outcome outcome = Outcome::accepted;
    for (int i = 0; i <= prior_.n_retries; ++i) {
        outcome = attempt(tree, spreads, random, data);
        if (outcome == Outcome::accepted) break;
    }
    return outcome;
}

}  // namespace flash_ansr
