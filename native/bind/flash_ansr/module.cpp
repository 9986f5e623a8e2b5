// The module flash_ansr._core: casts only, the logic is in native/ansr.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "ansr/data/generator.hpp"
#include "bind.hpp"
#include "core/base/errors.hpp"
#include "forms.hpp"

namespace nb = nanobind;
using namespace flash_ansr;

namespace {

using NumbersRow = std::tuple<double, int, double, double, double, double, double>;
using ColumnsRow = std::tuple<double, int, Numbers, Numbers, double, double>;

// Raises the Python class `name` of `module`.
template <class Error>
void translate(const char* name) {
    nb::register_exception_translator(
        [](const std::exception_ptr& pointer, void* payload) {
            try {
                std::rethrow_exception(pointer);
            } catch (const Error& error) {
                const auto* path = static_cast<const char* const*>(payload);
                PyErr_SetString(nb::module_::import_(path[0]).attr(path[1]).ptr(), error.what());
            }
        },
        const_cast<char*>(name));
}

nb::dict to_dict(BatchArrays&& arrays, const Prior& prior, const BatchRequest& request) {
    nb::dict out;
    const std::size_t n_variables = prior.skeleton.n_variables;
    if (request.padded) {
        out["X"] = to_numpy(std::move(arrays.X), {arrays.n, arrays.width, n_variables});
        out["y"] = to_numpy(std::move(arrays.y), {arrays.n, arrays.width});
    } else {
        const std::size_t n_rows = arrays.y.size();
        out["X"] = to_numpy(std::move(arrays.X), {n_rows, n_variables});
        out["y"] = to_numpy(std::move(arrays.y));
    }
    out["n_rows"] = to_numpy(std::move(arrays.n_rows));
    out["n_columns"] = to_numpy(std::move(arrays.n_columns));
    out["token_ids"] = to_numpy(std::move(arrays.token_ids), {arrays.n, arrays.length});
    out["lengths"] = to_numpy(std::move(arrays.lengths));
    out["noise"] = to_numpy(std::move(arrays.noise));
    out["outcomes"] = to_numpy(std::move(arrays.outcomes), {arrays.n, n_outcomes});
    if (request.detailed) {
        out["constants"] = to_numpy(std::move(arrays.constants));
        out["n_constants"] = to_numpy(std::move(arrays.n_constants));
        out["drawn_ids"] = to_numpy(std::move(arrays.drawn_ids));
        out["drawn_lengths"] = to_numpy(std::move(arrays.drawn_lengths));
    }
    return out;
}

void bind_prior(nb::module_& module) {
    nb::class_<Numbers>(module, "Numbers").def("__init__", [](Numbers* self, const std::vector<NumbersRow>& rows) {
        new (self) Numbers;
        for (const auto& [weight, kind, first, second, low, high, negative] : rows)
            self->parts.push_back({weight, static_cast<Numbers::Kind>(kind), first, second, low, high, negative});
    });
    nb::class_<Columns>(module, "Columns").def("__init__", [](Columns* self, const std::vector<ColumnsRow>& rows) {
        new (self) Columns;
        for (const auto& [weight, kind, first, second, negative, signs] : rows)
            self->parts.push_back({weight, static_cast<Columns::Kind>(kind), first, second, negative, signs});
    });
    nb::class_<SkeletonPrior>(module, "SkeletonPrior")
        .def(nb::init<>())
        .def_rw("n_ops_weights", &SkeletonPrior::n_ops_weights)
        .def_rw("max_length", &SkeletonPrior::max_length)
        .def_rw("n_variables", &SkeletonPrior::n_variables)
        .def_rw("p_constant", &SkeletonPrior::p_constant)
        .def("set_operator_weight",
             [](SkeletonPrior& self, std::size_t id, double weight) { self.operator_weights.at(id) = weight; });
    nb::class_<Prior>(module, "Prior")
        .def(nb::init<>())
        .def_rw("skeleton", &Prior::skeleton)
        .def_rw("sources", &Prior::sources)
        .def_rw("recombination", &Prior::recombination)
        .def_rw("in_scale", &Prior::in_scale)
        .def_rw("simplify", &Prior::simplify)
        .def_rw("free_multipliers", &Prior::free_multipliers)
        .def_rw("columns", &Prior::columns)
        .def_rw("constants", &Prior::constants)
        .def_rw("min_rows", &Prior::min_rows)
        .def_rw("max_rows", &Prior::max_rows)
        .def_rw("log_rows", &Prior::log_rows)
        .def_rw("p_noise", &Prior::p_noise)
        .def_rw("min_noise", &Prior::min_noise)
        .def_rw("max_noise", &Prior::max_noise)
        .def_rw("p_outliers", &Prior::p_outliers)
        .def_rw("max_outliers", &Prior::max_outliers)
        .def_rw("n_retries", &Prior::n_retries)
        .def_rw("must_vary", &Prior::must_vary)
        .def_rw("min_effect", &Prior::min_effect)
        .def_rw("leading", &Prior::leading)
        .def_rw("p_irrelevant", &Prior::p_irrelevant);
}

void bind_holdout(nb::module_& module) {
    nb::class_<Holdout>(module, "Holdout")
        .def(
            "__init__",
            [](Holdout* self, const Ids& ids, const Offsets& offsets, const std::vector<std::string>& extras,
               const std::string& rules, int max_pattern_length) {
                const std::vector<simplipy::Tree> entries = trees_of(ids, offsets, extras);
                const nb::gil_scoped_release release;
                new (self) Holdout(
                    entries, masked_options(std::make_shared<const simplipy::RuleSet>(rules), max_pattern_length));
            },
            nb::arg("ids"), nb::arg("offsets"), nb::arg("extras"), nb::arg("rules"), nb::arg("max_pattern_length"))
        .def("__len__", &Holdout::size)
        .def(
            "find",
            [](const Holdout& self, const Ids& ids, const Offsets& offsets, const std::vector<std::string>& extras) {
                simplipy::Simplifier simplifier;
                std::vector<std::optional<std::pair<int, std::size_t>>> matches;
                for (const simplipy::Tree& tree : trees_of(ids, offsets, extras)) {
                    const auto found = self.find_any(tree, simplifier);
                    matches.emplace_back();
                    if (found) matches.back().emplace(static_cast<int>(found->match), found->entry);
                }
                return matches;
            },
            nb::arg("ids"), nb::arg("offsets"), nb::arg("extras"));
}

void bind_generator(nb::module_& module) {
    nb::class_<Generator>(module, "Generator")
        .def(
            "__init__",
            [](Generator* self, const Prior& prior, const std::string& rules, int max_pattern_length,
               std::shared_ptr<const Holdout> holdout, const Material& material,
               const std::vector<std::pair<double, std::shared_ptr<const Generator>>>& shares) {
                std::vector<Generator::Part> parts;
                for (const auto& [share, generator] : shares) parts.push_back({share, generator});
                new (self) Generator(
                    prior, masked_options(std::make_shared<const simplipy::RuleSet>(rules), max_pattern_length),
                    std::move(holdout), material, std::move(parts));
            },
            nb::arg("prior"), nb::arg("rules"), nb::arg("max_pattern_length"), nb::arg("holdout"), nb::arg("material"),
            nb::arg("parts"))
        .def(
            "batch",
            [](const Generator& self, std::uint64_t seed, const Offsets& indices, std::size_t n_threads, bool padded,
               bool detailed) {
                const BatchRequest request{seed, {indices.data(), indices.shape(0)}, n_threads, padded, detailed};
                const auto generated = [&] {
                    const nb::gil_scoped_release release;
                    return self.batch(request);
                };
                return to_dict(generated(), self.prior(), request);
            },
            nb::arg("seed"), nb::arg("indices"), nb::arg("n_threads"), nb::arg("padded"), nb::arg("detailed"))
        .def(
            "skeletons",
            [](const Generator& self, std::uint64_t seed, const Offsets& indices, std::size_t n_threads,
               bool simplified) {
                const BatchRequest request{seed, {indices.data(), indices.shape(0)}, n_threads, true, false};
                const auto generated = [&] {
                    const nb::gil_scoped_release release;
                    return self.skeletons(request, simplified);
                };
                BatchArrays arrays = generated();
                return nb::make_tuple(to_numpy(std::move(arrays.token_ids)), to_numpy(std::move(arrays.lengths)));
            },
            nb::arg("seed"), nb::arg("indices"), nb::arg("n_threads"), nb::arg("simplified"));
}

}  // namespace

NB_MODULE(_core, module) {
    nb::set_leak_warnings(false);
    static const char* parse_error[] = {"simplipy.errors", "ParseError"};
    static const char* exhausted[] = {"flash_ansr.data.errors", "ExhaustedPriorError"};
    translate<simplipy::ParseError>(reinterpret_cast<const char*>(parse_error));
    translate<ExhaustedError>(reinterpret_cast<const char*>(exhausted));
    module.attr("PAD_ID") = pad_id;
    module.attr("START_ID") = start_id;
    module.attr("END_ID") = end_id;
    module.attr("FIRST_OPERATOR_ID") = first_operator_id;
    module.attr("CONSTANT_ID") = constant_id;
    module.attr("FIRST_VARIABLE_ID") = first_variable_id;
    nb::list outcomes;
    for (const char* name : outcome_names) outcomes.append(name);
    module.attr("OUTCOMES") = nb::tuple(outcomes);
    bind_material(module);
    bind_prior(module);
    bind_holdout(module);
    bind_generator(module);
    bind_search(module);
    bind_forms(module);
    bind_price(module);
}
