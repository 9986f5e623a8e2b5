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
    std::vector<std::uint32_t> cells = {};    // of all questions but `variable`
    std::vector<std::uint32_t> choices = {};  // cells of `variable`, asked or not
    std::size_t depth = 0;

    bool is_over() const { return nodes.size() > room; }
    void push(Op op) { nodes.push_back(Node::of(op)); }
};

namespace {

constexpr std::size_t max_depth = 12;
constexpr std::array<Op, 6> powers = {Op::nan, Op::nan, Op::pow2, Op::pow3, Op::pow4, Op::pow5};
constexpr std::array<Op, 6> roots = {Op::nan, Op::nan, Op::root2, Op::root3, Op::root4, Op::root5};

}  // namespace

FormSampler::FormSampler(const PriceTable& table, std::size_t n_columns, std::size_t max_nodes,
                         std::vector<bool> operators)
    : cumulative_(table.log_probs().size()),
      n_columns_(n_columns),
      max_nodes_(max_nodes),
      operators_(std::move(operators)) {
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
        if (!drawing.is_over() && !drawing.seen.empty() && is_as_written(drawing)) return std::move(drawing.nodes);
    }
}

bool FormSampler::is_as_written(const Drawing& drawing) {
    const auto answers = answers_of(read(simplipy::Tree(drawing.nodes, {}).nodes()));
    return answers && answers->cells == drawing.cells &&
           std::ranges::equal(answers->choices, drawing.choices, {}, &Answers::Choice::cell);
}

template <class Context>
std::size_t FormSampler::answer(Question question, const Context& context, Drawing& drawing) const {
    const std::size_t n = questions()[static_cast<std::size_t>(question)].answers.size();
    const std::size_t cell = cell_of(question, context);
    const auto first = cumulative_.begin() + static_cast<std::ptrdiff_t>(cell);
    const auto last = first + static_cast<std::ptrdiff_t>(n);
    const auto at = std::min(std::upper_bound(first, last, drawing.random.uniform() * *(last - 1)), last - 1);
    const auto choice = static_cast<std::size_t>(at - first);
    if (question != Question::variable) drawing.cells.push_back(static_cast<std::uint32_t>(cell + choice));
    return choice;
}

double FormSampler::number(NumberRole role, Drawing& drawing) const {
    const std::size_t place = answer(Question::number, number_context(role), drawing);
    return place < usual_numbers().size() ? usual_numbers()[place].size : 1.0;
}

void FormSampler::sum(Drawing& drawing, Place place) const {
    if (++drawing.depth > max_depth) drawing.nodes.resize(drawing.room + 1);
    const std::size_t n = 1 + answer(Question::n_terms, terms_context(place), drawing);
    for (std::size_t i = 0; i < n && !drawing.is_over(); ++i) {
        const TermPlace where{place, i, n - 1 - i};
        term(drawing, where, answer(Question::shape, shape_context(where, drawing.seen.size()), drawing));
        if (i > 0) drawing.push(Op::add);
    }
    --drawing.depth;
}

void FormSampler::term(Drawing& drawing, const TermPlace& where, std::size_t shape) const {
    FactorPlace place{where, coefficient_in(shape), 0};
    const std::size_t n = factors_in(shape);
    const std::size_t begin = drawing.nodes.size();
    coefficient(drawing, place.coefficient, n);
    for (std::size_t i = 0; i < n && !drawing.is_over(); ++i) {
        place.n_after = n - 1 - i;
        const std::size_t dividend_end = drawing.nodes.size();
        factor(drawing, place);
        const bool is_below = place.exponent_before != fitted_exponent && place.exponent_before >= negative_exponents;
        const bool is_first = dividend_end == begin;
        if (is_below)
            divide(drawing, begin, is_first);
        else if (!is_first)
            drawing.push(Op::mul);
    }
    if (place.coefficient != Coefficient::minus_one || n == 0) return;
    if (has(Op::neg)) {
        drawing.push(Op::neg);
    } else {
        drawing.nodes.push_back(Node::number(simplipy::to_decimal(-1.0)));
        drawing.push(Op::mul);
    }
}

void FormSampler::divide(Drawing& drawing, std::size_t begin, bool is_first) const {
    if (is_first && has(Op::inv)) {
        drawing.push(Op::inv);
    } else if (has(Op::div)) {
        const auto at = drawing.nodes.begin() + static_cast<std::ptrdiff_t>(begin);
        if (is_first) drawing.nodes.insert(at, Node::number(simplipy::to_decimal(1.0)));
        drawing.push(Op::div);
    } else {
        drawing.push(Op::inv);
        drawing.push(Op::mul);
    }
}

void FormSampler::coefficient(Drawing& drawing, Coefficient coefficient, std::size_t n_factors) const {
    if (coefficient == Coefficient::fitted) drawing.push(Op::constant);
    if (coefficient == Coefficient::fitted || (coefficient < Coefficient::number && n_factors > 0)) return;
    const NumberRole role = n_factors == 0 ? NumberRole::term : NumberRole::coefficient;
    const double size = coefficient >= Coefficient::number ? number(role, drawing) : 1.0;
    const bool is_negative = coefficient == Coefficient::minus_one || coefficient == Coefficient::minus_number;
    drawing.nodes.push_back(Node::number(simplipy::to_decimal(is_negative ? -size : size)));
}

void FormSampler::factor(Drawing& drawing, FactorPlace& place) const {
    const std::size_t choice = answer(Question::atom, atom_context(place), drawing);
    const Op op = choice == a_variable ? Op::variable : atom_operators()[choice - first_atom];
    const bool is_new = choice == a_variable && variable_is_new(drawing, place);
    const std::size_t size_and_sign = answer(Question::exponent, exponent_context(place, kind_of(op), is_new), drawing);
    const Value exponent = exponent_of(size_and_sign, drawing);
    place.before = kind_of(op);
    place.exponent_before = size_and_sign;
    if (op == Op::variable)
        variable(drawing, is_new);
    else
        function(drawing, Factor{op, 0, {}, exponent});
    if (drawing.is_over()) return;
    if (exponent.is_fitted() || std::abs(exponent.number) != 1.0) raise(drawing.nodes, exponent);
}

void FormSampler::raise(std::vector<Node>& nodes, const Value& exponent) const {
    if (exponent.is_fitted()) {
        nodes.push_back(Node::of(Op::constant));
        nodes.push_back(Node::of(Op::pow));
        return;
    }
    const double size = std::abs(exponent.number);
    for (std::size_t q = 1; q < roots.size(); ++q) {
        const double p = std::round(size * static_cast<double>(q));
        if (p < 1 || p > 5 || std::abs(size * static_cast<double>(q) - p) > 1e-9) continue;
        const Op power = powers[static_cast<std::size_t>(p)];
        if ((q > 1 && !has(roots[q])) || (p > 1 && !has(power))) continue;
        if (q > 1) nodes.push_back(Node::of(roots[q]));
        if (p > 1) nodes.push_back(Node::of(power));
        return;
    }
    nodes.push_back(Node::number(simplipy::to_decimal(size)));
    nodes.push_back(Node::of(Op::pow));
}

Value FormSampler::exponent_of(std::size_t answer, Drawing& drawing) const {
    if (answer == fitted_exponent) return Value::fitted();
    const std::size_t size = answer % negative_exponents;
    const double number_of = size == other_exponent ? number(NumberRole::exponent, drawing) : exponent_sizes[size];
    return {Value::Kind::number, answer < negative_exponents ? number_of : -number_of};
}

bool FormSampler::variable_is_new(Drawing& drawing, const FactorPlace& place) const {
    bool is_new = drawing.seen.empty();
    if (!is_new && drawing.seen.size() < n_columns_)
        is_new = answer(Question::variable, variable_context(place), drawing) == new_variable;
    const std::size_t cell = cell_of(Question::variable, variable_context(place));
    drawing.choices.push_back(static_cast<std::uint32_t>(cell + (is_new ? new_variable : old_variable)));
    return is_new;
}

void FormSampler::variable(Drawing& drawing, bool is_new) const {
    std::int64_t variable = 0;
    if (is_new) {
        do variable = 1 + static_cast<std::int64_t>(drawing.random.below(n_columns_));
        while (std::ranges::find(drawing.seen, variable) != drawing.seen.end());
        drawing.seen.push_back(variable);
    } else {
        variable = drawing.seen[drawing.random.below(drawing.seen.size())];
    }
    drawing.nodes.push_back(Node::variable(variable));
}

void FormSampler::function(Drawing& drawing, const Factor& made) const {
    const std::size_t n_operands = made.atom == Op::add ? 1 : static_cast<std::size_t>(simplipy::arity(made.atom));
    for (std::size_t i = 0; i < n_operands && !drawing.is_over(); ++i) sum(drawing, place_of(made, i));
    if (made.atom != Op::add) drawing.push(made.atom);
}

}  // namespace flash_ansr
