// The questions by whose answers a reading is written down, one after the other, and the table of their probabilities.
//
// Each question is asked in a context of a few features. A cell is one answer in one context; the table has one
// logarithm of a probability for each cell. Answers in one context sum up to 1.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/expression/ops.hpp"
#include "reading.hpp"

namespace flash_ansr {

// Where a sum stands.
enum class Place : std::uint8_t {
    whole,
    bracket,
    denominator,
    root,
    exponential,
    logarithm,
    wave,
    function,
    base,
    exponent,
    extremum
};
inline constexpr std::size_t n_places = 11;

enum class Question : std::uint8_t { n_terms, shape, number, atom, exponent };
inline constexpr std::size_t n_questions = 5;

struct QuestionRow {
    std::string name;
    std::vector<std::vector<std::string>> features;  // names of the values of each feature, the most telling one first
    std::vector<std::string> answers;
    std::size_t first_cell = 0;
};

// The questions in the order of the enumeration, with names for people.
const std::vector<QuestionRow>& questions();
std::size_t n_cells();

// The first cell of a context; its answers follow.
std::size_t cell_of(Question question, std::span<const std::size_t> context);

// How the terms of a sum, the factors of a term and so on are named by the answers.
inline constexpr std::size_t most_terms = 8;
inline constexpr std::size_t most_factors = 6;
enum class Coefficient : std::uint8_t { one, minus_one, fitted, number, minus_number };
inline constexpr std::size_t n_coefficients = 5;

inline constexpr std::size_t new_variable = 0;  // answers to `atom`; operators follow
inline constexpr std::size_t old_variable = 1;
inline constexpr std::size_t first_atom = 2;
const std::vector<simplipy::Op>& atom_operators();

inline constexpr std::array<double, 11> exponent_sizes = {1, 2, 3, 4, 5, 6, 0.5, 1.0 / 3, 0.25, 2.0 / 3, 1.5};
inline constexpr std::size_t other_exponent = exponent_sizes.size();          // a usual number
inline constexpr std::size_t negative_exponents = exponent_sizes.size() + 1;  // the same below 0
inline constexpr std::size_t fitted_exponent = 2 * negative_exponents;

// Roles of a number.
enum class NumberRole : std::uint8_t { coefficient, term, exponent };

// What stands beside an atom.
enum class Beside : std::uint8_t { nothing, variable, exponential, logarithm, wave, function, power, bracket };
inline constexpr std::size_t n_beside = 8;
Beside kind_of(simplipy::Op atom);
Place place_of(const Factor& factor, std::size_t operand);

// Contexts, in the order of the features.
std::array<std::size_t, 1> terms_context(Place place);
std::array<std::size_t, 3> shape_context(Place place, std::size_t n_terms, std::size_t before);
std::array<std::size_t, 1> number_context(NumberRole role);
std::array<std::size_t, 4> atom_context(Place place, Beside before, std::size_t n_factors, Coefficient coefficient);
std::array<std::size_t, 4> exponent_context(Beside kind, std::size_t n_factors, std::size_t sign_before, Place place);

// The answer `shape` says what a term looks like: its coefficient and its number of factors.
constexpr std::size_t shape_of(Coefficient coefficient, std::size_t n_factors) {
    return static_cast<std::size_t>(coefficient) * (most_factors + 1) + n_factors;
}
// How a term of this shape counts for the next one: 1 for a number, 2 without a coefficient, 3 with one.
std::size_t beside_shape(std::size_t shape);

}  // namespace flash_ansr
