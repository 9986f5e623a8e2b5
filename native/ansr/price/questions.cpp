#include "questions.hpp"

#include <algorithm>

#include "usual_numbers.hpp"

namespace flash_ansr {
namespace {

using simplipy::Op;

const std::vector<std::string> place_names = {"whole", "bracket",  "denominator", "root",     "exp",     "log",
                                              "wave",  "function", "base",        "exponent", "extremum"};
const std::vector<std::string> beside_names = {"nothing", "variable", "exp",   "log",
                                               "wave",    "function", "power", "bracket"};
const std::vector<std::string> atom_kind_names = {"new", "old", "exp", "log", "wave", "function", "power", "bracket"};
const std::vector<std::string> exponent_before_names = {"first", "1",  "2",      "whole",  "other",
                                                        "-1",    "-2", "-whole", "-other", "fitted"};
const std::vector<std::string> scale_names = {"plain", "fitted", "number"};

std::vector<std::string> counts(std::size_t from, std::size_t to) {
    std::vector<std::string> names;
    for (std::size_t n = from; n <= to; ++n) names.push_back(std::to_string(n));
    names.back() += "+";
    return names;
}

std::vector<std::string> shape_names() {
    std::vector<std::string> names;
    for (const char* coefficient : {"1", "-1", "fitted", "number", "-number"})
        for (std::size_t n = 0; n <= most_factors; ++n)
            names.push_back(std::string(coefficient) + ":" + std::to_string(n));
    return names;
}

std::vector<std::string> atom_names() {
    std::vector<std::string> names = {"variable"};
    for (const Op op : atom_operators())
        names.push_back(op == Op::add ? "bracket" : std::string(simplipy::info(op).token));
    return names;
}

std::vector<std::string> exponent_names() {
    std::vector<std::string> names;
    for (const char* sign : {"", "-"}) {
        for (const char* size : {"1", "2", "3", "4", "5", "6", "1/2", "1/3", "1/4", "2/3", "3/2", "number"})
            names.push_back(std::string(sign) + size);
    }
    names.emplace_back("fitted");
    return names;
}

std::vector<std::string> number_names() {
    std::vector<std::string> names;
    for (const UsualNumber& number : usual_numbers()) names.push_back(number.text);
    names.emplace_back("0");
    return names;
}

std::vector<QuestionRow> made() {
    std::vector<std::string> n_terms = counts(1, most_terms);
    n_terms.back() = std::to_string(most_terms);
    std::vector<QuestionRow> rows = {
        {"n_terms", {place_names}, n_terms},
        {"shape", {place_names, counts(0, 2), counts(0, 2), counts(0, 2)}, shape_names()},
        {"number", {{"coefficient", "term", "exponent"}}, number_names()},
        {"atom", {beside_names, counts(0, 2), place_names, scale_names, {"first", "later"}}, atom_names()},
        {"variable", {beside_names, counts(0, 2), place_names}, {"new", "old"}},
        {"exponent",
         {exponent_before_names,
          atom_kind_names,
          {"whole", "denominator", "bracket", "other"},
          scale_names,
          {"last", "more"}},
         exponent_names()},
    };
    std::size_t cell = 0;
    for (QuestionRow& row : rows) {
        row.first_cell = cell;
        std::size_t n = row.answers.size();
        for (const auto& names : row.features) n *= names.size();
        cell += n;
    }
    return rows;
}

std::size_t to_two(std::size_t n) { return std::min<std::size_t>(n, 2); }

std::size_t scale_of(Coefficient coefficient) {
    return coefficient <= Coefficient::minus_one ? 0 : coefficient == Coefficient::fitted ? 1 : 2;
}

// The place among `exponent_before_names` of an answer to `exponent`.
std::size_t class_of_exponent(std::size_t answer) {
    if (answer == FactorPlace::first_factor) return 0;
    if (answer == fitted_exponent) return 9;
    const std::size_t size = answer % negative_exponents;
    const std::size_t kind = size < 2 ? size : size < 6 ? 2 : 3;
    return 1 + kind + (answer < negative_exponents ? 0 : 4);
}

}  // namespace

const std::vector<QuestionRow>& questions() {
    static const std::vector<QuestionRow> rows = made();
    return rows;
}

std::size_t n_cells() {
    const QuestionRow& last = questions().back();
    std::size_t n = last.answers.size();
    for (const auto& names : last.features) n *= names.size();
    return last.first_cell + n;
}

std::size_t cell_of(Question question, std::span<const std::size_t> context) {
    // sizes of the features, so that no vector is asked
    struct Strides {
        std::size_t first_cell, n_answers;
        std::array<std::size_t, 5> sizes;
    };
    static const std::vector<Strides> all = [] {
        std::vector<Strides> rows;
        for (const QuestionRow& row : questions()) {
            rows.push_back({row.first_cell, row.answers.size(), {}});
            std::ranges::transform(row.features, rows.back().sizes.begin(), &std::vector<std::string>::size);
        }
        return rows;
    }();
    const Strides& row = all[static_cast<std::size_t>(question)];
    std::size_t place = 0;
    for (std::size_t i = 0; i < context.size(); ++i) place = place * row.sizes[i] + context[i];
    return row.first_cell + place * row.n_answers;
}

const std::vector<Op>& atom_operators() {
    static const std::vector<Op> ops = [] {
        std::vector<Op> found = {Op::add, Op::pow, Op::abs};
        for (const simplipy::OpInfo& row : simplipy::operator_table)
            if (row.has(simplipy::role::transcendental) || row.has(simplipy::role::extremum)) found.push_back(row.op);
        return found;
    }();
    return ops;
}

Beside kind_of(Op atom) {
    switch (atom) {
        case Op::variable:
            return Beside::variable;
        case Op::exp:
            return Beside::exponential;
        case Op::log:
            return Beside::logarithm;
        case Op::pow:
            return Beside::power;
        case Op::add:
            return Beside::bracket;
        default:
            return simplipy::info(atom).has(simplipy::role::wave) ? Beside::wave : Beside::function;
    }
}

Place place_of(const Factor& factor, std::size_t operand) {
    const Value& exponent = factor.exponent;
    switch (factor.atom) {
        case Op::add:
            if (exponent.is_fitted() || exponent.number != static_cast<double>(static_cast<int>(exponent.number)))
                return Place::root;
            return exponent.number < 0.0 ? Place::denominator : Place::bracket;
        case Op::pow:
            return operand == 0 ? Place::base : Place::exponent;
        case Op::exp:
            return Place::exponential;
        case Op::log:
            return Place::logarithm;
        default:
            break;
    }
    const simplipy::OpInfo& row = simplipy::info(factor.atom);
    if (row.has(simplipy::role::wave)) return Place::wave;
    return row.has(simplipy::role::transcendental) ? Place::function : Place::extremum;
}

std::array<std::size_t, 1> terms_context(Place place) { return {static_cast<std::size_t>(place)}; }

std::array<std::size_t, 4> shape_context(const TermPlace& term, std::size_t n_variables) {
    return {static_cast<std::size_t>(term.place), to_two(term.n_after), to_two(term.n_before), to_two(n_variables)};
}

std::array<std::size_t, 1> number_context(NumberRole role) { return {static_cast<std::size_t>(role)}; }

std::array<std::size_t, 5> atom_context(const FactorPlace& factor) {
    return {static_cast<std::size_t>(factor.before), to_two(factor.n_after),
            static_cast<std::size_t>(factor.term.place), scale_of(factor.coefficient),
            std::min<std::size_t>(factor.term.n_before, 1)};
}

std::array<std::size_t, 3> variable_context(const FactorPlace& factor) {
    return {static_cast<std::size_t>(factor.before), to_two(factor.n_after),
            static_cast<std::size_t>(factor.term.place)};
}

std::array<std::size_t, 5> exponent_context(const FactorPlace& factor, Beside kind, bool is_new) {
    const Place place = factor.term.place;
    const std::size_t where = place == Place::whole                             ? 0
                              : place == Place::denominator                     ? 1
                              : place == Place::bracket || place == Place::root ? 2
                                                                                : 3;
    return {class_of_exponent(factor.exponent_before), is_new ? 0 : static_cast<std::size_t>(kind), where,
            scale_of(factor.coefficient), factor.n_after > 0 ? 1U : 0U};
}

}  // namespace flash_ansr
