#include "simplify.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "evaluate.hpp"

namespace simplipy {
namespace {

constexpr std::size_t max_tokens = 20000;
constexpr int max_depth = 250;  // of a canonical term: spelling recurses this deep

bool node_less(const Node& a, const Node& b) {
    if (a.op != b.op) return a.op < b.op;
    if (a.op == Op::variable) return code_less(a.payload, b.payload);
    if (a.payload != b.payload) return a.payload < b.payload;
    return a.exponent < b.exponent;
}

using Postfix = std::vector<Node>;

bool postfix_less(const Postfix& a, const Postfix& b) {
    if (a.size() != b.size()) return a.size() < b.size();
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), node_less);
}

bool same_tokens(const Postfix& a, const Postfix& b) {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](const Node& x, const Node& y) {
               return x.op == y.op && x.payload == y.payload && x.exponent == y.exponent;
           });
}

// Fewer tokens, then fewer free constants, then fewer literals, then canonical order.
bool better(const Postfix& a, const Postfix& b) {
    if (a.size() != b.size()) return a.size() < b.size();
    for (const Op op : {Op::constant, Op::number}) {
        const auto is_op = [op](const Node& node) { return node.op == op; };
        const auto n_a = std::count_if(a.begin(), a.end(), is_op);
        const auto n_b = std::count_if(b.begin(), b.end(), is_op);
        if (n_a != n_b) return n_a < n_b;
    }
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), node_less);
}

bool has_undefined_symbol(const Postfix& nodes) {
    return std::any_of(nodes.begin(), nodes.end(),
                       [](const Node& node) { return node.op == Op::nan || node.op == Op::inf || node.op == Op::neg_inf; });
}

// Literals become free constants: what mask_numbers promises for the output.
bool mask_literals(Postfix& nodes) {
    bool changed = false;
    for (Node& node : nodes)
        if (node.op == Op::number || node.op == Op::pi || node.op == Op::e) {
            node = Node::of(Op::constant);
            changed = true;
        }
    return changed;
}

// Subterms without variables and constants, longer than a literal, become the nearest double.
Postfix folded(const Postfix& postfix) {
    const Tree tree(postfix, {});
    const std::vector<Node>& nodes = tree.nodes();
    std::vector<char> numeric(nodes.size());
    Postfix out;
    std::vector<std::size_t> lengths;  // of the operands written to `out`
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const int n_operands = arity(nodes[i].op);
        const bool is_leaf = n_operands == 0;
        numeric[i] = is_leaf ? nodes[i].op == Op::number || nodes[i].op == Op::pi || nodes[i].op == Op::e : numeric[i - 1];
        if (n_operands == 2) numeric[i] = numeric[i] && numeric[left_of(nodes, i)];
        std::size_t length = 1;
        for (int k = 0; k < n_operands; ++k) {
            length += lengths.back();
            lengths.pop_back();
        }
        out.push_back(Node::of(nodes[i].op));
        out.back() = nodes[i];
        if (numeric[i] && (!is_leaf || nodes[i].op != Op::number)) {
            const Tree part = subtree(tree, i);
            double value = 0.0;
            evaluate(make_job(part, {}, 0, nullptr), {nullptr, false, 1, 0, 0, 0}, {&value, false});
            if (std::isfinite(value)) {
                out.resize(out.size() - length);
                out.push_back(Node::number(to_decimal(value)));
                length = 1;
            } else {
                numeric[i] = 0;
            }
        }
        lengths.push_back(length);
    }
    return out;
}

}  // namespace

std::vector<Node> sorted_chains(const std::vector<Node>& postfix) {
    struct Part {
        Op chain = Op::nan;  // add or mul while open
        std::vector<Postfix> operands;
    };
    const auto closed = [](Part& part) {
        if (part.operands.size() == 1) return std::move(part.operands[0]);
        std::sort(part.operands.begin(), part.operands.end(), postfix_less);
        Postfix nodes = std::move(part.operands[0]);
        for (std::size_t i = 1; i < part.operands.size(); ++i) {
            nodes.insert(nodes.end(), part.operands[i].begin(), part.operands[i].end());
            nodes.push_back(Node::of(part.chain));
        }
        return nodes;
    };
    std::vector<Part> stack;
    for (const Node& node : postfix) {
        if (!is_operator(node.op)) {
            stack.push_back({Op::nan, {{node}}});
            continue;
        }
        Part right = std::move(stack.back());
        stack.pop_back();
        Part result;
        if (node.op == Op::add || node.op == Op::mul) {
            Part left = std::move(stack.back());
            stack.pop_back();
            result.chain = node.op;
            for (Part* part : {&left, &right}) {
                if (part->chain == node.op) {
                    std::move(part->operands.begin(), part->operands.end(), std::back_inserter(result.operands));
                } else {
                    result.operands.push_back(closed(*part));
                }
            }
        } else {
            Postfix nodes;
            if (arity(node.op) == 2) {
                nodes = closed(stack.back());
                stack.pop_back();
            }
            const Postfix operand = closed(right);
            nodes.insert(nodes.end(), operand.begin(), operand.end());
            nodes.push_back(node);
            result.operands.push_back(std::move(nodes));
        }
        stack.push_back(std::move(result));
    }
    return closed(stack.back());
}

Simplifier::Round Simplifier::once(const std::vector<Node>& nodes, const SimplifyOptions& options, bool explain) {
    CanonicalOptions canonical_options;
    canonical_options.extend = options.extend;
    canonical_options.mask_numbers = options.mask_numbers;
    canonical_options.rules = options.max_pattern_length == 0 ? nullptr : options.rules.get();
    canonical_options.max_pattern_length = options.max_pattern_length;
    canonical_options.ranges = options.ranges.empty() ? nullptr : &options.ranges;
    canonical_options.track = explain;
    Canonicalizer canonicalizer(arena_, canonical_options);
    const TermId root = canonicalizer.run(nodes);
    if (arena_[root].depth > max_depth) throw Overflow{};
    const Speller speller(arena_, options.extend);
    Round round;
    round.nodes.reserve(nodes.size() + 4);
    speller.emit(root, Speller::Mode::plain, round.nodes, [&](const TermNode& node, const Rational& ratio, std::vector<Node>& out) {
        out.push_back(Node::of(Op::constant));
        if (!explain) return;
        std::vector<Node> definition = canonicalizer.definition(node.payload);
        multiply_definition(definition, ratio);
        round.constants.push_back(std::move(definition));
    });
    // what is written is what was counted; a difference would be a wrong spelling, and the rewrite is refused
    if (round.nodes.size() != static_cast<std::size_t>(arena_[root].cost.plain)) throw Overflow{};
    if (explain) round.rules = canonicalizer.events();
    return round;
}

Simplified Simplifier::run(const Tree& tree, const SimplifyOptions& options, bool explain) {
    Simplified result;
    if (tree.size() > max_tokens) {
        result.tree = tree;
        result.stop = StopReason::size_limit;
        return result;
    }
    Postfix current = tree.nodes();
    const std::size_t input_size = current.size();
    std::vector<Postfix> constants;  // of `current`, in terms of the input's
    for (const Node& node : current)
        if (node.op == Op::constant) constants.push_back({Node::variable(static_cast<std::int64_t>(constants.size()) + 1)});
    const auto composed = [&](const Postfix& definition) {
        Postfix out;
        for (const Node& node : definition) {
            if (node.op != Op::variable) {
                out.push_back(node);
                continue;
            }
            const Postfix& inner = constants[static_cast<std::size_t>(node.payload) - 1];
            out.insert(out.end(), inner.begin(), inner.end());
        }
        return out;
    };
    std::vector<Postfix> seen;
    result.stop = StopReason::step_limit;
    bool is_input = true;
    for (int step = 0; step < options.max_steps; ++step) {
        Round round;
        try {
            round = once(current, options, explain);
        } catch (const Overflow&) {
            result.stop = StopReason::overflow;
            break;
        }
        if (options.fold_numbers) round.nodes = folded(round.nodes);
        if (!options.extend && has_undefined_symbol(round.nodes)) {
            round.nodes = {Node::of(Op::nan)};
            round.constants.clear();
        }
        if (options.mask_numbers) {
            for (std::size_t i = 0, k = 0; i < round.nodes.size(); ++i) {
                const Node node = round.nodes[i];
                const bool literal = node.op == Op::number || node.op == Op::pi || node.op == Op::e;
                if (literal && explain) round.constants.insert(round.constants.begin() + static_cast<std::ptrdiff_t>(k), {node});
                k += literal || node.op == Op::constant;
            }
            mask_literals(round.nodes);
        }
        if (round.nodes.size() > current.size() || (is_input && round.nodes.size() > input_size)) {
            result.stop = StopReason::fixpoint;
            break;
        }
        const bool fixed = same_tokens(round.nodes, current);
        if (explain && !fixed) {
            std::vector<Postfix> next;
            for (const Postfix& definition : round.constants) next.push_back(composed(definition));
            result.steps.push_back({round.rules, Tree(current, tree.names()), Tree(round.nodes, tree.names())});
            constants = std::move(next);
        }
        current = std::move(round.nodes);
        is_input = false;
        if (fixed) {
            result.stop = StopReason::fixpoint;
            break;
        }
        // forms of equal length that lead to each other: the best of the cycle is the result
        const auto again = std::find_if(seen.begin(), seen.end(), [&](const Postfix& p) { return same_tokens(p, current); });
        if (again != seen.end() && !explain) {
            current = *std::min_element(again, seen.end(), better);
            result.stop = StopReason::fixpoint;
            break;
        }
        seen.push_back(current);
    }
    if (is_input) {
        std::int64_t n = 0;
        for (Node& node : current)  // a mark that sorting carries along
            if (node.op == Op::constant) node.payload = n++;
        current = sorted_chains(current);
        std::vector<Postfix> reordered;
        for (Node& node : current) {
            if (node.op != Op::constant) continue;
            reordered.push_back(constants[static_cast<std::size_t>(node.payload)]);
            node.payload = 0;
        }
        constants = std::move(reordered);
        if (options.mask_numbers) mask_literals(current);
    }
    result.tree = Tree(std::move(current), tree.names());
    if (explain)
        for (Postfix& definition : constants) result.constants.emplace_back(std::move(definition), std::vector<std::string>{});
    return result;
}

}  // namespace simplipy
