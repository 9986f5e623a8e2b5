#include "jobs.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <unordered_map>

#include "core/expression/names.hpp"

namespace simplipy {
namespace {

// Where each name stands: >= 0 a column, -1 - p parameter number p.
class Places {
  public:
    explicit Places(const FitNames& names) {
        for (std::size_t i = 0; i < names.columns.size(); ++i)
            by_name_[names.columns[i]] = static_cast<std::int64_t>(i);
        for (std::size_t i = 0; i < names.parameters.size(); ++i)
            by_name_[names.parameters[i]] = -1 - static_cast<std::int64_t>(i);
    }

    std::int64_t of(const Tree& tree, std::int64_t code) {
        if (code <= 0) return by_name_.at(variable_name(tree, code));
        const std::size_t k = static_cast<std::size_t>(code);
        if (k >= by_number_.size()) by_number_.resize(k + 1, unknown);
        if (by_number_[k] == unknown) by_number_[k] = by_name_.at(variable_name(tree, code));
        return by_number_[k];
    }

  private:
    static constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::max();
    std::unordered_map<std::string, std::int64_t> by_name_;
    std::vector<std::int64_t> by_number_;  // of x_k
};

}  // namespace

std::vector<std::string> variables_of(std::span<const Tree* const> trees) {
    std::set<std::int64_t> numbers;
    std::set<std::string> others;
    for (const Tree* tree : trees)
        for (const Node& node : tree->nodes()) {
            if (node.op != Op::variable) continue;
            if (node.payload > 0) {
                numbers.insert(node.payload);
            } else {
                others.insert(variable_name(*tree, node.payload));
            }
        }
    std::vector<std::string> all;
    for (const std::int64_t k : numbers) all.push_back("x" + std::to_string(k));
    all.insert(all.end(), others.begin(), others.end());
    return all;
}

std::vector<FitJob> make_fit_jobs(std::span<const Tree* const> trees, const FitNames& names,
                                  std::span<const double> parameter_starts) {
    Places places(names);
    std::vector<FitJob> jobs(trees.size());
    std::vector<std::int64_t> rank(names.parameters.size());  // of a parameter among the tree's own
    for (std::size_t i = 0; i < trees.size(); ++i) {
        FitJob& job = jobs[i];
        job.tree = trees[i];
        job.n_constants = job.n_parameters = count(*trees[i], Op::constant);
        for (const std::int64_t code : variable_codes(*trees[i])) job.columns.push_back(places.of(*trees[i], code));
        if (names.parameters.empty()) continue;
        std::vector<double> start(job.n_constants, std::numeric_limits<double>::quiet_NaN());
        std::fill(rank.begin(), rank.end(), -1);
        for (const std::int64_t column : job.columns)
            if (column < 0) rank[static_cast<std::size_t>(-1 - column)] = 0;
        for (std::size_t p = 0; p < rank.size(); ++p) {
            if (rank[p] < 0) continue;
            rank[p] = static_cast<std::int64_t>(job.n_parameters++);
            start.push_back(parameter_starts[p]);
        }
        for (std::int64_t& column : job.columns)
            if (column < 0) column = -1 - rank[static_cast<std::size_t>(-1 - column)];
        if (job.n_parameters > job.n_constants) job.starts.push_back(std::move(start));
    }
    return jobs;
}

void set_starts(FitJob& job, std::span<const double> starts) {
    const std::vector<double> own =
        job.starts.empty()
            ? std::vector<double>{}
            : std::vector<double>(job.starts.front().begin() + static_cast<std::ptrdiff_t>(job.n_constants),
                                  job.starts.front().end());
    job.starts.clear();
    for (std::size_t at = 0; job.n_constants > 0 && at + job.n_constants <= starts.size(); at += job.n_constants) {
        std::vector<double> start(starts.begin() + static_cast<std::ptrdiff_t>(at),
                                  starts.begin() + static_cast<std::ptrdiff_t>(at + job.n_constants));
        start.insert(start.end(), own.begin(), own.end());
        job.starts.push_back(std::move(start));
    }
}

}  // namespace simplipy
