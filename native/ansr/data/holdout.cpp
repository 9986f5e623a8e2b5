#include "holdout.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "core/evaluate/evaluate.hpp"
#include "random.hpp"

namespace flash_ansr {

using simplipy::Node;
using simplipy::Op;
using simplipy::Simplifier;
using simplipy::Tree;

namespace {

constexpr std::size_t n_points = 512;
constexpr std::size_t n_sample_points = 32;  // of each hash of a sample
constexpr std::size_t max_grid_variables = 24;
constexpr double max_arrangements = 40320.0;  // 8!; an entry with more of them is known by its signature alone

// For each pair (a, b): all variables at b, then one of them at a. No permutation of variables changes that set.
constexpr std::array<std::array<double, 2>, 6> signature_pairs = {
    {{0.31, 0.67}, {0.83, 0.29}, {1.37, 0.61}, {2.19, 1.13}, {0.43, 3.31}, {5.17, 1.71}}};

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
    hash = (hash ^ value) * 0x9fb21c651e98df25ULL;
    return hash ^ (hash >> 32);
}

bool is_scale(Op op) { return simplipy::info(op).has(simplipy::role::scale_factor); }

// Rounded to 30 bits of mantissa; all NaN and infinities alike.
std::uint64_t rounded_bits(double value) {
    if (!std::isfinite(value)) return ~std::uint64_t{0};
    if (value == 0.0) return 0;
    return (std::bit_cast<std::uint64_t>(value) + (std::uint64_t{1} << 21)) >> 22;
}

// Variables renamed to x1, x2, ... in the order of their numbers.
Tree compact(std::vector<Node> nodes, std::size_t& n_variables) {
    std::vector<std::int64_t> codes;
    for (const Node& node : nodes)
        if (node.op == Op::variable) codes.push_back(node.payload);
    std::sort(codes.begin(), codes.end(), simplipy::code_less);
    codes.erase(std::unique(codes.begin(), codes.end()), codes.end());
    for (Node& node : nodes)
        if (node.op == Op::variable)
            node.payload =
                1 + (std::lower_bound(codes.begin(), codes.end(), node.payload, simplipy::code_less) - codes.begin());
    n_variables = codes.size();
    return Tree(std::move(nodes), {});
}

Tree renamed(const Tree& tree, const std::vector<std::size_t>& places) {
    std::vector<Node> nodes = tree.nodes();
    for (Node& node : nodes)
        if (node.op == Op::variable)
            node.payload = static_cast<std::int64_t>(places[static_cast<std::size_t>(node.payload) - 1]) + 1;
    return Tree(std::move(nodes), {});
}

void values_of(const Tree& tree, std::size_t n_variables, const double* columns, std::size_t column_length,
               std::size_t n_rows, double* out) {
    simplipy::Job job;
    job.tree = &tree;
    job.columns.resize(n_variables);
    std::iota(job.columns.begin(), job.columns.end(), std::size_t{0});
    const simplipy::Matrix matrix{columns, false, n_rows, n_variables, 1, static_cast<std::ptrdiff_t>(column_length)};
    simplipy::evaluate(job, matrix, {out, false});
}

}  // namespace

std::vector<Node> pruned(const std::vector<Node>& nodes, bool scales) {
    std::vector<Node> out;
    out.reserve(nodes.size() + 4);
    std::vector<std::size_t> starts;  // of the operands on the stack, in `out`; a pruned one has no nodes
    starts.reserve(nodes.size());
    for (const Node& node : nodes) {
        if (!is_operator(node.op)) {
            starts.push_back(out.size());
            if (node.op == Op::variable) out.push_back(node);
            continue;
        }
        const std::size_t right = starts.back();
        if (arity(node.op) == 1) {
            if (right < out.size() && !(scales && is_scale(node.op))) out.push_back(node);
            continue;
        }
        starts.pop_back();
        const std::size_t left = starts.back();
        const bool has_left = left < right;
        const bool has_right = right < out.size();
        if (has_left && has_right) {
            out.push_back(node);
        } else if (has_right && node.op == Op::div) {
            out.push_back(Node::of(Op::inv));
        } else if (has_right && node.op == Op::sub && !scales) {
            out.push_back(Node::of(Op::neg));
        }
    }
    return out;
}

Holdout::Holdout(const std::vector<Tree>& entries, const simplipy::SimplifyOptions& options)
    : options_(options), exact_options_(options), n_entries_(entries.size()) {
    options_.mask_numbers = true;
    exact_options_.mask_numbers = false;
    exact_options_.max_pattern_length = -1;
    grid_.resize(n_points * max_grid_variables);
    Random random(0, 0, 0);
    for (double& value : grid_) value = random.uniform(-10.0, 10.0);
    simplipy::SimplifyOptions shortest_options = options_;
    shortest_options.max_pattern_length = -1;
    Simplifier simplifier;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const auto entry = static_cast<std::uint32_t>(i);
        const Tree simplified = simplifier.run(entries[i], options_).tree;
        const Tree shortest = simplifier.run(entries[i], shortest_options).tree;
        add(entries[i].nodes(), entry, simplifier);
        if (!(simplified == entries[i])) add(simplified.nodes(), entry, simplifier);
        if (!(shortest == simplified)) add(shortest.nodes(), entry, simplifier);
    }
}

void Holdout::add(const Postfix& nodes, std::uint32_t entry, Simplifier& simplifier) {
    Postfix kept = pruned(nodes, false);
    if (kept.empty()) return;
    std::size_t n = 0;
    const Tree tree = compact(std::move(kept), n);
    if (n > max_grid_variables) return;
    add_arrangements(tree, n, true, entry, simplifier);
    const Tree scaled = compact(pruned(nodes, true), n);
    if (!(scaled == tree)) add_arrangements(scaled, n, false, entry, simplifier);
}

// Arrangements of the variables, those that only swap variables of equal role counted once.
void Holdout::add_arrangements(const Tree& tree, std::size_t n, bool as_in_the_paper, std::uint32_t entry,
                               Simplifier& simplifier) {
    std::vector<std::size_t> roles(n);
    std::iota(roles.begin(), roles.end(), std::size_t{0});
    const std::uint64_t own = image(tree, n);
    std::vector<std::size_t> places = roles;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = i + 1; j < n; ++j) {
            std::swap(places[i], places[j]);
            if (image(renamed(tree, places), n) == own) roles[j] = std::min(roles[j], roles[i]);
            std::swap(places[i], places[j]);
        }
    }
    double n_left = std::tgamma(static_cast<double>(n) + 1.0);
    for (std::size_t role = 0; role < n; ++role)
        n_left /= std::tgamma(static_cast<double>(std::count(roles.begin(), roles.end(), role)) + 1.0);
    const bool enumerated = n_left < max_arrangements + 0.5;

    std::vector<std::size_t> arranged = roles;  // position p has a variable of this role
    std::sort(arranged.begin(), arranged.end());
    do {
        std::vector<char> taken(n, 0);
        for (std::size_t i = 0; i < n; ++i) {
            std::size_t p = 0;
            while (taken[p] || arranged[p] != roles[i]) ++p;
            taken[p] = 1;
            places[i] = p;
        }
        const Tree arrangement = renamed(tree, places);
        if (const auto key = canonical_key(arrangement, simplifier)) canonical_.emplace(*key, entry);
        const Sample hashes = sample(arrangement, n);
        for (std::size_t i = 0; i < hashes.size(); ++i)
            if (hashes[i] != 0) samples_[i].emplace(hashes[i], entry);
        if (!as_in_the_paper) continue;
        max_variables_ = std::max(max_variables_, n);
        symbolic_.emplace(arrangement.hash(), entry);
        images_.emplace(mix(image(arrangement, n), n), entry);
    } while (enumerated && std::next_permutation(arranged.begin(), arranged.end()));

    const auto hashes = signature(tree, n).hashes;
    if (!canonical_key(tree, simplifier)) return;
    for (std::size_t m = 0; m < n_pairs; ++m)
        if (hashes[m] != 0) (enumerated ? signatures_ : wide_signatures_)[m].emplace(hashes[m], entry);
    has_unsigned_ = has_unsigned_ || hashes == Signature{}.hashes;
}

std::uint64_t Holdout::image(const Tree& tree, std::size_t n_variables) const {
    std::array<double, n_points> values;
    values_of(tree, n_variables, grid_.data(), n_points, n_points, values.data());
    std::uint64_t hash = 1;
    for (const double value : values) {
        // an overflow stays apart from 0; only what is undefined counts as 0
        const double rounded = value != value ? 0.0 : std::nearbyint(value * 1e4) + 0.0;
        hash = mix(hash, std::bit_cast<std::uint64_t>(rounded));
    }
    return hash;
}

Holdout::Sample Holdout::sample(const Tree& tree, std::size_t n_variables) const {
    Sample hashes{};
    std::array<double, 2 * n_sample_points> values;
    values_of(tree, n_variables, grid_.data(), n_points, values.size(), values.data());
    for (std::size_t i = 0; i < hashes.size(); ++i) {
        const std::span<const double> part(values.data() + i * n_sample_points, n_sample_points);
        if (std::count_if(part.begin(), part.end(), [](double v) { return std::isfinite(v); }) < 8) continue;
        hashes[i] = n_variables;
        for (const double value : part) hashes[i] = mix(hashes[i], rounded_bits(value));
    }
    return hashes;
}

Holdout::Signature Holdout::signature(const Tree& tree, std::size_t n_variables) {
    const std::size_t n_rows = n_pairs * (n_variables + 1);
    std::vector<double> columns(n_rows * n_variables);
    for (std::size_t j = 0; j < n_variables; ++j)
        for (std::size_t m = 0; m < n_pairs; ++m)
            for (std::size_t i = 0; i <= n_variables; ++i)
                columns[j * n_rows + m * (n_variables + 1) + i] = signature_pairs[m][i == j + 1 ? 0 : 1];
    std::vector<double> values(n_rows);
    values_of(tree, n_variables, columns.data(), n_rows, n_rows, values.data());
    Signature found;
    std::vector<std::uint64_t> moved;
    for (std::size_t m = 0; m < n_pairs; ++m) {
        const double* at = values.data() + m * (n_variables + 1);
        const auto n_defined = std::count_if(at, at + n_variables + 1, [](double v) { return std::isfinite(v); });
        if (n_defined == 0) continue;
        found.has_gaps |= n_defined <= static_cast<std::ptrdiff_t>(n_variables);
        const std::uint64_t base = rounded_bits(at[0]);
        moved.clear();
        for (std::size_t i = 1; i <= n_variables; ++i)  // a variable that changes nothing may as well not be there
            if (rounded_bits(at[i]) != base) moved.push_back(rounded_bits(at[i]));
        std::sort(moved.begin(), moved.end());
        std::uint64_t hash = mix(1, base);
        for (const std::uint64_t value : moved) hash = mix(hash, value);
        found.hashes[m] = hash | 1;
    }
    return found;
}

// None for what is the same everywhere: c*x/(c + x) is x/x without its constants, and should not fall with x*y/(x*y).
std::optional<std::uint64_t> Holdout::canonical_key(const Tree& tree, Simplifier& simplifier) const {
    Postfix nodes = pruned(simplifier.run(tree, exact_options_).tree.nodes(), true);
    if (nodes.empty()) return std::nullopt;
    std::size_t n_variables = 0;
    return compact(std::move(nodes), n_variables).hash();
}

std::optional<HeldOut> Holdout::find_any(const Tree& tree, Simplifier& simplifier) const {
    if (const auto found = find(tree, simplifier)) return found;
    return find(simplifier.run(tree, options_).tree, simplifier);
}

std::optional<HeldOut> Holdout::find(const Tree& skeleton, Simplifier& simplifier) const {
    if (n_entries_ == 0) return std::nullopt;
    Postfix nodes = pruned(skeleton.nodes(), false);
    if (nodes.empty()) return std::nullopt;
    std::size_t n = 0;
    const Tree tree = compact(std::move(nodes), n);
    if (n <= max_variables_) {
        if (const auto found = symbolic_.find(tree.hash()); found != symbolic_.end())
            return HeldOut{Match::symbolic, found->second};
        if (const auto found = images_.find(mix(image(tree, n), n)); found != images_.end())
            return HeldOut{Match::numeric, found->second};
    }
    if (const auto found = find_canonical(tree, n, simplifier)) return found;
    const Tree scaled = compact(pruned(skeleton.nodes(), true), n);
    return scaled == tree ? std::nullopt : find_canonical(scaled, n, simplifier);
}

std::optional<HeldOut> Holdout::find_canonical(const Tree& tree, std::size_t n, Simplifier& simplifier) const {
    const auto [hashes, has_gaps] = signature(tree, n);
    bool may_equal = has_gaps;
    bool is_defined = false;
    for (std::size_t m = 0; m < n_pairs; ++m) {
        if (hashes[m] == 0) continue;
        is_defined = true;
        may_equal = may_equal || signatures_[m].contains(hashes[m]);
        if (const auto found = wide_signatures_[m].find(hashes[m]); found != wide_signatures_[m].end())
            return HeldOut{Match::canonical, found->second};
    }
    if (!may_equal && (is_defined || !has_unsigned_)) return std::nullopt;
    const auto key = canonical_key(tree, simplifier);
    if (!key) return std::nullopt;
    if (const auto found = canonical_.find(*key); found != canonical_.end())
        return HeldOut{Match::canonical, found->second};
    // x*(x + y/x) and x^2 + y: equal, though no rule of the simplifier expands products
    const Sample values = n <= max_grid_variables ? sample(tree, n) : Sample{};
    for (std::size_t i = 0; i < values.size(); ++i)
        if (const auto found = samples_[i].find(values[i]); values[i] != 0 && found != samples_[i].end())
            return HeldOut{Match::canonical, found->second};
    return std::nullopt;
}

}  // namespace flash_ansr
