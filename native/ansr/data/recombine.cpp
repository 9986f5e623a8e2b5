#include "recombine.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace flash_ansr {

using simplipy::Node;
using simplipy::Op;
using simplipy::Tree;

// The tree's variables are numbered as they came in; spreads[k - 1] belongs to x_k.
struct Recombiner::Drawing {
    Random& random;
    Tree tree;
    std::vector<const Spread*> spreads;
};

namespace {

constexpr std::array<Op, 3> joints = {Op::add, Op::mul, Op::div};

// The place of a subterm: the operator above it, and the side where that counts. A numerator is a factor, and both
// operands of a difference are terms.
std::size_t place_below(Op above, bool is_right) {
    if (above == Op::sub) above = Op::add;
    if (above == Op::div && !is_right) above = Op::mul;
    const bool has_sides = above == Op::div || above == Op::pow;
    return 2 * index(above) + (has_sides && is_right ? 1 : 0);
}

// The places of all nodes but the root.
std::vector<std::size_t> places_of(const std::vector<Node>& nodes) {
    std::vector<std::size_t> places(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (!is_operator(nodes[i].op)) continue;
        places[i - 1] = place_below(nodes[i].op, true);
        if (arity(nodes[i].op) == 2) places[simplipy::left_of(nodes, i)] = place_below(nodes[i].op, false);
    }
    return places;
}

std::vector<std::int64_t> codes_of(const std::vector<Node>& nodes) {
    std::vector<std::int64_t> codes;
    for (const Node& node : nodes)
        if (node.op == Op::variable && std::ranges::find(codes, node.payload) == codes.end())
            codes.push_back(node.payload);
    return codes;
}

void replace_variable(Tree& tree, std::int64_t code, const Node& by) {
    std::vector<Node> nodes = tree.nodes();
    for (Node& node : nodes)
        if (node.op == Op::variable && node.payload == code) node = by;
    tree = Tree(std::move(nodes), {});
}

}  // namespace

Recombiner::Recombiner(std::vector<Law> laws, const Prior& prior)
    : how_(prior.recombination),
      n_variables_(prior.skeleton.n_variables),
      max_length_(prior.skeleton.max_length),
      laws_(std::move(laws)) {
    for (std::uint32_t law = 0; law < laws_.size(); ++law) {
        const std::vector<std::size_t> places = places_of(laws_[law].form.nodes());
        for (std::uint32_t node = 0; node + 1 < places.size(); ++node) subterms_[places[node]].push_back({law, node});
    }
}

Drawn Recombiner::draw(Random& random) const {
    const Law& law = laws_[random.below(laws_.size())];
    Drawing drawing{random, law.form, {}};
    for (const Spread& spread : law.spreads) drawing.spreads.push_back(&spread);
    while (random.uniform() < how_.p_edit) edit(drawing);
    return renumbered(drawing);
}

void Recombiner::edit(Drawing& drawing) const {
    using Edit = void (Recombiner::*)(Drawing&) const;
    constexpr std::array<Edit, 5> edits = {&Recombiner::exchange, &Recombiner::join, &Recombiner::merge,
                                           &Recombiner::fix, &Recombiner::free};
    const std::size_t chosen = draw_index(how_.weights, [](double weight) { return weight; }, drawing.random);
    (this->*edits[chosen])(drawing);
}

// The nodes of a subterm, whose variables are ones of `others` or new.
std::vector<Node> Recombiner::brought_in(Drawing& drawing, const Subterm& subterm,
                                         const std::vector<Node>& others) const {
    const Law& law = laws_[subterm.law];
    const auto end = law.form.nodes().begin() + subterm.node + 1;
    std::vector<Node> nodes(end - law.form.nodes()[subterm.node].length, end);
    std::vector<std::int64_t> codes = codes_of(others);
    const std::size_t n_there = codes.size();
    std::unordered_map<std::int64_t, std::int64_t> names;
    for (Node& node : nodes) {
        if (node.op != Op::variable) continue;
        auto& name = names[node.payload];
        if (name == 0) {
            const bool is_full = codes.size() == n_variables_;
            if (is_full || (n_there > 0 && drawing.random.uniform() < how_.p_shared)) {
                name = codes[drawing.random.below(n_there > 0 ? n_there : codes.size())];
            } else {
                drawing.spreads.push_back(&law.spreads[static_cast<std::size_t>(node.payload) - 1]);
                name = static_cast<std::int64_t>(drawing.spreads.size());
                codes.push_back(name);
            }
        }
        node.payload = name;
    }
    return nodes;
}

void Recombiner::exchange(Drawing& drawing) const {
    const std::vector<Node>& nodes = drawing.tree.nodes();
    if (nodes.size() == 1) return;
    const std::size_t at = drawing.random.below(nodes.size() - 1);
    const std::vector<Subterm>& candidates = subterms_[places_of(nodes)[at]];
    if (candidates.empty()) return;
    const Subterm& chosen = candidates[drawing.random.below(candidates.size())];
    const std::size_t new_length = laws_[chosen.law].form.nodes()[chosen.node].length;
    if (nodes.size() - nodes[at].length + new_length > max_length_) return;
    const auto end = nodes.begin() + static_cast<std::ptrdiff_t>(at) + 1;
    const auto start = end - nodes[at].length;
    std::vector<Node> kept(nodes.begin(), start);
    kept.insert(kept.end(), end, nodes.end());
    const std::vector<Node> added = brought_in(drawing, chosen, kept);
    kept.insert(kept.begin() + (start - nodes.begin()), added.begin(), added.end());
    drawing.tree = Tree(std::move(kept), {});
}

void Recombiner::join(Drawing& drawing) const {
    const Op joint = joints[drawing.random.below(joints.size())];
    const std::vector<Subterm>& candidates = subterms_[place_below(joint, true)];
    if (candidates.empty()) return;
    const Subterm& chosen = candidates[drawing.random.below(candidates.size())];
    std::vector<Node> nodes = drawing.tree.nodes();
    if (nodes.size() + laws_[chosen.law].form.nodes()[chosen.node].length + 1 > max_length_) return;
    const std::vector<Node> added = brought_in(drawing, chosen, nodes);
    nodes.insert(nodes.end(), added.begin(), added.end());
    nodes.push_back(Node::of(joint));
    drawing.tree = Tree(std::move(nodes), {});
}

void Recombiner::merge(Drawing& drawing) const {
    const std::vector<std::int64_t> codes = codes_of(drawing.tree.nodes());
    if (codes.size() < 2) return;
    const std::size_t kept = drawing.random.below(codes.size());
    const std::size_t other = (kept + 1 + drawing.random.below(codes.size() - 1)) % codes.size();
    replace_variable(drawing.tree, codes[other], Node::variable(codes[kept]));
}

void Recombiner::fix(Drawing& drawing) const {
    const std::vector<std::int64_t> codes = codes_of(drawing.tree.nodes());
    if (codes.size() < 2) return;
    replace_variable(drawing.tree, codes[drawing.random.below(codes.size())], Node::of(Op::constant));
}

void Recombiner::free(Drawing& drawing) const {
    const std::size_t n_constants = simplipy::count(drawing.tree, Op::constant);
    if (n_constants == 0 || codes_of(drawing.tree.nodes()).size() == n_variables_) return;
    std::size_t left = drawing.random.below(n_constants);
    std::vector<Node> nodes = drawing.tree.nodes();
    drawing.spreads.push_back(nullptr);
    for (Node& node : nodes) {
        if (node.op != Op::constant || left-- > 0) continue;
        node = Node::variable(static_cast<std::int64_t>(drawing.spreads.size()));
        break;
    }
    drawing.tree = Tree(std::move(nodes), {});
}

Drawn Recombiner::renumbered(const Drawing& drawing) const {
    std::vector<std::int64_t> numbers(n_variables_);
    std::iota(numbers.begin(), numbers.end(), 1);
    const std::vector<std::int64_t> codes = codes_of(drawing.tree.nodes());
    for (std::size_t i = 0; i < codes.size(); ++i)
        std::swap(numbers[i], numbers[i + drawing.random.below(numbers.size() - i)]);
    Drawn drawn{{}, std::vector<const Spread*>(n_variables_, nullptr)};
    std::vector<Node> nodes = drawing.tree.nodes();
    for (Node& node : nodes) {
        if (node.op != Op::variable) continue;
        const auto number = numbers[static_cast<std::size_t>(std::ranges::find(codes, node.payload) - codes.begin())];
        drawn.spreads[static_cast<std::size_t>(number) - 1] =
            drawing.spreads[static_cast<std::size_t>(node.payload) - 1];
        node.payload = number;
    }
    drawn.tree = Tree(std::move(nodes), {});
    return drawn;
}

}  // namespace flash_ansr
