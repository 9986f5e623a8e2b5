#include "mine.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/base/threads.hpp"
#include "core/expression/prefix.hpp"

namespace simplipy {
namespace {

constexpr std::size_t terms_per_task = 32;
// Mild rows on which a term must be finite to be compared.
constexpr int min_rows = 4;
// A term with an infinity or nan is an instance of a pattern of at most this length: `inf op a`.
constexpr int max_infinite_length = 3;

// Parts of the line on which a term may have a simpler form, the widest first.
struct Region {
    const char* condition;
    double low;
    double high;
};

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Region regions[] = {{"a >= 0", 0.0, infinity},
                              {"a <= 0", -infinity, 0.0},
                              {"a in [-pi, pi]", -std::numbers::pi, std::numbers::pi},
                              {"a >= 1", 1.0, infinity},
                              {"a in [0, pi]", 0.0, std::numbers::pi},
                              {"a in [-pi/2, pi/2]", -std::numbers::pi / 2, std::numbers::pi / 2},
                              {"a in [-1, 1]", -1.0, 1.0}};

bool is_infinite_leaf(Op op) { return op == Op::inf || op == Op::neg_inf || op == Op::nan; }

}  // namespace

MineCounts& MineCounts::operator+=(const MineCounts& other) {
    tested += other.tested;
    for (std::size_t n = 0; n < tested_by_variables.size(); ++n) tested_by_variables[n] += other.tested_by_variables[n];
    thin += other.thin;
    reducible += other.reducible;
    proposed += other.proposed;
    irreducible += other.irreducible;
    return *this;
}

Miner::Miner(MineOptions options)
    : options_(std::move(options)), bank_(options_.n_variables, options_.n_constants, options_.seed) {
    for (const Op op : options_.operators) (arity(op) == 1 ? unary_ : binary_).push_back(op);
    add_leaves();
    refresh();
    const double* a = bank_.values(bank_.term(0).first);
    for (const Region& region : regions) {
        RowMask rows = 0;
        for (std::size_t row = 0; row < mine_rows; ++row)
            rows |= static_cast<RowMask>(region.low <= a[row] && a[row] <= region.high) << row;
        region_rows_.push_back(rows);
    }
}

void Miner::add_leaves() {
    bank_.keep({Op::variable, no_version, no_version, 1});
    if (options_.n_constants > 0) bank_.keep({Op::constant, no_version, no_version, 0});
    if (!options_.literals) return;
    for (const std::int64_t number : {0, 1, -1}) bank_.keep({Op::number, no_version, no_version, number});
    for (const Op op : {Op::pi, Op::e, Op::inf, Op::neg_inf, Op::nan}) {
        if (is_infinite_leaf(op)) infinities_.push_back(static_cast<std::uint32_t>(bank_.n_terms()));
        bank_.keep({op, no_version, no_version, 0});
    }
}

void Miner::refresh() {
    table_.build(bank_, options_.max_replacement);
    family_terms_.clear();
    for (VersionId id = 0; id < bank_.n_versions(); ++id) {
        const MineTerm& term = bank_.term_of(id);
        if (term.n_constants == 0 && term.n_variables > 0 && term.length + 2 <= options_.max_replacement)
            family_terms_.push_back(id);
    }
}

// One thread's work: builds the terms of its tasks, tests them, collects.
class Miner::Worker {
  public:
    Worker(const Miner& miner, int length) : miner_(miner), bank_(miner.bank_), length_(length) {
        is_last_ = length == miner.options_.max_length;
        plain_.rules = miner.rules_;
        masked_.rules = miner.rules_;
        masked_.mask_numbers = true;
    }

    // Terms with these indices as operand or left operand; behind the stored ones come those that are passed.
    void run(std::size_t first, std::size_t last, MineShard& shard) {
        shard_ = &shard;
        for (std::size_t i = first; i < last; ++i) {
            if (i >= bank_.n_terms()) {
                extend(miner_.passed_[i - bank_.n_terms()]);
                continue;
            }
            const MineTerm& left = bank_.term(static_cast<std::uint32_t>(i));
            if (left.length == length_ - 1)
                for (const Op op : miner_.unary_) test({op, left.first, no_version, 0});
            const int rest = length_ - 1 - left.length;
            if (rest >= 1 && rest <= miner_.stored_length()) combine(static_cast<std::uint32_t>(i), rest);
        }
    }

  private:
    // The term as left operand of all binary operators, over all versions of terms with so many tokens.
    void combine(std::uint32_t i, int length) {
        const MineTerm& left = bank_.term(i);
        const auto [first, last] = bank_.of_length(length);
        for (std::uint32_t j = first; j < last; ++j) {
            const MineTerm& right = bank_.term(j);
            if (left.n_constants + right.n_constants > bank_.n_constants()) continue;
            // operands that may be swapped in one order: the later term first
            const bool in_order = i >= j;
            const int shift = right.n_constants == 0 ? 0 : left.n_constants;
            for (const std::uint16_t renaming : bank_.followers(left.n_variables, right.n_variables)) {
                const VersionId id = bank_.version_of(right, renaming, shift);
                for (const Op op : miner_.binary_)
                    if (in_order || !is_commutative(op)) test({op, left.first, id, 0});
            }
        }
    }

    void count(int n_variables) {
        ++shard_->counts.tested;
        ++shard_->counts.tested_by_variables[static_cast<std::size_t>(n_variables)];
    }

    static bool is_ground(const MineTerm& term) { return term.n_variables == 0 && term.n_constants == 0; }

    bool is_zero(VersionId id) const {
        const Composite& leaf = bank_.term_of(id).composite;
        return leaf.op == Op::number && leaf.payload == 0;
    }

    bool is_infinite(VersionId id) const {
        return id != no_version && std::find(miner_.infinities_.begin(), miner_.infinities_.end(),
                                             bank_.version(id).term) != miner_.infinities_.end();
    }

    void test(const Composite& composite) {
        if (is_infinite(composite.left) || is_infinite(composite.right)) {
            if (length_ <= max_infinite_length) test_infinite(composite);
            return;
        }
        // 0^u is 0, 1 or undefined, by the sign of u: no rule holds
        if (composite.op == Op::pow && is_zero(composite.left)) return;
        const MineTerm term = bank_.describe(composite);
        bank_.evaluate(composite, values_.data());
        tame_ = bank_.tame_operands(composite);
        nodes_.clear();
        const MineTarget target{values_.data(), usable_rows(values_.data()), bank_.occurrences(composite), length_};
        if (!judge(target, term, composite, Op::nan) || is_last_) return;
        if (is_ground(term) && length_ > miner_.options_.max_ground) return;
        shard_->kept.push_back(composite);
        shard_->keys.push_back(renamed_content(spelling_, prefix_order(tree_)));
    }

    // All unary operators over a term that is not stored.
    void extend(const Composite& composite) {
        const MineTerm term = bank_.describe(composite);
        alignas(64) RowValues operand;
        bank_.evaluate(composite, operand.data());
        tame_ = tame_rows(operand.data()) & bank_.tame_operands(composite);
        for (const Op op : miner_.unary_) {
            TermBank::evaluate_unary(op, operand.data(), values_.data());
            nodes_.clear();
            judge({values_.data(), usable_rows(values_.data()), bank_.occurrences(composite), length_}, term, composite,
                  op);
        }
    }

    // Whether the term, with `outer` over it unless that is nan, stays: false where it is thin, reducible or a rule.
    // Of the longest terms, only those that have a replacement are simplified.
    bool judge(const MineTarget& target, const MineTerm& term, const Composite& composite, Op outer) {
        MineCounts& counts = shard_->counts;
        count(term.n_variables);
        if (std::popcount(target.usable & mild_rows) < min_rows) {
            ++counts.thin;
            return false;
        }
        std::vector<Node> replacement;
        bool masks = false;
        if (is_ground(term)) {
            // one value is no evidence: tanh(exp(exp(e))) is 1 to more digits than anyone computes
        } else if (const auto found = miner_.table_.find(bank_, target)) {
            if (bank_.term_of(*found).n_variables > 0 || !is_saturated(target.usable)) bank_.write(*found, replacement);
        } else if (term.n_constants > 0 || term.has_literal) {
            const auto family = find_family(bank_, target, miner_.family_terms_, miner_.options_.max_replacement);
            if (family && (family->op != Op::constant || !is_saturated(target.usable))) {
                family->write(bank_, replacement);
                masks = term.n_constants == 0;
            }
        }
        if (is_last_ && replacement.empty() && length_ > miner_.options_.max_conditional) {
            ++counts.irreducible;
            return true;
        }
        write(composite, outer);
        if (masks) {
            if (spelled(masked_).size() >= nodes_.size()) propose(replacement, true);
            if (is_last_) {
                ++counts.irreducible;
                return true;
            }
            replacement.clear();
        }
        if (spelled(plain_).size() < nodes_.size()) {
            ++counts.reducible;
            return false;
        }
        if (!replacement.empty()) {
            propose(replacement, false);
            return false;
        }
        if (term.n_variables == 1 && term.n_constants == 0 && length_ <= miner_.options_.max_conditional)
            try_regions(target);
        ++counts.irreducible;
        return true;
    }

    // Whether a part is large or tiny nearly everywhere, so that agreement with a number means nothing.
    bool is_saturated(RowMask usable) const { return std::popcount(usable & mild_rows & tame_) < min_rows; }

    // A shorter term with the same values where the metavariable lies in some region.
    void try_regions(MineTarget target) {
        const RowMask usable = target.usable;
        for (std::size_t i = 0; i < std::size(regions); ++i) {
            target.usable = usable & miner_.region_rows_[i];
            if (std::popcount(target.usable & mild_rows) < min_rows) continue;
            const auto found = miner_.table_.find(bank_, target);
            if (!found) continue;
            std::vector<Node> replacement;
            bank_.write(*found, replacement);
            propose(replacement, false);
            shard_->proposals.back().condition = regions[i].condition;
            --shard_->counts.proposed;
        }
    }

    // A term with an infinite operand is defined nowhere; the canonicaliser carries infinities through.
    void test_infinite(const Composite& composite) {
        count(bank_.describe(composite).n_variables);
        nodes_.clear();
        write(composite, Op::nan);
        if (spelled(plain_).size() < nodes_.size()) {
            ++shard_->counts.reducible;
        } else {
            propose({Node::of(Op::nan)}, false);
        }
    }

    void write(const Composite& composite, Op outer) {
        bank_.write(composite, nodes_);
        if (outer != Op::nan) nodes_.push_back(Node::of(outer));
    }

    // The shortest spelling of the term under test.
    const std::vector<Node>& spelled(const SimplifyOptions& options) {
        tree_ = simplifier_.run(Tree(nodes_, {}), options).tree;
        spelling_ = tree_.nodes();
        return spelling_;
    }

    void propose(const std::vector<Node>& replacement, bool masks) {
        shard_->counts.proposed += !masks;
        shard_->proposals.push_back({prefix_tokens(Tree(nodes_, {})), prefix_tokens(Tree(replacement, {})), masks, {}});
    }

    const Miner& miner_;
    const TermBank& bank_;
    int length_;
    bool is_last_ = false;
    MineShard* shard_ = nullptr;
    alignas(64) RowValues values_{};
    RowMask tame_ = 0;  // rows where all parts of the term under test are tame
    std::vector<Node> nodes_;
    Tree tree_;
    std::vector<Node> spelling_;
    Simplifier simplifier_;
    SimplifyOptions plain_;
    SimplifyOptions masked_;
};

std::size_t Miner::n_tasks(int length) const {
    const bool is_last = length == options_.max_length;
    const std::size_t n = bank_.of_length(length - 1).second + (is_last ? passed_.size() : 0);
    return (n + terms_per_task - 1) / terms_per_task;
}

ByVariables Miner::n_terms(int length) const {
    const auto stands = [&](std::uint32_t i) {
        return length <= max_infinite_length ||
               std::find(infinities_.begin(), infinities_.end(), i) == infinities_.end();
    };
    const auto n_commutative = static_cast<std::size_t>(std::count_if(binary_.begin(), binary_.end(), is_commutative));
    const bool has_pow = std::count(binary_.begin(), binary_.end(), Op::pow) > 0;
    ByVariables n{};
    const auto add = [&](int n_variables, std::uint64_t more) { n[static_cast<std::size_t>(n_variables)] += more; };
    if (length == options_.max_length)
        for (const Composite& composite : passed_) add(bank_.describe(composite).n_variables, unary_.size());
    for (std::uint32_t i = 0; i < bank_.of_length(length - 1).second; ++i) {
        const MineTerm& left = bank_.term(i);
        if (!stands(i)) continue;
        if (left.length == length - 1) add(left.n_variables, unary_.size());
        const int rest = length - 1 - left.length;
        if (rest < 1 || rest > stored_length()) continue;
        const auto [first, last] = bank_.of_length(rest);
        for (std::uint32_t j = first; j < last; ++j) {
            const MineTerm& right = bank_.term(j);
            if (left.n_constants + right.n_constants > bank_.n_constants() || !stands(j)) continue;
            const bool is_power_of_zero = has_pow && left.composite.op == Op::number && left.composite.payload == 0 &&
                                          !is_infinite_leaf(right.composite.op);
            const std::uint64_t n_operators = binary_.size() - (i >= j ? 0 : n_commutative) - is_power_of_zero;
            for (const std::uint16_t renaming : bank_.followers(left.n_variables, right.n_variables))
                add(bank_.variables_after(left.n_variables, right, renaming), n_operators);
        }
    }
    return n;
}

MineShard Miner::run(int length, std::size_t first, std::size_t last, std::size_t n_threads) const {
    const std::size_t n = bank_.n_terms() + passed_.size();
    std::vector<MineShard> parts(last - first);
    parallel_for(parts.size(), n_threads, [&](std::size_t task) {
        Worker worker(*this, length);
        const std::size_t start = (first + task) * terms_per_task;
        worker.run(start, std::min(n, start + terms_per_task), parts[task]);
    });
    MineShard all;
    for (MineShard& part : parts) {
        all.kept.insert(all.kept.end(), part.kept.begin(), part.kept.end());
        all.keys.insert(all.keys.end(), part.keys.begin(), part.keys.end());
        std::move(part.proposals.begin(), part.proposals.end(), std::back_inserter(all.proposals));
        all.counts += part.counts;
    }
    return all;
}

std::uint64_t Miner::bytes_of(int length, std::span<const Composite> kept) const {
    if (length > stored_length()) return kept.size() * sizeof(Composite);
    std::uint64_t n = 0;
    for (const Composite& composite : kept) n += bank_.bytes_of(bank_.describe(composite));
    return n;
}

void Miner::commit(int length, std::span<const Composite> kept, std::span<const std::uint64_t> keys) {
    for (std::size_t i = 0; i < kept.size(); ++i) {
        if (!committed_.insert(keys[i])) continue;
        if (length <= stored_length()) {
            bank_.keep(kept[i]);
        } else {
            passed_.push_back(kept[i]);
        }
    }
}

void Miner::end_length(int length) {
    committed_.clear();
    if (length <= options_.max_replacement) refresh();
}

}  // namespace simplipy
