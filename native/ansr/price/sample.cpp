#include "sample.hpp"

#include <algorithm>
#include <cmath>

#include "usual_numbers.hpp"

namespace flash_ansr {

using simplipy::Node;
using simplipy::Op;

struct FormSampler::Drawing {
    Random& random;
    std::size_t room;
    std::vector<Node> nodes = {};
    std::vector<std::int64_t> seen = {};
    std::size_t depth = 0;

    bool is_over() const { return nodes.size() > room; }
    void push(Op op) { nodes.push_back(Node::of(op)); }
};

namespace {

constexpr std::size_t max_depth = 12;
constexpr std::array<Op, 6> powers = {Op::nan, Op::nan, Op::pow2, Op::pow3, Op::pow4, Op::pow5};
constexpr std::array<Op, 6> roots = {Op::nan, Op::nan, Op::root2, Op::root3, Op::root4, Op::root5};

// Nodes that raise what was written last to a number: u^(p/q) as a power of a root, else as pow.
void raise(std::vector<Node>& nodes, const Value& exponent) {
    if (exponent.is_fitted()) {
        nodes.push_back(Node::of(Op::constant));
        nodes.push_back(Node::of(Op::pow));
        return;
    }
    const double size = std::abs(exponent.number);
    for (std::size_t q = 1; q < roots.size(); ++q) {
        const double p = std::round(size * static_cast<double>(q));
        if (p < 1 || p > 5 || std::abs(size * static_cast<double>(q) - p) > 1e-9) continue;
        if (q > 1) nodes.push_back(Node::of(roots[q]));
        if (p > 1) nodes.push_back(Node::of(powers[static_cast<std::size_t>(p)]));
        return;
    }
    nodes.push_back(Node::number(simplipy::to_decimal(size)));
    nodes.push_back(Node::of(Op::pow));
}

}  // namespace

FormSampler::FormSampler(const PriceTable& table, std::size_t n_columns, std::size_t max_nodes)
    : cumulative_(table.log_probs().size()), n_columns_(n_columns), max_nodes_(max_nodes) {
    for (const QuestionRow& row : questions()) {
        const std::size_t n = row.answers.size();
        std::size_t n_contexts = 1;
        for (const auto& names : row.features) n_contexts *= names.size();
        for (std::size_t i = 0; i < n_contexts; ++i) {
            const std::size_t first = row.first_cell + i * n;
            double total = 0.0;
            for (std::size_t k = first; k < first + n; ++k) cumulative_[k] = total += std::exp(table.log_probs()[k]);
        }
    }
}

std::vector<Node> FormSampler::draw(Random& random) const {
    while (true) {
        Drawing drawing{random, max_nodes_};
        sum(drawing, Place::whole);
        if (!drawing.is_over() && !drawing.seen.empty()) return std::move(drawing.nodes);
    }
}

template <class Context>
std::size_t FormSampler::answer(Question question, const Context& context, Random& random) const {
    const std::size_t n = questions()[static_cast<std::size_t>(question)].answers.size();
    const auto first = cumulative_.begin() + static_cast<std::ptrdiff_t>(cell_of(question, context));
    const auto last = first + static_cast<std::ptrdiff_t>(n);
    const auto at = std::upper_bound(first, last, random.uniform() * *(last - 1));
    return static_cast<std::size_t>(std::min(at, last - 1) - first);
}

double FormSampler::number(NumberRole role, Random& random) const {
    const std::size_t place = answer(Question::number, number_context(role), random);
    return place < usual_numbers().size() ? usual_numbers()[place].size : 1.0;
}

void FormSampler::sum(Drawing& drawing, Place place) const {
    if (++drawing.depth > max_depth) drawing.nodes.resize(drawing.room + 1);
    const std::size_t n = 1 + answer(Question::n_terms, terms_context(place), drawing.random);
    std::size_t before = 0;
    for (std::size_t i = 0; i < n && !drawing.is_over(); ++i) {
        const std::size_t shape = answer(Question::shape, shape_context(place, n, before), drawing.random);
        term(drawing, place, shape);
        if (i > 0) drawing.push(Op::add);
        before = beside_shape(shape);
    }
    --drawing.depth;
}

void FormSampler::term(Drawing& drawing, Place place, std::size_t shape) const {
    const auto coefficient = static_cast<Coefficient>(shape / (most_factors + 1));
    const std::size_t n = shape % (most_factors + 1);
    bool has_value = false;
    bool is_negative = coefficient == Coefficient::minus_one || coefficient == Coefficient::minus_number;
    if (coefficient == Coefficient::fitted) {
        drawing.push(Op::constant);
        has_value = true;
    } else if (coefficient >= Coefficient::number || n == 0) {
        const NumberRole role = n == 0 ? NumberRole::term : NumberRole::coefficient;
        const double size = coefficient >= Coefficient::number ? number(role, drawing.random) : 1.0;
        drawing.nodes.push_back(Node::number(simplipy::to_decimal(size)));
        has_value = true;
    }
    Beside before = Beside::nothing;
    std::size_t sign_before = 0;
    for (std::size_t i = 0; i < n && !drawing.is_over(); ++i) {
        const std::size_t choice = answer(Question::atom, atom_context(place, before, n, coefficient), drawing.random);
        const Op op = choice < first_atom ? Op::variable : atom_operators()[choice - first_atom];
        const std::size_t exponent =
            answer(Question::exponent, exponent_context(kind_of(op), n, sign_before, place), drawing.random);
        const bool is_below = exponent != fitted_exponent && exponent >= negative_exponents;
        factor(drawing, place, choice, exponent);
        if (has_value || i > 0)
            drawing.push(is_below ? Op::div : Op::mul);
        else if (is_below)
            drawing.push(Op::inv);
        before = kind_of(op);
        sign_before = is_below ? 2 : 1;
    }
    if (is_negative) drawing.push(Op::neg);
}

void FormSampler::factor(Drawing& drawing, Place, std::size_t choice, std::size_t exponent_choice) const {
    Value exponent = Value::fitted();
    if (exponent_choice != fitted_exponent) {
        const std::size_t size = exponent_choice % negative_exponents;
        exponent =
            Value::of(size == other_exponent ? number(NumberRole::exponent, drawing.random) : exponent_sizes[size]);
        if (exponent_choice >= negative_exponents) exponent.number = -exponent.number;
        if (exponent.number < 0.0) exponent.kind = Value::Kind::number;
    }
    atom(drawing, choice, exponent);
    if (drawing.is_over()) return;
    if (exponent.is_fitted() || std::abs(exponent.number) != 1.0) raise(drawing.nodes, exponent);
}

void FormSampler::atom(Drawing& drawing, std::size_t choice, const Value& exponent) const {
    if (choice < first_atom) {
        const bool is_old = !drawing.seen.empty() && (choice == old_variable || drawing.seen.size() == n_columns_);
        std::int64_t variable = 0;
        if (is_old) {
            variable = drawing.seen[drawing.random.below(drawing.seen.size())];
        } else {
            do variable = 1 + static_cast<std::int64_t>(drawing.random.below(n_columns_));
            while (std::ranges::find(drawing.seen, variable) != drawing.seen.end());
            drawing.seen.push_back(variable);
        }
        drawing.nodes.push_back(Node::variable(variable));
        return;
    }
    Factor made{atom_operators()[choice - first_atom], 0, {}, exponent};
    const std::size_t n_operands = made.atom == Op::add ? 1 : static_cast<std::size_t>(simplipy::arity(made.atom));
    for (std::size_t i = 0; i < n_operands && !drawing.is_over(); ++i) sum(drawing, place_of(made, i));
    if (made.atom != Op::add) drawing.push(made.atom);
}

}  // namespace flash_ansr
