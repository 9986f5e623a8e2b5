#include <algorithm>
#include <numeric>

#include "check.hpp"
#include "core/mine/mine.hpp"

using namespace simplipy;

namespace {

MineOptions few_operators(int max_length) {
    MineOptions options;
    options.max_length = max_length;
    options.n_variables = 2;
    options.operators = {Op::add, Op::sub, Op::pow, Op::sin, Op::asin, Op::tan, Op::atan, Op::abs, Op::pow2};
    return options;
}

// Proposals of all lengths, as text, with the work cut into shards of so many tasks.
std::vector<std::string> mined(const MineOptions& options, std::size_t n_threads, std::size_t shard_size) {
    Miner miner(options);
    std::vector<std::string> found;
    for (int length = 2; length <= options.max_length; ++length) {
        std::vector<Composite> kept;
        std::vector<std::uint64_t> keys;
        MineCounts counts;
        const std::size_t n_tasks = miner.n_tasks(length);
        for (std::size_t first = 0; first < n_tasks; first += shard_size) {
            const MineShard shard = miner.run(length, first, std::min(n_tasks, first + shard_size), n_threads);
            kept.insert(kept.end(), shard.kept.begin(), shard.kept.end());
            keys.insert(keys.end(), shard.keys.begin(), shard.keys.end());
            counts += shard.counts;
            for (const Proposal& proposal : shard.proposals) {
                std::string text;
                for (const std::string& token : proposal.pattern) text += token + " ";
                text += "->";
                for (const std::string& token : proposal.replacement) text += " " + token;
                found.push_back(text + (proposal.masks ? " masks" : "") + (" " + proposal.condition));
            }
        }
        CHECK(counts.tested_by_variables == miner.n_terms(length));
        CHECK(counts.tested ==
              std::accumulate(counts.tested_by_variables.begin(), counts.tested_by_variables.end(), std::uint64_t{0}));
        CHECK(counts.tested == counts.thin + counts.reducible + counts.proposed + counts.irreducible);
        if (length == options.max_length) break;
        miner.commit(length, kept, keys);
        miner.end_length(length);
    }
    return found;
}

bool has(const std::vector<std::string>& found, const std::string& text) {
    return std::find(found.begin(), found.end(), text) != found.end();
}

}  // namespace

TEST(mining_finds_inverse_functions_and_their_conditions) {
    const std::vector<std::string> found = mined(few_operators(4), 1, 100);
    CHECK(has(found, "sin asin x1 -> x1 "));
    CHECK(has(found, "tan atan x1 -> x1 "));
    CHECK(has(found, "asin sin x1 -> x1 a in [-pi/2, pi/2]"));
    CHECK(!has(found, "asin sin x1 -> x1 "));
    CHECK(has(found, "abs pow x1 pi -> pow x1 pi "));
}

TEST(mining_does_not_depend_on_threads_or_shards) {
    const std::vector<std::string> one = mined(few_operators(4), 1, 1000);
    CHECK(!one.empty());
    CHECK(one == mined(few_operators(4), 3, 1));
}

TEST(versions_of_a_term_have_the_values_of_their_variables) {
    TermBank bank(3, 2, 7);
    bank.keep({Op::variable, no_version, no_version, 1});
    bank.keep({Op::constant, no_version, no_version, 0});
    const VersionId a = bank.term(0).first;
    bank.keep({Op::sin, a, no_version, 0});
    CHECK(bank.n_versions() == 3 + 2 + 3);
    // x1 - x2 under all renamings, x1 - x3 among them
    bank.keep({Op::sub, a, a + 1, 0});
    const MineTerm& difference = bank.term(3);
    CHECK(difference.n_variables == 2 && difference.length == 3);
    std::vector<Node> nodes;
    bank.write(bank.version_of(difference, 1, 0), nodes);
    CHECK(nodes.size() == 3 && nodes[0].payload == 1 && nodes[1].payload == 3);
    const double* values = bank.values(bank.version_of(difference, 1, 0));
    for (std::size_t row = 0; row < mine_rows; ++row)
        CHECK(values[row] == bank.values(a)[row] - bank.values(a + 2)[row]);
}

TEST(a_family_is_found_by_its_member_through_a_point) {
    TermBank bank(1, 1, 3);
    bank.keep({Op::variable, no_version, no_version, 1});
    bank.keep({Op::constant, no_version, no_version, 0});
    const std::vector<VersionId> terms = {bank.term(0).first};
    RowValues values{};
    const double* x = bank.values(terms[0]);
    const double* c = bank.values(bank.term(1).first);
    for (std::size_t row = 0; row < mine_rows; ++row) values[row] = x[row] / (3.0 * c[row]);
    const MineTarget target{values.data(), usable_rows(values.data()), 1, 5};
    const auto family = find_family(bank, target, terms, 3);
    CHECK(family && family->op == Op::mul);
    for (std::size_t row = 0; row < mine_rows; ++row) values[row] = x[row] * x[row] + c[row];
    CHECK(!find_family(bank, {values.data(), usable_rows(values.data()), 2, 5}, terms, 3));
}
