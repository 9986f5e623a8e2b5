#include "simplify.hpp"

#include <algorithm>
#include <memory>

#include "core/base/threads.hpp"
#include "core/expression/prefix.hpp"
#include "fold.hpp"

namespace simplipy {
namespace {

constexpr std::size_t max_tokens = 20000;
constexpr std::size_t chunk = 16;  // expressions of one task: the last thread to end keeps the others waiting
constexpr int max_depth = 250;     // of a canonical term: spelling recurses this deep

bool node_less(const Node& a, const Node& b) {
    if (a.op != b.op) return a.op < b.op;
    if (a.op == Op::constant) return false;  // all constants look alike
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
    return std::any_of(nodes.begin(), nodes.end(), [](const Node& node) {
        return node.op == Op::nan || node.op == Op::inf || node.op == Op::neg_inf;
    });
}

// Adds a part with extras of its own, whose ids become those of the whole.
void append(OwnedIdBatch& whole, const OwnedIdBatch& part, Interner& interner) {
    std::vector<std::int16_t> extra_ids;
    for (const std::string& extra : part.extras) extra_ids.push_back(interner.id(extra));
    const auto start = static_cast<std::int64_t>(whole.ids.size());
    for (const std::int16_t id : part.ids)
        whole.ids.push_back(id < first_extra ? id : extra_ids[static_cast<std::size_t>(id - first_extra)]);
    for (const std::int64_t offset : part.offsets) whole.offsets.push_back(start + offset);
}

}  // namespace

std::vector<Node> sorted_chains(const std::vector<Node>& postfix) {
    struct Part {
        Op chain = Op::nan;  // the commutative operator while open
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
        if (is_commutative(node.op)) {
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

Simplifier::Round Simplifier::once(const std::vector<Node>& nodes, const SimplifyOptions& options, bool explain,
                                   bool first) {
    CanonicalOptions canonical_options;
    canonical_options.keep_arena = !first;  // most terms of the next round are those of the last

    canonical_options.extend = options.extend;
    canonical_options.rules = options.max_pattern_length == 0 ? nullptr : options.rules.get();
    canonical_options.max_pattern_length = options.max_pattern_length;
    canonical_options.ranges = options.ranges.empty() ? nullptr : &options.ranges;
    canonical_options.track = explain;
    Round round;
    std::optional<Canonicalizer> expanded;
    TermId root = no_term;
    try {
        expanded.emplace(arena_, canonical_options);
        root = expanded->run(nodes);
        if (arena_[root].depth > max_depth) throw_overflow();
        if (!expanded->regrets()) {
            round.unchanged = !first && root == last_root_ && last_kept_ == no_term;
            last_root_ = root;
            last_kept_ = no_term;
            if (!round.unchanged) write(round, *expanded, root, options, explain);
            return round;
        }
    } catch (const Overflow&) {
        root = last_root_ = no_term;
        canonical_options.keep_arena = false;  // a term may be half analysed
    }
    // once more, with what is shorter as it is written
    if (root != no_term) canonical_options.keep_arena = true;
    canonical_options.keep = true;
    try {
        Canonicalizer kept(arena_, canonical_options);
        const TermId other = kept.run(nodes);
        if (arena_[other].depth > max_depth) throw_overflow();
        round.unchanged = !first && root != no_term && root == last_root_ && other == last_kept_;
        last_root_ = root;
        last_kept_ = other;
        if (round.unchanged) return round;
        if (root == no_term || arena_[other].cost.plain < arena_[root].cost.plain) {
            write(round, kept, other, options, explain);
            return round;
        }
    } catch (const Overflow&) {
        if (root == no_term) throw;
        last_root_ = no_term;
    }
    write(round, *expanded, root, options, explain);
    return round;
}

// Spells the term.
void Simplifier::write(Round& round, Canonicalizer& canonicalizer, TermId root, const SimplifyOptions& options,
                       bool explain) {
    const Speller speller(arena_, options.extend);
    round.nodes.clear();
    round.constants.clear();
    round.nodes.reserve(static_cast<std::size_t>(arena_[root].cost.plain));
    speller.emit(root, Speller::Mode::plain, round.nodes,
                 [&](const TermNode& node, const Rational& ratio, std::vector<Node>& out) {
                     out.push_back(Node::of(Op::constant));
                     if (!explain) return;
                     std::vector<Node> definition = canonicalizer.definition(node.payload);
                     canonical::multiply_definition(definition, ratio);
                     round.constants.push_back(std::move(definition));
                 });
    // what is written is what was counted; a difference would be a wrong spelling, and the rewrite is refused
    if (round.nodes.size() != static_cast<std::size_t>(arena_[root].cost.plain)) throw_overflow();
    if (explain) round.rules = canonicalizer.events();
}

// Rounds of canonical form and spelling until nothing changes.
Simplifier::State Simplifier::rewrite(State state, const SimplifyOptions& options, bool explain, Simplified& result,
                                      const std::vector<std::string>& names) {
    const auto composed = [&](const Postfix& definition) {
        Postfix out;
        for (const Node& node : definition) {
            if (node.op != Op::variable) {
                out.push_back(node);
                continue;
            }
            const Postfix& inner = state.constants[static_cast<std::size_t>(node.payload) - 1];
            out.insert(out.end(), inner.begin(), inner.end());
        }
        return out;
    };
    std::vector<State> seen;
    result.stop = StopReason::step_limit;
    for (int step = 0; step < options.max_steps; ++step) {
        Round round;
        try {
            round = once(state.nodes, options, explain, step == 0);
        } catch (const Overflow&) {
            result.stop = StopReason::overflow;
            break;
        }
        if (round.unchanged) {
            result.stop = StopReason::fixpoint;
            return state;
        }
        State next{std::move(round.nodes), {}};
        for (const Postfix& definition : round.constants) next.constants.push_back(composed(definition));
        if (options.fold_numbers) next.nodes = folded(next.nodes);
        if (!options.extend && has_undefined_symbol(next.nodes)) next = {{Node::of(Op::nan)}, {}};
        if (options.mask_numbers) mask_literals(next, explain);
        result.stop = StopReason::fixpoint;
        if (next.nodes.size() > state.nodes.size()) break;
        if (same_tokens(next.nodes, state.nodes)) return state;
        if (explain) result.steps.push_back({round.rules, Tree(state.nodes, names), Tree(next.nodes, names)});
        state = std::move(next);
        // forms of equal length that lead to each other: the best of the cycle is the result
        const auto again = std::find_if(seen.begin(), seen.end(),
                                        [&](const State& old) { return same_tokens(old.nodes, state.nodes); });
        if (again != seen.end())
            return *std::min_element(again, seen.end(),
                                     [](const State& x, const State& y) { return better(x.nodes, y.nodes); });
        if (step > 0) seen.push_back(state);  // nearly always the second round ends here
        result.stop = StopReason::step_limit;
    }
    return result.stop == StopReason::step_limit ? state : sorted(std::move(state));
}

// The state with operands of + and * in canonical order.
Simplifier::State Simplifier::sorted(State state) {
    std::int64_t n = 0;
    for (Node& node : state.nodes)  // a mark that sorting carries along
        if (node.op == Op::constant) node.payload = n++;
    State result{sorted_chains(state.nodes), {}};
    for (Node& node : result.nodes) {
        if (node.op != Op::constant) continue;
        if (!state.constants.empty())
            result.constants.push_back(state.constants[static_cast<std::size_t>(node.payload)]);
        node.payload = 0;
    }
    return result;
}

// Literals become free constants: what mask_numbers promises for the output.
void Simplifier::mask_literals(State& state, bool explain) {
    std::size_t n_constants = 0;
    for (Node& node : state.nodes) {
        if (node.op == Op::constant) ++n_constants;
        if (!is_literal(node)) continue;
        if (explain) state.constants.insert(state.constants.begin() + static_cast<std::ptrdiff_t>(n_constants), {node});
        node = Node::of(Op::constant);
        ++n_constants;
    }
}

Simplified Simplifier::run(const Tree& tree, const SimplifyOptions& options, bool explain) {
    Simplified result;
    if (tree.size() > max_tokens) {
        result.tree = tree;
        result.stop = StopReason::size_limit;
        return result;
    }
    State input{tree.nodes(), {}};
    if (explain)
        for (const Node& node : input.nodes)
            if (node.op == Op::constant)
                input.constants.push_back({Node::variable(static_cast<std::int64_t>(input.constants.size()) + 1)});
    State output;
    const bool has_literals = std::any_of(input.nodes.begin(), input.nodes.end(), is_literal);
    if (options.mask_numbers && has_literals) {
        // 0*x is 0 and then a constant, while a masked c*x would stay: exact arithmetic first, if that is shorter
        SimplifyOptions exact = options;
        exact.mask_numbers = false;
        Simplified exact_result;
        State masked_late = rewrite(input, exact, explain, exact_result, tree.names());
        mask_literals(masked_late, explain);
        masked_late = rewrite(std::move(masked_late), options, explain, exact_result, tree.names());
        mask_literals(input, explain);
        output = rewrite(std::move(input), options, explain, result, tree.names());
        // 1/0 is an infinity, a constant over 0 is not: exp(-1/0) is 0
        const bool spoilt = masked_late.nodes.size() <= output.nodes.size() && has_undefined_symbol(output.nodes) &&
                            !has_undefined_symbol(masked_late.nodes);
        if (spoilt || better(masked_late.nodes, output.nodes)) {
            output = std::move(masked_late);
            result = std::move(exact_result);
        }
    } else {
        output = rewrite(std::move(input), options, explain, result, tree.names());
    }
    result.tree = Tree(std::move(output.nodes), tree.names());
    for (Postfix& definition : output.constants)
        result.constants.emplace_back(std::move(definition), std::vector<std::string>{});
    return result;
}

Simplifier& simplifier_of_thread() {
    thread_local const auto simplifier = std::make_unique<Simplifier>();
    return *simplifier;
}

void simplify_trees(std::span<Tree> trees, const SimplifyOptions& options, std::size_t n_threads) {
    parallel_for((trees.size() + chunk - 1) / chunk, n_threads, [&](std::size_t task) {
        Simplifier& simplifier = simplifier_of_thread();
        for (Tree& tree : trees.subspan(task * chunk, std::min(chunk, trees.size() - task * chunk)))
            tree = simplifier.run(tree, options).tree;
    });
}

OwnedIdBatch simplify_batch(const IdBatch& batch, const SimplifyOptions& options, std::size_t n_threads) {
    const std::size_t n = batch.offsets.size() - 1;
    std::vector<OwnedIdBatch> parts((n + chunk - 1) / chunk);
    parallel_for(parts.size(), n_threads, [&](std::size_t task) {
        Simplifier& simplifier = simplifier_of_thread();
        OwnedIdBatch& part = parts[task];
        Interner interner(part.extras);
        const std::size_t first = task * chunk;
        const std::size_t last = std::min(n, first + chunk);
        part.ids.reserve(static_cast<std::size_t>(batch.offsets[last] - batch.offsets[first]));
        part.offsets.reserve(chunk);
        for (std::size_t i = first; i < last; ++i) {
            const auto start = static_cast<std::size_t>(batch.offsets[i]);
            const auto end = static_cast<std::size_t>(batch.offsets[i + 1]);
            const Tree tree = parse_ids(batch.ids.subspan(start, end - start), batch.extras);
            interner.append(simplifier.run(tree, options).tree, part.ids);
            part.offsets.push_back(static_cast<std::int64_t>(part.ids.size()));
        }
    });
    OwnedIdBatch result{{}, {0}, {}};
    result.ids.reserve(batch.ids.size());
    result.offsets.reserve(batch.offsets.size());
    Interner interner(result.extras);
    for (const OwnedIdBatch& part : parts) append(result, part, interner);
    return result;
}

}  // namespace simplipy
