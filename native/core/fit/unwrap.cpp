#include "unwrap.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace simplipy {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t n_restarts = 3;

struct Inverse {
    double value;
    double slope;
};

double odd_root(double t, double k) { return std::copysign(std::pow(std::fabs(t), 1.0 / k), t); }

// g^-1(t) and its derivative; NaN where t is no value of g. Even functions take the branch h >= 0.
Inverse inverse(Op op, double t) {
    switch (op) {
        case Op::neg:
            return {-t, 1.0};
        case Op::inv:
            return {1.0 / t, 1.0 / (t * t)};
        case Op::exp:
            return {t > 0.0 ? std::log(t) : unknown, 1.0 / t};
        case Op::log:
            return {std::exp(t), std::exp(t)};
        case Op::abs:
            return {t >= 0.0 ? t : unknown, 1.0};
        case Op::pow2:
            return {std::sqrt(t), 0.5 / std::sqrt(t)};
        case Op::pow3:
            return {std::cbrt(t), std::cbrt(t) / (3.0 * t)};
        case Op::pow4:
            return {std::sqrt(std::sqrt(t)), 0.25 * std::sqrt(std::sqrt(t)) / t};
        case Op::pow5:
            return {odd_root(t, 5.0), odd_root(t, 5.0) / (5.0 * t)};
        case Op::root2:
            return {t >= 0.0 ? t * t : unknown, 2.0 * t};
        case Op::root3:
            return {t * t * t, 3.0 * t * t};
        case Op::root4:
            return {t >= 0.0 ? t * t * t * t : unknown, 4.0 * t * t * t};
        case Op::root5:
            return {t * t * t * t * t, 5.0 * t * t * t * t};
        case Op::tan:
            return {std::atan(t), 1.0 / (1.0 + t * t)};
        case Op::sin:
            return {std::asin(t), 1.0 / std::sqrt(1.0 - t * t)};
        case Op::asin:
            return {std::fabs(t) <= 1.5707963267948966 ? std::sin(t) : unknown, std::cos(t)};
        case Op::acos:
            return {t >= 0.0 && t <= 3.141592653589793 ? std::cos(t) : unknown, std::sin(t)};
        case Op::atan:
            return {std::fabs(t) < 1.5707963267948966 ? std::tan(t) : unknown, 1.0 + std::tan(t) * std::tan(t)};
        case Op::sinh:
            return {std::asinh(t), 1.0 / std::sqrt(t * t + 1.0)};
        case Op::cosh:
            return {std::acosh(t), 1.0 / std::sqrt(t * t - 1.0)};
        case Op::tanh:
            return {std::atanh(t), 1.0 / (1.0 - t * t)};
        case Op::asinh:
            return {std::sinh(t), std::cosh(t)};
        case Op::acosh:
            return {t >= 0.0 ? std::cosh(t) : unknown, std::sinh(t)};
        case Op::atanh:
            return {std::tanh(t), 1.0 - std::tanh(t) * std::tanh(t)};
        default:
            break;
    }
    const double k = info(op).literal;
    if (info(op).form == Form::scale) return {t / k, 1.0 / k};
    if (info(op).form == Form::quotient) return {t * k, k};
    return {unknown, unknown};
}

// The operand h of a binary operator from the value t and the other operand u.
Inverse inverse(Op op, bool left, double t, double u) {
    switch (op) {
        case Op::add:
            return {t - u, 1.0};
        case Op::sub:
            return {left ? t + u : u - t, 1.0};
        case Op::mul:
            return {t / u, 1.0 / u};
        case Op::div:
            return left ? Inverse{t * u, u} : Inverse{u / t, u / (t * t)};
        case Op::pow:
            break;
        default:
            return {unknown, unknown};
    }
    if (left) {  // h^u
        if (t > 0.0) return {std::pow(t, 1.0 / u), std::pow(t, 1.0 / u) / (u * t)};
        return {unknown, unknown};
    }
    if (t > 0.0 && u > 0.0) return {std::log(t) / std::log(u), 1.0 / (t * std::log(u))};
    return {unknown, unknown};
}

}  // namespace

bool Unwrapper::has_parameters(const FitTree& tree, std::size_t i) const {
    for (std::size_t j = i + 1 - tree.tree->nodes()[i].length; j <= i; ++j)
        if (tree.leaves[j].parameter >= 0) return true;
    return false;
}

std::vector<double> Unwrapper::values_of(const FitTree& tree, std::size_t node, const FitRows& rows) {
    const FitProgram program = compile_fit(tree, node, false);
    model_.bind(program, rows);
    std::vector<double> values(rows.n_padded());
    model_.base_values(values);
    return values;
}

bool Unwrapper::peel_unary(Op op, Target& target) const {
    if (op == Op::cos) return false;  // neither monotone nor even around a known point
    for (std::size_t i = 0; i < target.values.size(); ++i) {
        const Inverse in = inverse(op, target.values[i]);
        target.values[i] = in.value;
        target.sizes[i] *= std::fabs(in.slope);
    }
    return true;
}

void Unwrapper::peel_binary(Op op, bool left, const std::vector<double>& other, Target& target) const {
    for (std::size_t i = 0; i < target.values.size(); ++i) {
        const Inverse in = inverse(op, left, target.values[i], other[i]);
        target.values[i] = in.value;
        target.sizes[i] *= std::fabs(in.slope);
    }
}

// Takes off the operator at `node`; false where that cannot be done.
bool Unwrapper::peel(const FitTree& tree, const FitRows& rows, std::size_t& node, Target& target) {
    const std::vector<Node>& nodes = tree.tree->nodes();
    const Op op = nodes[node].op;
    if (!is_operator(op)) return false;
    if (arity(op) == 1) {
        if (!peel_unary(op, target)) return false;
        node = node - 1;
        return true;
    }
    const std::size_t left = left_of(nodes, node);
    const bool in_left = has_parameters(tree, left);
    if (in_left == has_parameters(tree, node - 1)) return false;
    peel_binary(op, in_left, values_of(tree, in_left ? node - 1 : left, rows), target);
    node = in_left ? left : node - 1;
    return true;
}

std::optional<std::vector<double>> Unwrapper::start(const FitTree& tree, const FitRows& rows, std::uint64_t seed,
                                                    Watch& watch) {
    Target target{{rows.target(), rows.target() + rows.n_padded()}, {rows.sizes(), rows.sizes() + rows.n_padded()}};
    const std::vector<Node>& nodes = tree.tree->nodes();
    std::size_t node = nodes.size() - 1;
    bool peeled = false;
    while (n_linear_parameters(tree, node) == 0 && peel(tree, rows, node, target)) peeled = true;
    temper(target.sizes);
    const auto enough = [&](const FitRows& unwrapped) {
        std::size_t n_used = 0;
        for (std::size_t i = 0; i < unwrapped.n(); ++i) n_used += unwrapped.sample_weights()[i] > 0.0 ? 1 : 0;
        return n_used > tree.n_uses.size() && 2 * n_used > unwrapped.n();
    };
    if (nodes[node].op == Op::div && has_parameters(tree, left_of(nodes, node)) && has_parameters(tree, node - 1) &&
        n_linear_parameters(tree, node - 1) > 0) {
        if (!enough(rows.retargeted(target.values, target.sizes))) return std::nullopt;
        return search_quotient(tree, node, rows, target, seed, watch);
    }
    if (!peeled) return std::nullopt;
    const FitRows unwrapped = rows.retargeted(std::move(target.values), std::move(target.sizes));
    if (!enough(unwrapped)) return std::nullopt;
    return search(tree, node, unwrapped, seed, watch);
}

std::optional<std::vector<double>> Unwrapper::search(const FitTree& tree, std::size_t root, const FitRows& rows,
                                                     std::uint64_t seed, Watch& watch) {
    const FitProgram program = compile_fit(tree, root, true);
    model_.bind(program, rows);
    const std::vector<Optimum> optima = search_.run(model_, {}, {}, {.n_restarts = n_restarts}, seed, watch);
    if (optima.empty()) return std::nullopt;
    model_.solve(optima.front().point.data());
    std::vector<double> values(tree.n_uses.size(), unknown);
    program.recover(model_.linear(), optima.front().point, values);
    return values;
}

// A/B = t as A - t*B = 0, with t as one more column.
std::optional<std::vector<double>> Unwrapper::search_quotient(const FitTree& tree, std::size_t node,
                                                              const FitRows& rows, const Target& target,
                                                              std::uint64_t seed, Watch& watch) {
    const std::vector<Node>& nodes = tree.tree->nodes();
    const std::size_t left = left_of(nodes, node);
    const std::size_t first = node + 1 - nodes[node].length;
    const auto at = [](const auto& all, std::size_t i) { return all.begin() + static_cast<std::ptrdiff_t>(i); };
    std::vector<Node> flat(at(nodes, first), at(nodes, left + 1));
    std::vector<Leaf> leaves(at(tree.leaves, first), at(tree.leaves, left + 1));
    flat.push_back(Node::variable(1));
    leaves.push_back({-1, static_cast<std::int64_t>(rows.n_columns())});
    flat.insert(flat.end(), at(nodes, left + 1), at(nodes, node));
    leaves.insert(leaves.end(), at(tree.leaves, left + 1), at(tree.leaves, node));
    flat.push_back(Node::of(Op::mul));
    flat.push_back(Node::of(Op::sub));
    leaves.resize(flat.size());
    const Tree product(std::move(flat), std::vector<std::string>(tree.tree->names()));
    const FitTree bound{&product, std::move(leaves), tree.n_uses, tree.bounded};
    const FitProgram program = compile_fit(bound, product.size() - 1, true);
    if (program.base.kind == Ref::Kind::none) return std::nullopt;  // solved by zeros
    return search(bound, product.size() - 1, rows.with_column(target.values, target.sizes), seed, watch);
}

}  // namespace simplipy
