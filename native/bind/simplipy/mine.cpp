#include "core/mine/mine.hpp"

#include <nanobind/stl/array.h>

#include "bind.hpp"

using namespace simplipy;

namespace {

using Triples = nb::ndarray<const std::uint32_t, nb::shape<-1, 3>, nb::c_contig>;
using Keys = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig>;

nb::tuple counts_of(const MineCounts& counts) {
    return nb::make_tuple(counts.tested, counts.thin, counts.reducible, counts.proposed, counts.irreducible,
                          counts.tested_by_variables);
}

// Operator, left and right operand of each term.
std::vector<Composite> composites_of(const Triples& rows) {
    std::vector<Composite> composites;
    composites.reserve(rows.shape(0));
    for (std::size_t i = 0; i < rows.shape(0); ++i) {
        const std::uint32_t* row = rows.data() + 3 * i;
        composites.push_back({static_cast<Op>(row[0]), row[1], row[2], 0});
    }
    return composites;
}

nb::object shard_of(const MineShard& shard) {
    nb::list proposals;
    for (const Proposal& proposal : shard.proposals)
        proposals.append(nb::make_tuple(proposal.pattern, proposal.replacement, proposal.masks, proposal.condition));
    std::vector<std::uint32_t> kept;
    kept.reserve(3 * shard.kept.size());
    for (const Composite& c : shard.kept) kept.insert(kept.end(), {static_cast<std::uint32_t>(c.op), c.left, c.right});
    return nb::make_tuple(proposals, counts_of(shard.counts),
                          nb::cast(to_numpy(std::move(kept))).attr("reshape")(shard.kept.size(), 3),
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
            "bytes_of",
            [](const Miner& self, int length, const Triples& kept) {
                return self.bytes_of(length, composites_of(kept));
            },
            nb::arg("length"), nb::arg("kept"))
        .def(
            "commit",
            [](Miner& self, int length, const Triples& kept, const Keys& keys) {
                self.commit(length, composites_of(kept), {keys.data(), keys.shape(0)});
            },
            nb::arg("length"), nb::arg("kept"), nb::arg("keys"))
        .def("end_length", &Miner::end_length, nb::arg("length"));
}
