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

enum class Question : std::uint8_t { n_terms, shape, number, atom, variable, exponent };

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

inline constexpr std::size_t a_variable = 0;  // answer to `atom`; operators follow
inline constexpr std::size_t first_atom = 1;
const std::vector<simplipy::Op>& atom_operators();

inline constexpr std::size_t new_variable = 0;  // answers to `variable`
inline constexpr std::size_t old_variable = 1;

inline constexpr std::array<double, 11> exponent_sizes = {1, 2, 3, 4, 5, 6, 0.5, 1.0 / 3, 0.25, 2.0 / 3, 1.5};
inline constexpr std::size_t other_exponent = exponent_sizes.size();          // a usual number
inline constexpr std::size_t negative_exponents = exponent_sizes.size() + 1;  // the same below 0
inline constexpr std::size_t fitted_exponent = 2 * negative_exponents;

// Roles of a number.
enum class NumberRole : std::uint8_t { coefficient, term, exponent };

// The kind of factor that stands before an atom.
enum class Beside : std::uint8_t { nothing, variable, exponential, logarithm, wave, function, power, bracket };
Beside kind_of(simplipy::Op atom);
Place place_of(const Factor& factor, std::size_t operand);

// Where a term stands in its sum.
struct TermPlace {
    Place place;
    std::size_t n_before;  // terms
    std::size_t n_after;
};

// Where a factor stands in its term.
struct FactorPlace {
    TermPlace term;
    Coefficient coefficient;
    std::size_t n_after;  // factors
    Beside before = Beside::nothing;
    std::size_t exponent_before = first_factor;  // answer to `exponent`

    static constexpr std::size_t first_factor = fitted_exponent + 1;
};

// Contexts, in the order of the features.
std::array<std::size_t, 1> terms_context(Place place);
std::array<std::size_t, 4> shape_context(const TermPlace& term, std::size_t n_variables);
std::array<std::size_t, 1> number_context(NumberRole role);
std::array<std::size_t, 5> atom_context(const FactorPlace& factor);
std::array<std::size_t, 3> variable_context(const FactorPlace& factor);
std::array<std::size_t, 5> exponent_context(const FactorPlace& factor, Beside kind, bool is_new);

// The answer `shape` says what a term looks like: its coefficient and its number of factors.
constexpr std::size_t shape_of(Coefficient coefficient, std::size_t n_factors) {
    return static_cast<std::size_t>(coefficient) * (most_factors + 1) + n_factors;
}
constexpr Coefficient coefficient_in(std::size_t shape) { return static_cast<Coefficient>(shape / (most_factors + 1)); }
constexpr std::size_t factors_in(std::size_t shape) { return shape % (most_factors + 1); }

}  // namespace flash_ansr
