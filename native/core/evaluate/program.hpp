// A tree compiled for evaluation: instructions over registers that hold a block of rows, or one number.
// Subtrees without variables are numbers and run once a call. In adjoint mode free constants stay leaves with an
// adjoint of their own, and every instruction keeps its value for the backward sweep.
#pragma once

#include <cstdint>
#include <vector>

#include "core/expression/tree.hpp"
#include "kernels.hpp"

namespace simplipy {

// Where the adjoint of an operand goes.
struct Target {
    enum class Kind : std::uint8_t { none, slot, constant, variable };
    Kind kind = Kind::none;
    std::uint32_t index = 0;
};

struct Instruction {
    Op op = Op::nan;
    Shape shape = Shape::block_block;
    bool broadcast = false;  // out = the number a in every row
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    std::uint32_t out = 0;
    Target a_target;
    Target b_target;
    std::uint32_t adjoint = 0;  // slot of the adjoint of `out`
};

struct Program {
    enum class Mode { values, adjoint_constants, adjoint_variables };

    // A number register: a literal, or the free constant that fills it.
    struct Number {
        double value;
        std::int64_t constant;  // -1: none
    };

    std::vector<Number> numbers;         // number registers 0 .. numbers.size()-1
    std::size_t n_number_registers = 0;  // those and the results of number_code
    std::vector<Instruction> number_code;
    std::vector<std::int64_t> variables;  // codes as variable_codes(tree); block registers 0 .. variables.size()-1
    std::size_t n_block_registers = 0;
    std::vector<Instruction> code;
    std::size_t n_constants = 0;
    std::size_t n_adjoints = 0;
    bool result_is_number = false;
    std::uint32_t result = 0;
    Target result_target;  // of the root, where it is a leaf
};

Program compile(const Tree& tree, Program::Mode mode);

// The program for values, compiled on first use and kept by the tree.
const Program& compiled(const Tree& tree);

}  // namespace simplipy
