// The material that priors draw skeletons from, for Python: casts only, the logic is in native/ansr/data.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "ansr/data/source.hpp"
#include "bind.hpp"
#include "core/expression/prefix.hpp"

namespace nb = nanobind;
using namespace flash_ansr;

namespace {

using Values = nb::ndarray<const double, nb::ndim<1>, nb::device::cpu, nb::c_contig>;
using SpreadRow = std::tuple<int, double, double, int, bool>;

}  // namespace

std::vector<simplipy::Tree> trees_of(const Ids& ids, const Offsets& offsets, const std::vector<std::string>& extras) {
    std::vector<simplipy::Tree> trees;
    for (std::size_t i = 0; i + 1 < offsets.shape(0); ++i) {
        const auto start = static_cast<std::size_t>(offsets(i));
        trees.push_back(
            simplipy::parse_ids({ids.data() + start, static_cast<std::size_t>(offsets(i + 1)) - start}, extras));
    }
    return trees;
}

void bind_material(nb::module_& module) {
    nb::class_<Sources>(module, "Sources")
        .def(nb::init<double, double, double>(), nb::arg("trees"), nb::arg("laws"), nb::arg("grammar"));
    nb::class_<Recombination>(module, "Recombination")
        .def(nb::init<double, double, std::array<double, 5>, double, double>(), nb::arg("p_edit"), nb::arg("p_shared"),
             nb::arg("weights"), nb::arg("p_new_range"), nb::arg("unit_decades"));
    nb::class_<InScale>(module, "InScale")
        .def(nb::init<double, double, double, double>(), nb::arg("probability"), nb::arg("decades"),
             nb::arg("negative"), nb::arg("rounded"));
    nb::class_<Material>(module, "Material")
        .def(nb::init<>())
        .def(
            "set_corpus",
            [](Material& self, const Ids& ids, const Offsets& offsets, const std::vector<std::string>& extras) {
                self.corpus = trees_of(ids, offsets, extras);
            },
            nb::arg("ids"), nb::arg("offsets"), nb::arg("extras"))
        .def(
            "set_laws",
            [](Material& self, const Ids& ids, const Offsets& offsets, const std::vector<std::string>& extras,
               const std::vector<std::vector<SpreadRow>>& spreads) {
                for (simplipy::Tree& tree : trees_of(ids, offsets, extras)) {
                    Law law{std::move(tree), {}};
                    for (const auto& [kind, low, high, signs, has_unit] : spreads.at(self.laws.size()))
                        law.spreads.push_back(
                            {static_cast<Columns::Kind>(kind), low, high, static_cast<Signs>(signs), has_unit});
                    self.laws.push_back(std::move(law));
                }
            },
            nb::arg("ids"), nb::arg("offsets"), nb::arg("extras"), nb::arg("spreads"))
        .def(
            "set_grammar",
            [](Material& self, const Values& log_probs) {
                self.grammar.assign(log_probs.data(), log_probs.data() + log_probs.shape(0));
            },
            nb::arg("log_probs"));
}
