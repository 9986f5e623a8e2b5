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
    std::vector<std::string> names = {"new", "old"};
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
        {"shape", {place_names, counts(1, 3), {"first", "number", "plain", "scaled"}}, shape_names()},
        {"number", {{"coefficient", "term", "exponent"}}, number_names()},
        {"atom", {place_names, beside_names, counts(1, 3), {"plain", "fitted", "number"}}, atom_names()},
        {"exponent",
         {beside_names, counts(1, 2), {"first", "above", "below"}, {"whole", "denominator", "other"}},
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
    const QuestionRow& row = questions()[static_cast<std::size_t>(question)];
    std::size_t place = 0;
    for (std::size_t i = 0; i < context.size(); ++i) place = place * row.features[i].size() + context[i];
    return row.first_cell + place * row.answers.size();
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

std::array<std::size_t, 3> shape_context(Place place, std::size_t n_terms, std::size_t before) {
    return {static_cast<std::size_t>(place), std::min<std::size_t>(n_terms, 3) - 1, before};
}

std::array<std::size_t, 1> number_context(NumberRole role) { return {static_cast<std::size_t>(role)}; }

std::array<std::size_t, 4> atom_context(Place place, Beside before, std::size_t n_factors, Coefficient coefficient) {
    const std::size_t scale = coefficient <= Coefficient::minus_one ? 0 : coefficient == Coefficient::fitted ? 1 : 2;
    return {static_cast<std::size_t>(place), static_cast<std::size_t>(before), std::min<std::size_t>(n_factors, 3) - 1,
            scale};
}

std::array<std::size_t, 4> exponent_context(Beside kind, std::size_t n_factors, std::size_t sign_before, Place place) {
    const std::size_t where = place == Place::whole ? 0 : place == Place::denominator ? 1 : 2;
    return {static_cast<std::size_t>(kind), std::min<std::size_t>(n_factors, 2) - 1, sign_before, where};
}

std::size_t beside_shape(std::size_t shape) {
    const std::size_t n_factors = shape % (most_factors + 1);
    const auto coefficient = static_cast<Coefficient>(shape / (most_factors + 1));
    return n_factors == 0 ? 1 : coefficient <= Coefficient::minus_one ? 2 : 3;
}

}  // namespace flash_ansr
