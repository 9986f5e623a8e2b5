// A formula as people read it: a sum of terms, each a coefficient times powers of atoms.
//
// Spellings that differ in tokens alone have one reading: c^x is exp(c*x), sqrt(c*x) is c*sqrt(x), log(c*x^2) is
// c + 2*log(x), 1/(1 + c/x) is x/(x + c), see also normal.hpp. Numbers that laws rarely have count as fitted. A reading
// is made to be priced; it does not keep domains.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/expression/tree.hpp"

namespace flash_ansr {

// The number 1, a usual number that is written out, or one that is fitted to data.
struct Value {
    enum class Kind : std::uint8_t { one, number, fitted };
    Kind kind = Kind::one;
    double number = 1.0;  // of a fitted one: that usual numbers make, as 7/9 by roots and powers; 0 for others

    static Value of(double number);
    static Value fitted() { return {Kind::fitted, 0.0}; }
    bool is_fitted() const { return kind == Kind::fitted; }
    bool is_known() const { return !is_fitted() || is_made(); }
    bool is_made() const { return is_fitted() && number != 0.0; }
    friend bool operator==(const Value&, const Value&) = default;
};

Value product(Value a, Value b);
Value sum(Value a, Value b);
Value power(Value base, Value exponent);

struct Term;

struct Sum {
    std::vector<Term> terms;

    // Whether it is a number, fitted or not.
    bool is_value() const;
    Value value() const;
};

// atom^exponent. An atom is a variable, a function of sums, a sum in brackets (Op::add), or a power whose exponent is
// not a number (Op::pow).
struct Factor {
    simplipy::Op atom = simplipy::Op::variable;
    std::int64_t variable = 0;
    std::vector<Sum> operands;
    Value exponent;

    // Two fitted constants are not the same one.
    bool same_atom(const Factor& other) const;
};

// Multiplies a product by one more factor.
void multiply(std::vector<Factor>& factors, Factor factor);

struct Term {
    Value coefficient;
    std::vector<Factor> factors;
};

Sum read(const std::vector<simplipy::Node>& postfix);

// The reading with fitted constants for its numbers, 1, -1 and exponents apart; nullopt where it has none of these.
std::optional<Sum> with_numbers_fitted(const Sum& reading);

}  // namespace flash_ansr
