// The search verbs of flash_ansr._core: casts only, the logic is in native/ansr/evolve.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "ansr/data/generator.hpp"
#include "ansr/evolve/breed.hpp"
#include "bind.hpp"

namespace nb = nanobind;
using namespace flash_ansr;

namespace {

template <class T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::device::cpu, nb::c_contig>;
using Columns2 = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu, nb::c_contig>;

template <class T>
std::span<const T> span_of(const Array<T>& array) {
    return {array.data(), array.shape(0)};
}

nb::dict to_dict(Brood&& brood) {
    nb::dict out;
    out["ids"] = to_numpy(std::move(brood.ids));
    out["offsets"] = to_numpy(std::move(brood.offsets));
    out["constants"] = to_numpy(std::move(brood.constants));
    out["costs"] = to_numpy(std::move(brood.costs));
    out["rank_correlations"] = to_numpy(std::move(brood.rank_correlations));
    out["n_new"] = brood.n_new;
    out["n_screened"] = brood.n_screened;
    out["n_descended"] = brood.n_descended;
    return out;
}

void bind_keys(nb::module_& module) {
    nb::class_<KeySet>(module, "KeySet")
        .def(nb::init<>())
        .def("__len__", &KeySet::size)
        .def(
            "contains", [](const KeySet& self, std::uint64_t key) { return self.contains(key); }, nb::arg("key"))
        .def("insert", &KeySet::insert, nb::arg("key"))
        .def("__getstate__", [](const KeySet& self) { return to_numpy(self.keys()); })
        .def("__setstate__", [](KeySet& self, const Array<std::uint64_t>& keys) {
            new (&self) KeySet();
            for (const std::uint64_t key : span_of(keys)) self.insert(key);
        });
    module.def(
        "hash_forms",
        [](const Array<std::int16_t>& ids, const Array<std::int64_t>& offsets) {
            std::vector<std::uint64_t> keys;
            for (std::size_t i = 0; i + 1 < offsets.shape(0); ++i) {
                const auto start = static_cast<std::size_t>(offsets.data()[i]);
                const auto end = static_cast<std::size_t>(offsets.data()[i + 1]);
                keys.push_back(hash_form(span_of(ids).subspan(start, end - start)));
            }
            return to_numpy(std::move(keys));
        },
        nb::arg("ids"), nb::arg("offsets"));
}

void bind_screen(nb::module_& module) {
    nb::class_<Screen>(module, "Screen")
        .def(
            "__init__",
            [](Screen* self, const Columns2& columns, const Array<double>& y, const Array<double>& weights,
               const Array<double>& sizes) {
                new (self) Screen(simplipy::FitRows({columns.data(), columns.size()}, columns.shape(0), span_of(y),
                                                    span_of(weights), span_of(sizes)));
            },
            nb::arg("columns"), nb::arg("y"), nb::arg("sample_weights"), nb::arg("sizes"));
}

void bind_breeder(nb::module_& module) {
    nb::class_<Breeder>(module, "Breeder")
        .def(
            "__init__",
            [](Breeder* self, const std::array<double, simplipy::max_symbols>& operators,
               const std::vector<double>& variables, double constant, const std::array<double, n_mutations>& mutations,
               const std::string& rules, int max_pattern_length, std::size_t max_length, bool affine,
               const std::array<bool, simplipy::max_symbols>& allowed, std::size_t max_written) {
                BreedOptions options{
                    masked_options(std::make_shared<const simplipy::RuleSet>(rules), max_pattern_length), max_length,
                    affine, allowed, max_written};
                new (self) Breeder(Mutator({operators, variables, constant}, mutations), std::move(options));
            },
            nb::arg("operators"), nb::arg("variables"), nb::arg("constant"), nb::arg("mutations"), nb::arg("rules"),
            nb::arg("max_pattern_length"), nb::arg("max_length"), nb::arg("affine"), nb::arg("allowed"),
            nb::arg("max_written"))
        .def_prop_ro("n_seen", &Breeder::n_seen)
        .def(
            "weigh",
            [](Breeder& self, const std::array<double, simplipy::max_symbols>& operators,
               const std::vector<double>& variables, double constant) { self.weigh({operators, variables, constant}); },
            nb::arg("operators"), nb::arg("variables"), nb::arg("constant"))
        .def(
            "breed",
            [](Breeder& self, const Screen& screen, const Array<std::int16_t>& ids, const Array<std::int64_t>& offsets,
               const Array<double>& constants, const Array<std::int32_t>& first, const Array<std::int32_t>& second,
               const Array<double>& limits, double slack, std::size_t n_steps, std::size_t n_glances,
               std::uint64_t seed, double seconds, std::size_t n_threads) {
                const BreedRequest request{{span_of(ids), span_of(offsets), span_of(constants)},
                                           span_of(first),
                                           span_of(second),
                                           span_of(limits),
                                           slack,
                                           n_steps,
                                           n_glances,
                                           seed,
                                           seconds,
                                           n_threads};
                const auto bred = [&] {
                    const nb::gil_scoped_release release;
                    return self.breed(screen, request);
                };
                return to_dict(bred());
            },
            nb::arg("screen"), nb::arg("ids"), nb::arg("offsets"), nb::arg("constants"), nb::arg("first"),
            nb::arg("second"), nb::arg("limits"), nb::arg("slack"), nb::arg("n_steps"), nb::arg("n_glances"),
            nb::arg("seed"), nb::arg("seconds"), nb::arg("n_threads"));
}

}  // namespace

void bind_search(nb::module_& module) {
    bind_keys(module);
    bind_screen(module);
    bind_breeder(module);
}
