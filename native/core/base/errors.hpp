// The errors that the core raises; bindings turn each into the Python exception of the same name.
#pragma once

#include <stdexcept>
#include <string>

namespace simplipy {

// Text or tokens that are no expression. The message names position, value and remedy.
struct ParseError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// An expression that cannot be evaluated on the given data: missing columns, wrong number of constants.
struct EvaluationError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace simplipy
