#include "simplify.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>

#include "prefix.hpp"
#include "threads.hpp"

namespace simplipy {
namespace {

constexpr std::size_t max_tokens = 20000;
constexpr int max_depth = 250;  // of a canonical term: spelling recurses this deep

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

long double decimal_value(Decimal number) { return std::strtold(to_string(number).c_str(), nullptr); }

bool is_literal(const Node& node) { return node.op == Op::number || node.op == Op::pi || node.op == Op::e; }

// Values of ground terms in extended precision, so that rounding them gives the nearest double.
long double ground_value(Op op, long double a, long double b) {
    const OpInfo& row = info(op);
    switch (op) {
        case Op::add:
            return a + b;
        case Op::sub:
            return a - b;
        case Op::mul:
            return a * b;
        case Op::div:
            return b == 0 ? NAN : a / b;
        case Op::pow:
            return a == 0 && b < 0 ? NAN : std::pow(a, b);
        case Op::abs:
            return std::fabs(a);
        case Op::inv:
            return a == 0 ? NAN : 1 / a;
        case Op::neg:
            return -a;
        case Op::root2:
            return std::sqrt(a);
        case Op::root3:
            return std::cbrt(a);
        case Op::root4:
            return std::sqrt(std::sqrt(a));
        case Op::root5:
            return std::copysign(std::pow(std::fabs(a), 0.2L), a);
        case Op::sin:
            return std::sin(a);
        case Op::cos:
            return std::cos(a);
        case Op::tan:
            return std::tan(a);
        case Op::asin:
            return std::asin(a);
        case Op::acos:
            return std::acos(a);
        case Op::atan:
            return std::atan(a);
        case Op::sinh:
            return std::sinh(a);
        case Op::cosh:
            return std::cosh(a);
        case Op::tanh:
            return std::tanh(a);
        case Op::asinh:
            return std::asinh(a);
        case Op::acosh:
            return std::acosh(a);
        case Op::atanh:
            return std::fabs(a) < 1 ? std::atanh(a) : static_cast<long double>(NAN);
        case Op::exp:
            return std::exp(a);
        case Op::log:
            return a > 0 ? std::log(a) : static_cast<long double>(NAN);
        default:
            break;
    }
    if (row.form == Form::power) return std::pow(a, row.literal);
    return row.form == Form::scale ? a * row.literal : a / row.literal;
}

// A value in extended precision and how far it may be from the true one.
struct Approximate {
    long double value = 0;
    long double error = 0;
};

constexpr Approximate unknown_value{NAN, 0};

// The same for an operation: rounding, and what the errors of the operands come to, to first order and doubled.
// Unknown where the operands may be beyond a border of the domain.
Approximate ground_value(Op op, const Approximate& a, const Approximate& b) {
    constexpr long double rounding = 4 * std::numeric_limits<long double>::epsilon();
    const long double v = ground_value(op, a.value, b.value);
    const auto with = [&](long double slope) { return Approximate{v, 2 * slope * a.error + rounding * std::fabs(v)}; };
    const long double x = a.value;
    const long double size = std::fabs(x);
    const auto power = [&](long double k) {  // |x^k|
        if (x == 0 && a.error == 0) return Approximate{v, 0};
        return size > 2 * a.error ? with(std::fabs(k * v / x)) : unknown_value;
    };
    switch (op) {
        case Op::add:
        case Op::sub:
            return {v, a.error + b.error + rounding * std::fabs(v)};
        case Op::mul:
            return {v, 2 * (size * b.error + std::fabs(b.value) * a.error) + rounding * std::fabs(v)};
        case Op::div:
            if (std::fabs(b.value) <= 2 * b.error) return unknown_value;
            return {v, 2 * (a.error + std::fabs(v) * b.error) / std::fabs(b.value) + rounding * std::fabs(v)};
        case Op::pow: {
            if (x <= 0 && b.error > 0) return unknown_value;
            const Approximate base = power(b.value);
            return {v, base.error + (x > 0 ? 2 * std::fabs(v * std::log(x)) * b.error : 0.0L)};
        }
        case Op::abs:
        case Op::neg:
            return {v, a.error};
        case Op::inv:
            return power(-1);
        case Op::root2:
            return x >= 0 ? power(0.5L) : unknown_value;
        case Op::root3:
            return power(1 / 3.0L);
        case Op::root4:
            return x >= 0 ? power(0.25L) : unknown_value;
        case Op::root5:
            return power(0.2L);
        case Op::sin:
        case Op::cos:
            return with(1);
        case Op::tan:
            return with(1 + v * v);
        case Op::asin:
        case Op::acos:
            return size + 2 * a.error < 1 ? with(1 / std::sqrt(1 - x * x)) : (a.error == 0 ? with(0) : unknown_value);
        case Op::atan:
            return with(1 / (1 + x * x));
        case Op::sinh:
            return with(std::cosh(x));
        case Op::cosh:
            return with(std::fabs(std::sinh(x)));
        case Op::tanh:
            return with(1);
        case Op::asinh:
            return with(1 / std::sqrt(1 + x * x));
        case Op::acosh:
            return x - 2 * a.error > 1 ? with(1 / std::sqrt(x * x - 1)) : (a.error == 0 ? with(0) : unknown_value);
        case Op::atanh:
            return size + 2 * a.error < 1 ? with(1 / (1 - x * x)) : unknown_value;
        case Op::exp:
            return with(v);
        case Op::log:
            return x > 2 * a.error ? with(1 / x) : unknown_value;
        default:
            break;
    }
    if (info(op).form == Form::power) return power(info(op).literal);
    return {v, std::fabs(x != 0 ? v / x : 0.0L) * a.error + rounding * std::fabs(v)};
}

// Whether rounding the value gives the nearest double of the true one, or one beside it where that is halfway between.
bool is_known(const Approximate& number) {
    constexpr long double part_of_a_double = 0x1p-57L;
    const auto rounded = static_cast<double>(number.value);
    if (!std::isfinite(rounded)) return false;
    if (number.value == 0) return number.error == 0;
    return std::fabs(rounded) >= std::numeric_limits<double>::min() &&
           number.error <= part_of_a_double * std::fabs(number.value);
}

Approximate literal_value(const Node& node) {
    constexpr long double half = std::numeric_limits<long double>::epsilon() / 2;
    if (node.op == Op::pi) return {3.14159265358979323846264338327950288L, 4 * half};
    if (node.op == Op::e) return {2.71828182845904523536028747135266250L, 4 * half};
    const long double value = decimal_value(node.decimal());
    const bool exact = std::rint(value) == value && std::fabs(value) < 0x1p53L;
    return {value, exact ? 0 : half * std::fabs(value)};
}

// The largest subterms without variables and constants become the nearest double. One of which too little is known, as
// 1 - tanh(50), stays as it is, inside too: rounding its parts would make it 0.
Postfix folded(const Postfix& postfix) {
    struct Part {
        std::size_t start;
        bool ground;
        Approximate number;
    };
    std::vector<Part> parts;  // by node
    std::vector<std::size_t> stack;
    for (std::size_t i = 0; i < postfix.size(); ++i) {
        const Op op = postfix[i].op;
        Part part{i, is_literal(postfix[i]), {}};
        if (const int n_operands = arity(op); n_operands > 0) {
            const Part& b = parts[stack.back()];
            const Part& a = n_operands == 2 ? parts[stack[stack.size() - 2]] : b;
            part = {a.start, a.ground && b.ground, {}};
            if (part.ground) part.number = ground_value(op, a.number, b.number);
            stack.resize(stack.size() - static_cast<std::size_t>(n_operands));
        } else if (part.ground) {
            part.number = literal_value(postfix[i]);
        }
        stack.push_back(i);
        parts.push_back(part);
    }
    Postfix reversed;
    for (std::size_t end = postfix.size(); end > 0;) {
        const std::size_t i = end - 1;
        const Part& part = parts[i];
        if (part.ground && postfix[i].op != Op::number && is_known(part.number)) {
            reversed.push_back(Node::number(to_decimal(static_cast<double>(part.number.value))));
            end = part.start;
        } else {
            const std::size_t start = part.ground ? part.start : i;
            for (; end > start; --end) reversed.push_back(postfix[end - 1]);
        }
    }
    return {reversed.rbegin(), reversed.rend()};
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
                     multiply_definition(definition, ratio);
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

OwnedIdBatch simplify_batch(const IdBatch& batch, const SimplifyOptions& options, std::size_t n_threads) {
    constexpr std::size_t chunk = 16;  // expressions of one task: the last thread to end keeps the others waiting
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
