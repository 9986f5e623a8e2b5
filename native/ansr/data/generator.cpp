#include "generator.hpp"

#include <algorithm>
#include <numeric>

#include "core/base/errors.hpp"
#include "core/base/threads.hpp"

namespace flash_ansr {

using simplipy::Node;
using simplipy::Op;
using simplipy::Simplifier;
using simplipy::simplifier_of_thread;
using simplipy::Tree;

namespace {

constexpr std::uint64_t max_attempts = 20000;        // for one problem
constexpr std::uint64_t of_the_part = max_attempts;  // the attempt that says which generator draws a problem
constexpr std::size_t chunk = 16;                    // problems of one task

// The highest k of its variables x_k; beyond any limit when it has other names.
std::size_t n_columns_needed(const Tree& tree) {
    std::size_t needed = 0;
    for (const std::int64_t code : simplipy::variable_codes(tree))
        needed = std::max(needed, static_cast<std::size_t>(code));
    return needed;
}

std::array<std::int16_t, simplipy::max_symbols> ids_of_operators(const SkeletonPrior& prior) {
    std::array<std::int16_t, simplipy::max_symbols> ids;
    ids.fill(-1);
    auto beyond = static_cast<std::int16_t>(first_variable_id + static_cast<int>(prior.n_variables));
    for (const simplipy::OpInfo& row : simplipy::operators()) {
        if (row.weight > 0.0)
            ids[index(row.op)] = static_cast<std::int16_t>(first_operator_id + static_cast<int>(row.op));
        else if (prior.operator_weights[index(row.op)] > 0.0)
            ids[index(row.op)] = beyond++;
    }
    return ids;
}

[[noreturn]] void throw_exhausted(std::uint64_t index, const Problem& problem) {
    std::string message =
        "problem " + std::to_string(index) + ": none of " + std::to_string(max_attempts) + " skeletons was accepted (";
    std::string separator;
    for (std::size_t i = 1; i < n_outcomes; ++i) {
        if (problem.outcomes[i] == 0) continue;
        message += separator + outcome_names[i] + ": " + std::to_string(problem.outcomes[i]);
        separator = ", ";
    }
    throw ExhaustedError(message + "); widen the prior, or hold out less");
}

}  // namespace

simplipy::SimplifyOptions masked_options(std::shared_ptr<const simplipy::RuleSet> rules, int max_pattern_length) {
    simplipy::SimplifyOptions options;
    options.mask_numbers = true;
    options.rules = std::move(rules);
    options.max_pattern_length = max_pattern_length;
    return options;
}

Generator::Generator(Prior prior, simplipy::SimplifyOptions options, std::shared_ptr<const Holdout> holdout,
                     Material material, std::vector<Part> parts)
    : prior_(std::move(prior)),
      options_(std::move(options)),
      renderer_(prior_),
      holdout_(std::move(holdout)),
      parts_(std::move(parts)),
      operator_ids_(ids_of_operators(prior_.skeleton)),
      source_(prior_, checked(std::move(material))) {}

// The skeletons to draw from must be within the vocabulary.
Material Generator::checked(Material material) const {
    const auto check = [&](Tree& tree, std::size_t i, const char* where) {
        tree = simplipy::skeleton(tree);
        if (!is_closed(tree) || n_columns_needed(tree) > prior_.skeleton.n_variables)
            throw simplipy::ParseError("skeleton " + std::to_string(i + 1) + " of the " + where +
                                       " must be finite, in the variables x1 to x" +
                                       std::to_string(prior_.skeleton.n_variables));
    };
    for (std::size_t i = 0; i < material.corpus.size(); ++i) check(material.corpus[i], i, "corpus");
    for (std::size_t i = 0; i < material.laws.size(); ++i) check(material.laws[i].form, i, "laws");
    return material;
}

// Whether all its tokens are in the vocabulary.
bool Generator::is_closed(const Tree& tree) const {
    return std::all_of(tree.nodes().begin(), tree.nodes().end(), [this](const Node& node) { return id_of(node) >= 0; });
}

std::int16_t Generator::id_of(const Node& node) const {
    if (node.op == Op::variable) return static_cast<std::int16_t>(first_variable_id + node.payload - 1);
    return node.op == Op::constant ? constant_id : operator_ids_[index(node.op)];
}

// The target of a drawn skeleton.
Tree Generator::normal_form(const Tree& drawn, Simplifier& simplifier) const {
    if (!prior_.simplify) return drawn;
    const Tree simplified = simplifier.run(drawn, options_).tree;
    if (!prior_.free_multipliers) return simplified;
    std::vector<Node> nodes;
    for (const Node& node : simplified.nodes()) {
        const simplipy::Form form = simplipy::info(node.op).form;
        if (form != simplipy::Form::scale && form != simplipy::Form::quotient) {
            nodes.push_back(node);
            continue;
        }
        nodes.push_back(Node::of(Op::constant));
        nodes.push_back(Node::of(Op::mul));
    }
    if (nodes.size() == simplified.size()) return simplified;
    return simplifier.run(Tree(std::move(nodes), {}), options_).tree;
}

// The used columns moved to the front in their order, or spread among irrelevant ones. Keeping the order of variables
// keeps the order of operands, so a simplified skeleton stays one.
Tree Generator::moved_forward(const Tree& tree, Random& random, std::size_t& n_columns) const {
    const std::vector<std::int64_t> codes = simplipy::variable_codes(tree);
    const std::size_t n_used = codes.size();
    n_columns = n_used;
    if (prior_.p_irrelevant > 0.0 && random.uniform() < prior_.p_irrelevant)
        n_columns += random.below(prior_.skeleton.n_variables - n_used + 1);
    std::vector<std::int64_t> places;
    places.reserve(n_used);
    for (std::size_t column = 0; column < n_columns && places.size() < n_used; ++column)
        if (random.below(n_columns - column) < n_used - places.size())
            places.push_back(static_cast<std::int64_t>(column) + 1);
    std::vector<Node> nodes = tree.nodes();
    for (Node& node : nodes)
        if (node.op == Op::variable)
            node.payload = places[static_cast<std::size_t>(std::lower_bound(codes.begin(), codes.end(), node.payload) -
                                                           codes.begin())];
    return Tree(std::move(nodes), {});
}

// Data in the columns in front of `n_columns` that the formula does not use.
void Generator::fill_irrelevant(Random& random, std::size_t n_columns, DataSet& data) const {
    std::vector<std::size_t> unused;
    for (std::size_t column = 0; column < n_columns; ++column)
        if (!std::binary_search(data.columns.begin(), data.columns.end(), column)) unused.push_back(column);
    for (const std::size_t column : unused) {
        data.columns.push_back(column);
        data.X.resize(data.X.size() + data.n_rows);
        Column(prior_.columns, random).fill({data.X.data() + data.X.size() - data.n_rows, data.n_rows}, random);
    }
}

Outcome Generator::attempt(Random& random, Simplifier& simplifier, Problem& problem) const {
    Drawn drawn = source_.draw(random);
    problem.drawn = std::move(drawn.tree);
    if (problem.drawn.size() > prior_.skeleton.max_length) return Outcome::too_long;
    problem.skeleton = normal_form(problem.drawn, simplifier);
    if (!is_closed(problem.skeleton)) return Outcome::not_finite;
    std::vector<const Spread*> spreads;  // by column; moving columns forward keeps their order
    if (!drawn.spreads.empty())
        for (const std::int64_t code : simplipy::variable_codes(problem.skeleton))
            spreads.push_back(drawn.spreads[static_cast<std::size_t>(code) - 1]);
    std::size_t n_columns = 0;
    if (prior_.leading) problem.skeleton = moved_forward(problem.skeleton, random, n_columns);
    const Outcome outcome = renderer_.render(problem.skeleton, spreads, random, problem.data);
    if (outcome != Outcome::accepted) return outcome;
    // last, since it costs most of all checks
    if (const auto found = holdout_->find(problem.skeleton, simplifier))
        return static_cast<Outcome>(static_cast<int>(Outcome::held_out_symbolic) + static_cast<int>(found->match));
    fill_irrelevant(random, n_columns, problem.data);
    return Outcome::accepted;
}

// The generator that draws this problem: one of the parts, or this one.
const Generator& Generator::of_index(std::uint64_t seed, std::uint64_t index) const {
    if (parts_.empty()) return *this;
    double at = Random(seed, index, of_the_part).uniform();
    for (const auto& [share, generator] : parts_)
        if ((at -= share) < 0.0) return *generator;
    return *this;
}

Problem Generator::draw(std::uint64_t seed, std::uint64_t index, Simplifier& simplifier) const {
    Problem problem;
    for (std::uint64_t i = 0; i < max_attempts; ++i) {
        Random random(seed, index, i);
        const Outcome outcome = attempt(random, simplifier, problem);
        ++problem.outcomes[static_cast<std::size_t>(outcome)];
        if (outcome == Outcome::accepted) return problem;
    }
    throw_exhausted(index, problem);
}

void Generator::place(const Problem& problem, std::size_t i, std::size_t first_row, BatchArrays& arrays) const {
    const DataSet& data = problem.data;
    const std::size_t n_variables = prior_.skeleton.n_variables;
    float* X = arrays.X.data() + first_row * n_variables;
    for (std::size_t j = 0; j < data.columns.size(); ++j)
        for (std::size_t row = 0; row < data.n_rows; ++row)
            X[row * n_variables + data.columns[j]] = data.X[j * data.n_rows + row];
    std::copy(data.y.begin(), data.y.end(), arrays.y.begin() + static_cast<std::ptrdiff_t>(first_row));
    std::int16_t* ids = arrays.token_ids.data() + i * arrays.length;
    *ids++ = start_id;
    for (const std::size_t node : simplipy::prefix_order(problem.skeleton))
        *ids++ = id_of(problem.skeleton.nodes()[node]);
    *ids = end_id;
    std::copy(problem.outcomes.begin(), problem.outcomes.end(),
              arrays.outcomes.begin() + static_cast<std::ptrdiff_t>(i * n_outcomes));
}

BatchArrays Generator::batch(const BatchRequest& request) const {
    const std::size_t n = request.indices.size();
    std::vector<Problem> problems(n);
    const auto for_all = [&](const auto& body) {
        simplipy::parallel_for((n + chunk - 1) / chunk, request.n_threads, [&](std::size_t task) {
            for (std::size_t i = task * chunk; i < std::min(n, (task + 1) * chunk); ++i) body(i);
        });
    };
    for_all([&](std::size_t i) {
        const auto index = static_cast<std::uint64_t>(request.indices[i]);
        problems[i] = of_index(request.seed, index).draw(request.seed, index, simplifier_of_thread());
    });

    BatchArrays arrays;
    arrays.n = n;
    std::vector<std::size_t> first_rows(n + 1, 0);
    for (std::size_t i = 0; i < n; ++i) {
        const Problem& problem = problems[i];
        arrays.n_rows.push_back(static_cast<std::int32_t>(problem.data.n_rows));
        arrays.n_columns.push_back(static_cast<std::int32_t>(problem.data.columns.size()));
        arrays.lengths.push_back(static_cast<std::int32_t>(problem.skeleton.size()));
        arrays.noise.push_back(static_cast<float>(problem.data.noise));
        arrays.width = std::max(arrays.width, problem.data.n_rows);
        arrays.length = std::max(arrays.length, problem.skeleton.size() + 2);
        first_rows[i + 1] = first_rows[i] + problem.data.n_rows;
        if (!request.detailed) continue;
        arrays.constants.insert(arrays.constants.end(), problem.data.constants.begin(), problem.data.constants.end());
        arrays.n_constants.push_back(static_cast<std::int32_t>(problem.data.constants.size()));
        for (const std::size_t node : simplipy::prefix_order(problem.drawn))
            arrays.drawn_ids.push_back(id_of(problem.drawn.nodes()[node]));
        arrays.drawn_lengths.push_back(static_cast<std::int32_t>(problem.drawn.size()));
    }
    if (request.padded)
        for (std::size_t i = 0; i < n; ++i) first_rows[i] = i * arrays.width;
    const std::size_t n_rows = request.padded ? n * arrays.width : first_rows[n];
    arrays.X.resize(n_rows * prior_.skeleton.n_variables);
    arrays.y.resize(n_rows);
    arrays.token_ids.assign(n * arrays.length, pad_id);
    arrays.outcomes.resize(n * n_outcomes);
    for_all([&](std::size_t i) { place(problems[i], i, first_rows[i], arrays); });
    return arrays;
}

BatchArrays Generator::skeletons(const BatchRequest& request, bool simplified) const {
    const std::size_t n = request.indices.size();
    std::vector<Tree> trees(n);
    simplipy::parallel_for((n + chunk - 1) / chunk, request.n_threads, [&](std::size_t task) {
        for (std::size_t i = task * chunk; i < std::min(n, (task + 1) * chunk); ++i) {
            const auto index = static_cast<std::uint64_t>(request.indices[i]);
            const Generator& part = of_index(request.seed, index);
            Random random(request.seed, index, 0);
            trees[i] = part.source_.draw(random).tree;
            if (simplified) trees[i] = part.normal_form(trees[i], simplifier_of_thread());
        }
    });
    BatchArrays arrays;
    arrays.n = n;
    for (const Tree& tree : trees) {
        const bool closed = is_closed(tree);
        if (closed)
            for (const std::size_t node : simplipy::prefix_order(tree))
                arrays.token_ids.push_back(id_of(tree.nodes()[node]));
        arrays.lengths.push_back(closed ? static_cast<std::int32_t>(tree.size()) : 0);
    }
    return arrays;
}

}  // namespace flash_ansr
