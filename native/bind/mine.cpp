#include "core/mine.hpp"

#include "bind.hpp"

using namespace simplipy;

namespace {

nb::tuple counts_of(const MineCounts& counts) {
    return nb::make_tuple(counts.tested, counts.thin, counts.reducible, counts.proposed, counts.irreducible);
}

nb::object shard_of(const MineShard& shard) {
    nb::list proposals;
    for (const Proposal& proposal : shard.proposals)
        proposals.append(nb::make_tuple(proposal.pattern, proposal.replacement, proposal.masks, proposal.condition));
    std::vector<std::int64_t> kept;
    for (const Composite& c : shard.kept) kept.insert(kept.end(), {static_cast<std::int64_t>(c.op), c.left, c.right});
    return nb::make_tuple(proposals, counts_of(shard.counts), to_numpy(std::move(kept)),
                          to_numpy(std::vector<std::uint64_t>(shard.keys)));
}

}  // namespace

void bind_mine(nb::module_& module) {
    nb::class_<Miner>(module, "Miner")
        .def(
            "__init__",
            [](Miner* self, int max_length, int max_replacement, int n_variables, int n_constants, int max_ground,
               int max_conditional, bool literals, const std::vector<std::string>& operators, std::uint64_t seed) {
                MineOptions options{max_length,      max_replacement, n_variables, n_constants, max_ground,
                                    max_conditional, literals,        {},          seed};
                for (const std::string& token : operators) options.operators.push_back(find_symbol(token).value());
                new (self) Miner(std::move(options));
            },
            nb::arg("max_length"), nb::arg("max_replacement"), nb::arg("n_variables"), nb::arg("n_constants"),
            nb::arg("max_ground"), nb::arg("max_conditional"), nb::arg("literals"), nb::arg("operators"),
            nb::arg("seed"))
        .def(
            "set_rules", [](Miner& self, std::shared_ptr<RuleSet> rules) { self.set_rules(std::move(rules)); },
            nb::arg("rules"))
        .def("stored_length", &Miner::stored_length)
        .def("n_tasks", &Miner::n_tasks, nb::arg("length"))
        .def("n_terms", &Miner::n_terms, nb::arg("length"), nb::call_guard<nb::gil_scoped_release>())
        .def(
            "run",
            [](const Miner& self, int length, std::size_t first, std::size_t last, std::size_t n_threads) {
                const auto shard = [&] {
                    const nb::gil_scoped_release release;
                    return self.run(length, first, last, n_threads);
                };
                return shard_of(shard());
            },
            nb::arg("length"), nb::arg("first"), nb::arg("last"), nb::arg("n_threads"))
        .def(
            "commit",
            [](Miner& self, int length, const nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig>& kept,
               const nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig>& keys) {
                std::vector<Composite> composites;
                for (std::size_t i = 0; i < keys.shape(0); ++i) {
                    const std::int64_t* row = kept.data() + 3 * i;
                    composites.push_back(
                        {static_cast<Op>(row[0]), static_cast<VersionId>(row[1]), static_cast<VersionId>(row[2]), 0});
                }
                return self.commit(length, composites, {keys.data(), keys.shape(0)});
            },
            nb::arg("length"), nb::arg("kept"), nb::arg("keys"));
}
