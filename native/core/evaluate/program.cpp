#include "program.hpp"

#include <algorithm>
#include <limits>

namespace simplipy {
namespace {

double symbol_value(Op op) {
    if (op == Op::pi) return 3.141592653589793238462643383279502884;
    if (op == Op::e) return 2.718281828459045235360287471352662498;
    return std::numeric_limits<double>::quiet_NaN();  // inf, -inf and nan are defined nowhere
}

class Compiler {
  public:
    Compiler(const Tree& tree, Program::Mode mode) : tree_(tree), mode_(mode) {}

    Program compile() {
        program_.variables = variable_codes(tree_);
        program_.code.reserve(tree_.size());
        next_block_ = static_cast<std::uint32_t>(program_.variables.size());
        count_numbers();
        for (const Node& node : tree_.nodes()) {
            if (!is_operator(node.op)) {
                push_leaf(node);
            } else {
                push_operator(node.op);
            }
        }
        program_.n_number_registers = next_number_;
        program_.n_block_registers = next_block_;
        program_.result_is_number = stack_.back().is_number;
        program_.result = stack_.back().reg;
        program_.result_target = stack_.back().target;
        return std::move(program_);
    }

  private:
    struct Value {
        bool is_number;
        bool is_column;
        std::uint32_t reg;
        Target target;
    };

    bool adjoint() const { return mode_ != Program::Mode::values; }

    void count_numbers() {
        next_number_ =
            static_cast<std::uint32_t>(std::count_if(tree_.nodes().begin(), tree_.nodes().end(), [](const Node& node) {
                return !is_operator(node.op) && node.op != Op::variable;
            }));
        program_.numbers.reserve(next_number_);
    }

    std::uint32_t register_of(std::int64_t variable) const {
        const auto found = std::lower_bound(program_.variables.begin(), program_.variables.end(), variable, code_less);
        return static_cast<std::uint32_t>(found - program_.variables.begin());
    }

    void push_leaf(const Node& node) {
        if (node.op == Op::variable) {
            const std::uint32_t reg = register_of(node.payload);
            const bool active = mode_ == Program::Mode::adjoint_variables;
            stack_.push_back({false, true, reg, {active ? Target::Kind::variable : Target::Kind::none, reg}});
            return;
        }
        Target target;
        Program::Number number = {symbol_value(node.op), -1};
        if (node.op == Op::number) number.value = to_double(node.decimal());
        if (node.op == Op::constant) {
            number.constant = static_cast<std::int64_t>(program_.n_constants);
            if (mode_ == Program::Mode::adjoint_constants)
                target = {Target::Kind::constant, static_cast<std::uint32_t>(program_.n_constants)};
            ++program_.n_constants;
        }
        stack_.push_back({true, false, static_cast<std::uint32_t>(program_.numbers.size()), target});
        program_.numbers.push_back(number);
    }

    void push_operator(Op op) {
        const bool binary = arity(op) == 2;
        Value b = stack_.back();
        stack_.pop_back();
        Value a = b;
        if (binary) {
            a = stack_.back();
            stack_.pop_back();
        }
        const bool active = a.target.kind != Target::Kind::none || b.target.kind != Target::Kind::none;
        Instruction code;
        code.op = op;
        if (a.is_number && b.is_number && !active) {
            code.a = a.reg;
            code.b = b.reg;
            code.out = next_number_++;
            program_.number_code.push_back(code);
            stack_.push_back({true, false, code.out, {}});
            return;
        }
        if (a.is_number && b.is_number) a = broadcast(a);
        if (!binary) b = a;
        code.shape = a.is_number ? Shape::number_block : (b.is_number ? Shape::block_number : Shape::block_block);
        code.a = a.reg;
        code.b = b.reg;
        code.a_target = a.target;
        if (binary) code.b_target = b.target;
        release(a);
        if (binary) release(b);
        code.out = new_block();
        Target target;
        if (active) {
            code.adjoint = static_cast<std::uint32_t>(program_.n_adjoints++);
            target = {Target::Kind::slot, code.adjoint};
        }
        program_.code.push_back(code);
        stack_.push_back({false, false, code.out, target});
    }

    Value broadcast(const Value& number) {
        Instruction code;
        code.broadcast = true;
        code.a = number.reg;
        code.out = new_block();
        program_.code.push_back(code);
        return {false, false, code.out, number.target};
    }

    std::uint32_t new_block() {
        if (free_.empty()) return next_block_++;
        const std::uint32_t reg = free_.back();
        free_.pop_back();
        return reg;
    }

    // Kernels work in place, so an operand's register can hold the result; the backward sweep still needs the values.
    void release(const Value& value) {
        if (!value.is_number && !value.is_column && !adjoint()) free_.push_back(value.reg);
    }

    const Tree& tree_;
    Program::Mode mode_;
    Program program_;
    std::vector<Value> stack_;
    std::vector<std::uint32_t> free_;
    std::uint32_t next_number_ = 0;
    std::uint32_t next_block_ = 0;
};

}  // namespace

Program compile(const Tree& tree, Program::Mode mode) { return Compiler(tree, mode).compile(); }

const Program& compiled(const Tree& tree) {
    return tree.program_.get([&] { return compile(tree, Program::Mode::values); });
}

}  // namespace simplipy
