#include "constants.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/evaluate/evaluate.hpp"

namespace flash_ansr {

using simplipy::Node;
using simplipy::Op;
using simplipy::Tree;

namespace {

constexpr double any_size = std::numeric_limits<double>::quiet_NaN();

bool is_sum(Op op) { return op == Op::add || op == Op::sub; }
bool is_product(Op op) { return op == Op::mul || op == Op::div; }

// The exponent of a power, root or reciprocal; 1 for what keeps the size up to a small factor; 0 for other functions.
double exponent_of(Op op) {
    const simplipy::OpInfo& row = simplipy::info(op);
    if (row.form == simplipy::Form::reciprocal) return -1.0;
    if (row.form == simplipy::Form::power) return row.literal;
    if (row.has(simplipy::role::root)) return 1.0 / row.literal;
    return row.has(simplipy::role::scale_factor) || op == Op::abs ? 1.0 : 0.0;
}

double with_one_digit(double value) {
    const double unit = std::pow(10.0, std::floor(std::log10(std::fabs(value))));
    return std::round(value / unit) * unit;
}

}  // namespace

ConstantsInScale::ConstantsInScale(const Prior& prior, const Tree& tree, const DataSet& data, std::size_t n_rows)
    : prior_(prior),
      tree_(tree),
      data_(data),
      n_rows_(n_rows),
      codes_(simplipy::variable_codes(tree)),
      is_free_(tree.size()),
      constants_(tree.size()) {
    for (std::size_t i = 0; i < tree.size(); ++i) {
        const Op op = tree.nodes()[i].op;
        if (op == Op::constant) is_free_[i] = 1;
        if (!is_operator(op)) continue;
        const char right = is_free_[i - 1];
        if (arity(op) == 1) is_free_[i] = exponent_of(op) != 0.0 ? right : 0;
        if (arity(op) == 1 || !(is_sum(op) || is_product(op))) continue;
        const char left = is_free_[simplipy::left_of(tree.nodes(), i)];
        is_free_[i] = is_sum(op) ? left & right : left | right;
    }
}

std::vector<double> ConstantsInScale::draw(Random& random) {
    random_ = &random;
    set(tree_.size() - 1, any_size);
    return values_below(tree_.size() - 1);
}

// Draws the constants of a subterm. A free one gets about the wanted size.
void ConstantsInScale::set(std::size_t node, double wanted) {
    const Op op = tree_.nodes()[node].op;
    if (op == Op::constant) constants_[node] = value(wanted);
    if (!is_operator(op)) return;
    const std::size_t right = node - 1;
    if (arity(op) == 1) {
        const double exponent = exponent_of(op);
        set(right, exponent == 0.0 ? 1.0 : std::pow(wanted, 1.0 / exponent));
        return;
    }
    const std::size_t left = simplipy::left_of(tree_.nodes(), node);
    if (is_sum(op)) {
        set_terms(left, right, wanted);
    } else if (is_product(op)) {
        set_product(left, right, op == Op::div, wanted);
    } else {
        set(right, 1.0);  // an exponent
        if (tree_.nodes()[left].op == Op::constant)
            constants_[left] = std::exp(value(1.0 / size_of(right)));
        else
            set(left, any_size);
    }
}

// One free factor gives the product its size; another one is near 1.
void ConstantsInScale::set_product(std::size_t left, std::size_t right, bool is_quotient, double wanted) {
    const std::size_t last = is_free_[left] ? left : right;
    const std::size_t first = last == left ? right : left;
    set(first, 1.0);
    if (!is_free_[last] || std::isnan(wanted)) return set(last, any_size);
    const double size = size_of(first);
    set(last, !is_quotient ? wanted / size : last == left ? wanted * size : size / wanted);
}

// Terms of one size: a free one gets that of the other.
void ConstantsInScale::set_terms(std::size_t left, std::size_t right, double wanted) {
    if (is_free_[left] && is_free_[right]) {
        if (std::isnan(wanted)) wanted = std::fabs(prior_.constants.draw(*random_));
        set(left, wanted);
        set(right, wanted);
    } else if (is_free_[left]) {
        set(right, any_size);
        set(left, size_of(right));
    } else {
        set(left, any_size);
        set(right, is_free_[right] ? size_of(left) : any_size);
    }
}

double ConstantsInScale::value(double wanted) {
    const InScale& how = prior_.in_scale;
    double drawn = wanted * std::pow(10.0, how.decades * random_->normal());
    if (!(drawn > 0.0 && std::isfinite(drawn))) return prior_.constants.draw(*random_);
    if (random_->uniform() < how.rounded) drawn = with_one_digit(drawn);
    return random_->uniform() < how.negative ? -drawn : drawn;
}

// The median of the magnitudes of a subterm whose constants are set.
double ConstantsInScale::size_of(std::size_t node) const {
    const Tree part = simplipy::subtree(tree_, node);
    simplipy::Job job;
    job.tree = &part;
    for (const std::int64_t code : simplipy::variable_codes(part))
        job.columns.push_back(static_cast<std::size_t>(std::ranges::find(codes_, code) - codes_.begin()));
    job.constants = values_below(node);
    const simplipy::Matrix matrix{data_.X.data(), true, n_rows_,
                                  codes_.size(),  1,    static_cast<std::ptrdiff_t>(data_.n_rows)};
    std::vector<double> values(n_rows_);
    simplipy::evaluate(job, matrix, {values.data(), false});
    std::erase_if(values, [](double value) { return std::isnan(value); });
    if (values.empty()) return any_size;
    for (double& value : values) value = std::fabs(value);
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

std::vector<double> ConstantsInScale::values_below(std::size_t node) const {
    const std::size_t first = node + 1 - tree_.nodes()[node].length;
    std::vector<double> values;
    for (const std::size_t i : simplipy::prefix_order(simplipy::subtree(tree_, node)))
        if (tree_.nodes()[first + i].op == Op::constant) values.push_back(constants_[first + i]);
    return values;
}

}  // namespace flash_ansr
