#include "breed.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>

#include "core/base/threads.hpp"
#include "core/evaluate/kernels.hpp"
#include "core/expression/prefix.hpp"

namespace flash_ansr {

using simplipy::arity;
using simplipy::lane_count;
using simplipy::Node;
using simplipy::Op;
using simplipy::Simplifier;
using simplipy::Tree;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double leaf_value(const Node& node, std::span<const double> values) {
    return node.op == Op::variable ? values[static_cast<std::size_t>(node.payload) - 1] : literal_value(node);
}

std::vector<Postfix> formulas_of(const FormulaBatch& batch) {
    std::vector<Postfix> formulas;
    std::size_t next = 0;
    for (std::size_t i = 0; i + 1 < batch.offsets.size(); ++i) {
        const auto start = static_cast<std::size_t>(batch.offsets[i]);
        const auto end = static_cast<std::size_t>(batch.offsets[i + 1]);
        Postfix nodes = simplipy::parse_ids(batch.ids.subspan(start, end - start), {}).nodes();
        for (Node& node : nodes)
            if (node.op == Op::constant) node = constant_node(batch.constants[next++]);
        formulas.push_back(std::move(nodes));
    }
    return formulas;
}

// The skeleton of a formula, and the values of its constants.
Tree split(const Postfix& raw, std::vector<double>& values) {
    Postfix nodes = raw;
    for (Node& node : nodes) {
        if (node.op != Op::constant) continue;
        values.push_back(constant_value(node));
        node = Node::of(Op::constant);
    }
    return Tree(std::move(nodes), {});
}

// c^u as exp(k*u): the simplifier merges k with the numbers in u, and writes what is left as c^u again.
Postfix without_free_bases(const Postfix& raw) {
    Postfix out;
    std::vector<std::size_t> starts;  // of operands, in `out`
    for (const Node& node : raw) {
        const int n = arity(node.op);
        if (n == 0) {
            starts.push_back(out.size());
            out.push_back(node);
            continue;
        }
        if (n == 2) {
            const std::size_t right = starts.back();
            starts.pop_back();
            Node& base = out[starts.back()];
            if (node.op == Op::pow && right == starts.back() + 1 && base.op == Op::constant) {
                base = constant_node(std::log(constant_value(base)));  // NaN where there is no real logarithm
                out.push_back(Node::of(Op::mul));
                out.push_back(Node::of(Op::exp));
                continue;
            }
        }
        out.push_back(node);
    }
    return out;
}

// Of a skeleton as it is written.
std::uint64_t written_key(const Postfix& raw) {
    std::uint64_t key = raw.size();
    for (const Node& node : raw) {
        const auto payload = node.op == Op::variable ? static_cast<std::uint64_t>(node.payload) : 0;
        key = (key ^ (index(node.op) + 64 * payload)) * 0xff51afd7ed558ccdULL;
        key ^= key >> 32;
    }
    return key;
}

// Calls body(worker, i) for i in [0, n), each thread with a worker of its own.
template <class Make, class Body>
void share(std::size_t n, std::size_t n_threads, const Make& make, const Body& body) {
    std::atomic<std::size_t> next{0};
    const std::size_t n_workers = std::max<std::size_t>(1, std::min(n, n_threads));
    simplipy::parallel_for(n_workers, n_workers, [&](std::size_t) {
        auto worker = make();
        for (std::size_t i = next++; i < n; i = next++) body(worker, i);
    });
}

}  // namespace

double scalar_value(const std::vector<Node>& postfix, std::span<const double> values) {
    if (postfix.size() == 1) return leaf_value(postfix[0], values);
    const simplipy::Kernels& kernels = simplipy::active_kernels();
    using Lanes = std::array<double, lane_count>;
    std::vector<Lanes> stack;
    for (const Node& node : postfix) {
        if (arity(node.op) == 0) {
            stack.emplace_back().fill(leaf_value(node, values));
        } else if (arity(node.op) == 1) {
            Lanes& top = stack.back();
            kernels.unary[index(node.op)](lane_count, top.data(), top.data());
        } else {
            const Lanes right = stack.back();
            stack.pop_back();
            Lanes& left = stack.back();
            kernels.binary[index(node.op)][0](lane_count, left.data(), right.data(), left.data());
        }
    }
    return stack.back()[0];
}

// Whether the form is short enough, varies, keeps to the operators and has no part that is undefined.
bool Breeder::may_be_kept(const Tree& form) const {
    bool varies = false;
    for (const Node& node : form.nodes()) {
        if (node.op == Op::nan || node.op == Op::inf || node.op == Op::neg_inf) return false;
        if (is_operator(node.op) && !options_.allowed[index(node.op)]) return false;
        varies = varies || node.op == Op::variable;
    }
    return varies && form.size() <= options_.max_length;
}

// Of several children the one that an affine function brings closest to the target, constants without a value drawn.
Postfix Breeder::best_variation(const Postfix& parent, const Postfix& donor, std::size_t n_glances, Glance& glance,
                                Random& random) const {
    Postfix best;
    double lowest = infinity;
    for (std::size_t k = 0; k < n_glances; ++k) {
        Postfix child = mutator_.child(parent, donor, random);
        if (child.size() > 2 * options_.max_length || written_.contains(written_key(child))) continue;
        for (Node& node : child) {
            if (node.op != Op::constant || std::isfinite(constant_value(node))) continue;
            const double size = std::pow(10.0, random.uniform(-1.0, 1.0));
            node.payload = std::bit_cast<std::int64_t>(random.uniform() < 0.7 ? size : -size);
        }
        const double cost = glance.affine_cost(child);
        if (best.empty() || cost < lowest) {
            lowest = cost;
            best = std::move(child);
        }
    }
    return best.empty() ? parent : best;
}

void Breeder::vary(const std::vector<Postfix>& parents, const BreedRequest& request, std::size_t i,
                   Simplifier& simplifier, Glance& glance, Child& child) const {
    const Postfix& parent = parents[static_cast<std::size_t>(request.first[i])];
    if (request.second.empty()) {
        child.raw = parent;
    } else {
        Random random(request.seed, i, 0);
        const Postfix& donor = parents[static_cast<std::size_t>(request.second[i])];
        child.raw = request.n_glances > 1 && random.uniform() < 0.5
                        ? best_variation(parent, donor, request.n_glances, glance, random)
                        : mutator_.child(parent, donor, random);
    }
    // what is far too long does not become short enough
    if (child.raw.size() > 2 * options_.max_length) return;
    child.raw_key = written_key(child.raw);
    if (written_.contains(child.raw_key)) return;
    child.raw = without_free_bases(child.raw);
    if (options_.affine) {
        const std::array<Node, 2> before = {constant_node(0.0), constant_node(1.0)};
        child.raw.insert(child.raw.begin(), before.begin(), before.end());
        child.raw.push_back(Node::of(Op::mul));
        child.raw.push_back(Node::of(Op::add));
    }
    std::vector<double> values;
    child.form = simplifier.run(split(child.raw, values), options_.simplify).tree;
    child.is_new = may_be_kept(child.form);
}

void Breeder::value(const BreedRequest& request, std::size_t i, Simplifier& simplifier, Screener& screener,
                    simplipy::Watch& watch, Child& child) const {
    std::vector<double> given;
    const simplipy::Simplified explained = simplifier.run(split(child.raw, given), options_.simplify, true);
    child.form = explained.tree;
    std::vector<double> constants;
    for (const Tree& definition : explained.constants) constants.push_back(scalar_value(definition.nodes(), given));
    const double limit = request.limits[std::min(child.form.size(), request.limits.size() - 1)];
    Random random(request.seed, i, 1);
    child.screened = screener.run(child.form, std::move(constants), limit, request.slack * limit, random, watch);
}

Brood Breeder::breed(const Screen& screen, const BreedRequest& request) {
    simplipy::Watch watch(request.seconds, {});
    const std::vector<Postfix> parents = formulas_of(request.parents);
    std::vector<Child> children(request.first.size());
    struct Varier {
        Simplifier simplifier;
        Glance glance;
    };
    share(
        children.size(), request.n_threads, [&] { return Varier{{}, Glance(screen)}; },
        [&](Varier& varier, std::size_t i) {
            if (!watch.over()) vary(parents, request, i, varier.simplifier, varier.glance, children[i]);
        });
    Brood brood;
    std::vector<std::size_t> fresh;
    if (written_.size() > options_.max_written) written_ = {};  // it saves time, the forms are what counts
    for (std::size_t i = 0; i < children.size(); ++i) {
        if (children[i].form.size() > 0) written_.insert(children[i].raw_key);
        children[i].is_new = children[i].is_new && seen_.insert(children[i].form.hash());
        if (children[i].is_new) fresh.push_back(i);
    }
    struct Worker {
        Simplifier simplifier;
        Screener screener;
    };
    share(
        fresh.size(), request.n_threads, [&] { return Worker{{}, Screener(screen, request.n_steps)}; },
        [&](Worker& worker, std::size_t k) {
            Child& child = children[fresh[k]];
            child.screened.cost = infinity;
            if (!watch.over()) value(request, fresh[k], worker.simplifier, worker.screener, watch, child);
        });
    std::vector<std::string> extras;
    simplipy::Interner interner(extras);
    brood.n_new = fresh.size();
    for (const std::size_t i : fresh) {
        const Screened& screened = children[i].screened;
        brood.n_screened += std::isfinite(screened.cost) ? 1 : 0;
        brood.n_descended += screened.descended ? 1 : 0;
        const double limit = request.limits[std::min(children[i].form.size(), request.limits.size() - 1)];
        if (!(screened.cost <= limit) || !std::isfinite(screened.cost)) continue;
        interner.append(children[i].form, brood.ids);
        brood.offsets.push_back(static_cast<std::int64_t>(brood.ids.size()));
        brood.constants.insert(brood.constants.end(), screened.constants.begin(), screened.constants.end());
        brood.costs.push_back(screened.cost);
        brood.rank_correlations.push_back(screened.rank_correlation);
    }
    return brood;
}

}  // namespace flash_ansr
