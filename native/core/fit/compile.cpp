// From a tree to the program that fits it.

#include <algorithm>
#include <limits>

#include "program.hpp"

namespace simplipy {
namespace {

using Kind = Ref::Kind;

double literal_value(const Node& node) {
    if (node.op == Op::number) return to_double(node.decimal());
    if (node.op == Op::pi) return 3.141592653589793238462643383279502884;
    if (node.op == Op::e) return 2.718281828459045235360287471352662498;
    return std::numeric_limits<double>::quiet_NaN();  // inf, -inf and nan are defined nowhere
}

double scale_factor(Op op) {
    if (op == Op::neg) return -1.0;
    const double k = info(op).literal;
    return info(op).form == simplipy::Form::quotient ? 1.0 / k : k;
}

bool is_scale(Op op) { return info(op).has(role::scale_factor); }

// Base and terms of a subtree.
struct Form {
    Ref base;
    std::vector<LinearTerm> terms;
};

class FitCompiler {
  public:
    FitCompiler(const FitTree& tree, std::size_t root, bool project)
        : tree_(tree), nodes_(tree.tree->nodes()), root_(root), first_(root + 1 - nodes_[root].length) {
        choose_linear(project);
        if (!project) mark_affine();
    }

    std::size_t n_linear() { return mark(root_).n_linear; }

    FitProgram compile() {
        register_leaves();
        for (std::size_t i = first_; i <= root_; ++i) {
            if (!is_operator(nodes_[i].op)) {
                push_leaf(i);
            } else if (is_linear(i)) {
                push_linear(i);
            } else {
                push_plain(i);
            }
        }
        finish();
        return std::move(program_);
    }

  private:
    struct Mark {
        std::uint32_t n_linear = 0;  // parameters that the subtree is jointly affine in
        bool has_base = true;        // and whether something is left without them
        bool linear = false;         // the chosen ones pass through here
        bool is_log_base = false;
        bool affine = false;  // while all else is fixed, the value is affine in this subtree
    };

    Mark& mark(std::size_t i) { return marks_[i - first_]; }
    bool is_linear(std::size_t i) { return mark(i).linear; }

    // Bottom up: how many parameters a subtree is jointly affine in. Top down: the way to them, the larger side of a
    // product. Parameters that are used twice or have bounds stay nonlinear.
    void choose_linear(bool project) {
        marks_.resize(nodes_[root_].length);
        for (std::size_t i = first_; i <= root_; ++i) {
            const Op op = nodes_[i].op;
            if (op == Op::pow) {
                const std::size_t base = left_of(nodes_, i);
                const std::int64_t p = tree_.leaves[base].parameter;
                if (p >= 0 && once(p) && depends(i - 1)) mark(base).is_log_base = true;
            }
            if (!project) continue;
            count_linear(i);
        }
        mark(root_).linear = mark(root_).n_linear > 0;
        for (std::size_t i = root_ + 1; i-- > first_;) {
            if (!is_linear(i) || !is_operator(nodes_[i].op)) continue;
            const Op op = nodes_[i].op;
            if (is_scale(op)) {
                mark(i - 1).linear = true;
                continue;
            }
            Mark& left = mark(left_of(nodes_, i));
            Mark& right = mark(i - 1);
            const bool sum = op == Op::add || op == Op::sub;
            const bool both = sum || is_factored(i);
            left.linear = left.n_linear > 0 && (both || op == Op::div || left.n_linear >= right.n_linear);
            right.linear = right.n_linear > 0 && op != Op::div && (both || !left.linear);
        }
    }

    void count_linear(std::size_t i) {
        const Op op = nodes_[i].op;
        Mark& own = mark(i);
        if (!is_operator(op)) {
            const std::int64_t p = tree_.leaves[i].parameter;
            own.n_linear = p >= 0 && once(p) && !tree_.bounded[static_cast<std::size_t>(p)] ? 1 : 0;
            own.has_base = own.n_linear == 0;
            return;
        }
        const Mark& right = mark(i - 1);
        if (is_scale(op)) {
            own.n_linear = right.n_linear;
            own.has_base = right.has_base;
        }
        if (!info(op).has(role::arithmetic)) return;
        const Mark& left = mark(left_of(nodes_, i));
        if (op == Op::add || op == Op::sub) {
            own.n_linear = left.n_linear + right.n_linear;
            own.has_base = left.has_base || right.has_base;
        } else if (op == Op::mul && is_factored(i)) {
            own.n_linear = left.n_linear + right.n_linear;
            own.has_base = false;
        } else {
            const Mark& larger = op == Op::div || left.n_linear >= right.n_linear ? left : right;
            own.n_linear = larger.n_linear;
            own.has_base = larger.has_base;
        }
    }

    // a * (b + c*u + ...): linear in a and a*c, which determine a and c.
    bool is_factored(std::size_t i) {
        if (nodes_[i].op != Op::mul) return false;
        const Mark& left = mark(left_of(nodes_, i));
        const Mark& right = mark(i - 1);
        const auto fits = [](const Mark& one, const Mark& sum) {
            return one.n_linear == 1 && !one.has_base && sum.n_linear > 0 && sum.has_base;
        };
        return fits(left, right) || fits(right, left);
    }

    void mark_affine() {
        mark(root_).affine = true;
        for (std::size_t i = root_ + 1; i-- > first_;) {
            const Op op = nodes_[i].op;
            if (!mark(i).affine || !is_operator(op)) continue;
            const bool passes = is_scale(op) || op == Op::add || op == Op::sub || op == Op::mul;
            if (passes) mark(i - 1).affine = true;
            if (arity(op) == 2 && (passes || op == Op::div)) mark(left_of(nodes_, i)).affine = true;
        }
    }

    bool once(std::int64_t p) const { return tree_.n_uses[static_cast<std::size_t>(p)] == 1; }

    // Whether the subtree holds a variable or a parameter.
    bool depends(std::size_t i) const {
        for (std::size_t j = i + 1 - nodes_[i].length; j <= i; ++j)
            if (tree_.leaves[j].parameter >= 0 || tree_.leaves[j].column >= 0) return true;
        return false;
    }

    void register_leaves() {
        for (std::size_t i = first_; i <= root_; ++i) {
            const Leaf leaf = tree_.leaves[i];
            if (leaf.column >= 0 && find_variable(leaf.column) == program_.variables.size())
                program_.variables.push_back(static_cast<std::uint32_t>(leaf.column));
            if (leaf.parameter >= 0 && !is_linear(i) && find_nonlinear(leaf.parameter) == program_.nonlinear.size())
                program_.nonlinear.push_back(
                    {static_cast<std::uint32_t>(leaf.parameter), mark(i).is_log_base, mark(i).affine});
        }
        program_.n_columns = program_.variables.size();
        std::size_t n_literals = 0;
        for (std::size_t i = first_; i <= root_; ++i)
            if (is_literal(i)) ++n_literals;
        program_.literals.reserve(n_literals);
        program_.n_scalars = program_.nonlinear.size() + n_literals;
    }

    bool is_literal(std::size_t i) const {
        return !is_operator(nodes_[i].op) && tree_.leaves[i].column < 0 && tree_.leaves[i].parameter < 0;
    }

    std::size_t find_variable(std::int64_t column) const {
        const auto& all = program_.variables;
        return static_cast<std::size_t>(std::find(all.begin(), all.end(), static_cast<std::uint32_t>(column)) -
                                        all.begin());
    }

    std::size_t find_nonlinear(std::int64_t parameter) const {
        std::size_t j = 0;
        while (j < program_.nonlinear.size() && program_.nonlinear[j].parameter != parameter) ++j;
        return j;
    }

    void push_leaf(std::size_t i) {
        const Leaf leaf = tree_.leaves[i];
        Form form;
        if (leaf.column >= 0) {
            form.base = {Kind::column, static_cast<std::uint32_t>(find_variable(leaf.column))};
        } else if (leaf.parameter >= 0 && is_linear(i)) {
            form.terms.push_back({static_cast<std::uint32_t>(leaf.parameter), -1, 1.0, {}, false});
        } else if (leaf.parameter >= 0) {
            form.base = {Kind::scalar, static_cast<std::uint32_t>(find_nonlinear(leaf.parameter))};
        } else {
            form.base = {Kind::number,
                         static_cast<std::uint32_t>(program_.nonlinear.size() + program_.literals.size())};
            program_.literals.push_back(literal_value(nodes_[i]));
        }
        stack_.push_back(std::move(form));
    }

    Form pop() {
        Form form = std::move(stack_.back());
        stack_.pop_back();
        return form;
    }

    void push_plain(std::size_t i) {
        const Op op = nodes_[i].op;
        const Ref b = pop().base;
        if (arity(op) == 1) {
            stack_.push_back({emit(op, b, {}, true), {}});
            return;
        }
        const Ref a = pop().base;
        if (op == Op::pow && mark(left_of(nodes_, i)).is_log_base) {
            stack_.push_back({emit(Op::exp, emit(Op::mul, a, b, true), {}, true), {}});
        } else {
            stack_.push_back({emit(op, a, b, true), {}});
        }
    }

    void push_linear(std::size_t i) {
        const Op op = nodes_[i].op;
        Form right = pop();
        if (is_scale(op)) {
            if (right.base.kind != Kind::none) right.base = emit(op, right.base, {}, false);
            for (LinearTerm& term : right.terms) term.factor *= scale_factor(op);
            stack_.push_back(std::move(right));
            return;
        }
        Form left = pop();
        if (op == Op::add || op == Op::sub) {
            stack_.push_back(sum(op, std::move(left), std::move(right)));
        } else if (op == Op::div) {
            stack_.push_back(product(op, std::move(left), right.base));
        } else if (!left.terms.empty() && !right.terms.empty()) {
            const bool left_is_factor = left.base.kind == Kind::none && left.terms.size() == 1;
            stack_.push_back(left_is_factor ? factored(std::move(right), left.terms.front())
                                            : factored(std::move(left), right.terms.front()));
        } else if (left.terms.empty()) {
            stack_.push_back(product(op, std::move(right), left.base));
        } else {
            stack_.push_back(product(op, std::move(left), right.base));
        }
    }

    Form sum(Op op, Form left, Form right) {
        if (left.base.kind == Kind::none) {
            left.base = right.base;
            if (op == Op::sub && right.base.kind != Kind::none) left.base = emit(Op::neg, right.base, {}, false);
        } else if (right.base.kind != Kind::none) {
            left.base = emit(op, left.base, right.base, false);
        }
        for (LinearTerm& term : right.terms) {
            if (op == Op::sub) term.factor = -term.factor;
            left.terms.push_back(term);
        }
        return left;
    }

    // factor * (base + terms)
    Form factored(Form form, LinearTerm factor) {
        for (LinearTerm& term : form.terms) {
            term.factor *= factor.factor;
            if (term.parent < 0) term.parent = static_cast<std::int32_t>(factor.parameter);
        }
        if (factor.basis.kind != Kind::none) form = product(Op::mul, std::move(form), factor.basis);
        factor.basis = form.base;
        form.base = {};
        form.terms.push_back(factor);
        return form;
    }

    Form product(Op op, Form form, Ref other) {
        if (form.base.kind != Kind::none) form.base = emit(op, form.base, other, false);
        for (LinearTerm& term : form.terms) {
            if (term.basis.kind != Kind::none) {
                term.basis = emit(op, term.basis, other, false);
            } else {
                term.basis = op == Op::div ? emit(Op::inv, other, {}, false) : other;
            }
        }
        return form;
    }

    // `last_use`: nobody reads the operands again, so a temporary column can be taken over.
    Ref emit(Op op, Ref a, Ref b, bool last_use) {
        const bool binary = arity(op) == 2;
        if (!binary) b = a;
        FitStep step;
        step.op = op;
        step.a = a;
        step.b = b;
        step.shape = Shape::block_block;
        if (a.is_scalar() != b.is_scalar()) step.shape = a.is_scalar() ? Shape::number_block : Shape::block_number;
        if (a.is_scalar() && b.is_scalar()) {
            const bool active = a.active() || b.active();
            step.out = {active ? Kind::scalar : Kind::number, static_cast<std::uint32_t>(program_.n_scalars++)};
            (active ? program_.scalar_code : program_.number_code).push_back(step);
        } else if (a.active() || b.active()) {
            step.out = {Kind::block, static_cast<std::uint32_t>(program_.n_blocks++)};
            program_.code.push_back(step);
        } else {
            if (last_use) {
                release(a);
                if (binary) release(b);
            }
            step.out = {Kind::column, new_column()};
            program_.column_code.push_back(step);
        }
        return step.out;
    }

    void release(Ref ref) {
        if (ref.kind == Kind::column && ref.index >= program_.variables.size()) free_.push_back(ref.index);
    }

    std::uint32_t new_column() {
        if (free_.empty()) return static_cast<std::uint32_t>(program_.n_columns++);
        const std::uint32_t column = free_.back();
        free_.pop_back();
        return column;
    }

    void finish() {
        Form form = pop();
        program_.base = form.base;
        program_.terms = std::move(form.terms);
        const auto fixed = std::stable_partition(program_.terms.begin(), program_.terms.end(),
                                                 [](const LinearTerm& term) { return !term.basis.active(); });
        program_.n_fixed = static_cast<std::size_t>(fixed - program_.terms.begin());
        plan_backward();
    }

    // Which contributions to an adjoint come first and are written, and which come later and are added.
    void plan_backward() {
        std::vector<bool> blocks(program_.n_blocks);
        program_.reached.assign(program_.n_scalars, false);
        const auto touch = [&](Ref ref) {
            if (!ref.active()) return false;
            std::vector<bool>& all = ref.kind == Kind::block ? blocks : program_.reached;
            const bool before = all[ref.index];
            all[ref.index] = true;
            return before;
        };
        program_.base_adds = touch(program_.base);
        for (LinearTerm& term : program_.terms) term.adds = touch(term.basis);
        for (std::vector<FitStep>* code : {&program_.code, &program_.scalar_code})
            for (auto step = code->rbegin(); step != code->rend(); ++step) {
                step->a_adds = touch(step->a);
                if (arity(step->op) == 2) step->b_adds = touch(step->b);
            }
    }

    const FitTree& tree_;
    const std::vector<Node>& nodes_;
    std::size_t root_;
    std::size_t first_;
    std::vector<Mark> marks_;
    std::vector<Form> stack_;
    std::vector<std::uint32_t> free_;
    FitProgram program_;
};

}  // namespace

std::size_t n_linear_parameters(const FitTree& tree, std::size_t root) {
    return FitCompiler(tree, root, true).n_linear();
}

FitProgram compile_fit(const FitTree& tree, std::size_t root, bool project) {
    return FitCompiler(tree, root, project).compile();
}

}  // namespace simplipy
