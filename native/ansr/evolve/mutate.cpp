#include "mutate.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace flash_ansr {

using simplipy::arity;
using simplipy::Node;
using simplipy::Op;

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::array<double, 4> size_weights = {5.0, 4.0, 2.0, 1.0};  // operators of a new part
constexpr double second_change = 0.25;                                // probability of one more change

template <class Weights>
std::size_t draw(const Weights& weights, double total, Random& random) {
    double at = random.uniform() * total;
    std::size_t last = 0;
    for (std::size_t i = 0; i < std::size(weights); ++i) {
        if (!(weights[i] > 0.0)) continue;
        last = i;
        if (at < weights[i]) return i;
        at -= weights[i];
    }
    return last;
}

void set_lengths(Postfix& nodes) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        std::uint32_t length = 1;
        for (int operand = 0; operand < arity(nodes[i].op); ++operand) length += nodes[i - length].length;
        nodes[i].length = length;
    }
}

std::span<const Node> subtree_at(const Postfix& nodes, std::size_t i) {
    return {nodes.data() + i + 1 - nodes[i].length, nodes[i].length};
}

// `nodes` with the subtree that ends at node i replaced.
Postfix spliced(const Postfix& nodes, std::size_t i, std::span<const Node> part) {
    const auto first = static_cast<std::ptrdiff_t>(i + 1 - nodes[i].length);
    Postfix out;
    out.reserve(nodes.size() + part.size());
    out.insert(out.end(), nodes.begin(), nodes.begin() + first);
    out.insert(out.end(), part.begin(), part.end());
    out.insert(out.end(), nodes.begin() + static_cast<std::ptrdiff_t>(i) + 1, nodes.end());
    return out;
}

}  // namespace

Node constant_node(double value) {
    Node node = Node::of(Op::constant);
    node.payload = std::bit_cast<std::int64_t>(value);
    return node;
}

Mutator::Mutator(TokenWeights weights, std::array<double, n_mutations> mutation_weights)
    : mutation_weights_(mutation_weights) {
    weigh(std::move(weights));
}

void Mutator::weigh(TokenWeights weights) {
    weights_ = std::move(weights);
    arity_weights_ = {};
    for (const simplipy::OpInfo& row : simplipy::operators())
        arity_weights_[static_cast<std::size_t>(row.arity)] += weights_.operators[index(row.op)];
    variable_weight_ = std::accumulate(weights_.variables.begin(), weights_.variables.end(), 0.0);
}

Op Mutator::draw_operator(int wanted, Op other_than, Random& random) const {
    std::array<double, simplipy::max_symbols> weights = weights_.operators;
    double total = 0.0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const Op op = static_cast<Op>(i);
        if (arity(op) != wanted || op == other_than) weights[i] = 0.0;
        total += weights[i];
    }
    return total > 0.0 ? static_cast<Op>(draw(weights, total, random)) : other_than;
}

Node Mutator::variable(Random& random) const {
    return Node::variable(static_cast<std::int64_t>(draw(weights_.variables, variable_weight_, random)) + 1);
}

Node Mutator::leaf(Random& random) const {
    constexpr double variables = 4.0;
    const bool is_constant = random.uniform() * (variables + weights_.constant) < weights_.constant;
    return is_constant ? constant_node(unknown) : variable(random);
}

void Mutator::grow_into(Postfix& out, std::size_t n, Random& random) const {
    const double total = arity_weights_[1] + arity_weights_[2];
    if (n == 0 || !(total > 0.0)) {
        out.push_back(leaf(random));
        return;
    }
    const bool is_unary = random.uniform() * total < arity_weights_[1];
    const Op op = draw_operator(is_unary ? 1 : 2, Op::nan, random);
    if (is_unary) {
        grow_into(out, n - 1, random);
    } else if (op == Op::pow) {  // x^c: other exponents are what exp and log are for
        grow_into(out, n - 1, random);
        out.push_back(constant_node(unknown));
    } else {
        const std::size_t left = random.below(n);
        grow_into(out, left, random);
        grow_into(out, n - 1 - left, random);
    }
    out.push_back(Node::of(op));
}

Postfix Mutator::grow(std::size_t n_operators, Random& random) const {
    Postfix out;
    grow_into(out, n_operators, random);
    set_lengths(out);
    return out;
}

Postfix Mutator::small(Random& random) const {
    const double total = std::accumulate(size_weights.begin(), size_weights.end(), 0.0);
    return grow(draw(size_weights, total, random), random);
}

// Another operator of the same arity, another leaf.
void Mutator::change_point(Postfix& nodes, Random& random) const {
    Node& node = nodes[random.below(nodes.size())];
    const int n = arity(node.op);
    if (n > 0) {
        node.op = draw_operator(n, node.op, random);
    } else if (node.op == Op::constant) {
        node = variable(random);
    } else {
        node = leaf(random);
    }
}

// A constant becomes a variable or loses its value; without constants a variable becomes one.
void Mutator::change_constant(Postfix& nodes, Random& random) const {
    std::vector<std::size_t> constants;
    std::vector<std::size_t> variables;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i].op == Op::constant) constants.push_back(i);
        if (nodes[i].op == Op::variable) variables.push_back(i);
    }
    if (constants.empty() || (!variables.empty() && random.uniform() < 0.3)) {
        if (!variables.empty()) nodes[variables[random.below(variables.size())]] = constant_node(unknown);
        return;
    }
    Node& node = nodes[constants[random.below(constants.size())]];
    node = variable(random);
}

// f(u), u op v or v op u in the place of u; v is often a constant.
Postfix Mutator::inserted(const Postfix& nodes, Random& random) const {
    const std::size_t i = random.below(nodes.size());
    const std::span<const Node> part = subtree_at(nodes, i);
    const double total = arity_weights_[1] + arity_weights_[2];
    const bool is_unary = random.uniform() * total < arity_weights_[1];
    const Op op = draw_operator(is_unary ? 1 : 2, Op::nan, random);
    Postfix grown;
    if (is_unary) {
        grown.assign(part.begin(), part.end());
    } else {
        Postfix other = random.uniform() < 0.4 || op == Op::pow ? Postfix{constant_node(unknown)} : small(random);
        const bool first = op != Op::pow && random.uniform() < 0.5;
        if (first) grown = other;
        grown.insert(grown.end(), part.begin(), part.end());
        if (!first) grown.insert(grown.end(), other.begin(), other.end());
    }
    grown.push_back(Node::of(op));
    return spliced(nodes, i, grown);
}

// The whole plus a multiple of a part, or times it, or divided by it.
Postfix Mutator::with_term(const Postfix& nodes, const Postfix& part, Random& random) const {
    Postfix out = nodes;
    const double sum = weights_.operators[index(Op::add)] * weights_.operators[index(Op::mul)] > 0.0 ? 1.0 : 0.0;
    const double product = weights_.operators[index(Op::mul)] > 0.0 ? 1.0 : 0.0;
    const double quotient = weights_.operators[index(Op::div)] > 0.0 ? 0.5 : 0.0;
    const double total = sum + product + quotient;
    if (!(total > 0.0)) return part;
    const std::size_t kind = draw(std::array{sum, product, quotient}, total, random);
    if (kind == 0) out.push_back(constant_node(unknown));
    out.insert(out.end(), part.begin(), part.end());
    if (kind == 0) out.push_back(Node::of(Op::mul));
    out.push_back(Node::of(kind == 0 ? Op::add : kind == 1 ? Op::mul : Op::div));
    return out;
}

Postfix Mutator::changed(const Postfix& parent, const Postfix& donor, Random& random) const {
    const double total = std::accumulate(mutation_weights_.begin(), mutation_weights_.end(), 0.0);
    const auto kind = static_cast<Mutation>(draw(mutation_weights_, total, random));
    Postfix out = parent;
    const std::size_t i = random.below(parent.size());
    switch (kind) {
        case Mutation::point:
            change_point(out, random);
            break;
        case Mutation::subtree:
            out = spliced(parent, i, small(random));
            break;
        case Mutation::hoist: {
            const std::size_t first = i + 1 - parent[i].length;
            out = spliced(parent, i, subtree_at(parent, first + random.below(parent[i].length)));
            break;
        }
        case Mutation::insert:
            out = inserted(parent, random);
            break;
        case Mutation::remove: {
            const int n = arity(parent[i].op);
            if (n == 0) break;
            const bool left = n == 2 && random.uniform() < 0.5;
            out = spliced(parent, i, subtree_at(parent, left ? left_of(parent, i) : i - 1));
            break;
        }
        case Mutation::constant:
            change_constant(out, random);
            break;
        case Mutation::term: {
            const bool own = random.uniform() < 0.5;
            const std::span<const Node> part = subtree_at(donor, random.below(donor.size()));
            out = with_term(parent, own ? small(random) : Postfix(part.begin(), part.end()), random);
            break;
        }
        case Mutation::crossover:
            out = spliced(parent, i, subtree_at(donor, random.below(donor.size())));
            break;
    }
    set_lengths(out);
    return out;
}

Postfix Mutator::child(const Postfix& parent, const Postfix& donor, Random& random) const {
    Postfix out = changed(parent, donor, random);
    while (random.uniform() < second_change) out = changed(out, donor, random);
    return out;
}

}  // namespace flash_ansr
