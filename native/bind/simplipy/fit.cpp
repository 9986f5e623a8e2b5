#include "core/fit/fit.hpp"

#include <nanobind/stl/function.h>
#include <nanobind/stl/pair.h>

#include "bind.hpp"
#include "core/fit/jobs.hpp"

NB_MAKE_OPAQUE(std::vector<simplipy::FitJob>)

using namespace simplipy;

namespace {

using Column = nb::ndarray<const double, nb::ndim<1>, nb::device::cpu, nb::c_contig>;
using Columns = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu, nb::c_contig>;
using Jobs = std::vector<FitJob>;

std::span<const double> span_of(const Column& array) { return {array.data(), array.shape(0)}; }

std::span<const double> span_of(const std::optional<Column>& array) {
    return array ? span_of(*array) : std::span<const double>{};
}

bool asks_to_stop() {
    const nb::gil_scoped_acquire acquire;
    return PyErr_CheckSignals() != 0;
}

// Arrays over all fits, and their values and covariances one after the other.
nb::tuple to_arrays(std::vector<FitResult>& results) {
    std::vector<std::uint8_t> status;
    std::vector<std::uint32_t> n_evaluations, n_starts, n_values;
    std::vector<double> cost, fvu, values, covariances;
    for (const FitResult& result : results) {
        status.push_back(static_cast<std::uint8_t>(result.status));
        cost.push_back(result.cost);
        fvu.push_back(result.fvu);
        n_evaluations.push_back(result.n_evaluations);
        n_starts.push_back(result.n_starts);
        n_values.push_back(static_cast<std::uint32_t>(result.parameters.size()));
        values.insert(values.end(), result.parameters.begin(), result.parameters.end());
        covariances.insert(covariances.end(), result.covariance.begin(), result.covariance.end());
    }
    return nb::make_tuple(to_numpy(std::move(status)), to_numpy(std::move(cost)), to_numpy(std::move(fvu)),
                          to_numpy(std::move(n_evaluations)), to_numpy(std::move(n_starts)),
                          to_numpy(std::move(n_values)), to_numpy(std::move(values)), to_numpy(std::move(covariances)));
}

void bind_options(nb::module_& module) {
    nb::class_<FitOptions>(module, "FitOptions")
        .def(
            "__init__",
            [](FitOptions* self, std::size_t n_restarts, std::size_t n_screen_rows, bool normal_starts, int objective,
               double threshold, bool absolute_errors, std::uint64_t seed, double seconds, std::size_t n_threads,
               std::size_t max_steps, std::size_t keep_best, double length_penalty) {
                new (self) FitOptions{n_restarts,
                                      n_screen_rows,
                                      normal_starts,
                                      static_cast<Objective>(objective),
                                      threshold,
                                      absolute_errors,
                                      seed,
                                      seconds,
                                      n_threads,
                                      max_steps,
                                      {keep_best, length_penalty},
                                      asks_to_stop};
            },
            nb::arg("n_restarts"), nb::arg("n_screen_rows"), nb::arg("normal_starts"), nb::arg("objective"),
            nb::arg("threshold"), nb::arg("absolute_errors"), nb::arg("seed"), nb::arg("seconds"), nb::arg("n_threads"),
            nb::arg("max_steps"), nb::arg("keep_best"), nb::arg("length_penalty"));
}

void bind_rows(nb::module_& module) {
    nb::class_<FitRows>(module, "FitRows")
        .def(
            "__init__",
            [](FitRows* self, const std::optional<InputMatrix>& x, const std::vector<std::uint32_t>& columns,
               const Column& y, const std::optional<Column>& weights, const std::optional<Column>& sizes) {
                new (self)
                    FitRows(x ? matrix_view(*x) : Matrix{}, columns, span_of(y), span_of(weights), span_of(sizes));
            },
            nb::arg("x").none(), nb::arg("columns"), nb::arg("y"), nb::arg("sample_weights").none(),
            nb::arg("sizes").none())
        .def("finite", &FitRows::finite);
}

void bind_jobs(nb::module_& module) {
    nb::class_<Jobs> jobs(module, "FitJobs");
    jobs.def(
            "__init__",
            [](Jobs* self, const std::vector<const Tree*>& trees, std::vector<std::string> columns,
               std::vector<std::string> parameters, const std::vector<double>& parameter_starts) {
                new (self) Jobs(make_fit_jobs(trees, {std::move(columns), std::move(parameters)}, parameter_starts));
            },
            nb::keep_alive<1, 2>(), nb::arg("trees"), nb::arg("columns"), nb::arg("parameters"),
            nb::arg("parameter_starts"))
        .def(
            "set_starts",
            [](Jobs& jobs, std::size_t i, const Columns& starts) {
                set_starts(jobs.at(i), {starts.data(), starts.size()});
            },
            nb::arg("i"), nb::arg("starts"))
        .def(
            "set_bounds",
            [](Jobs& jobs, std::size_t i, std::vector<std::pair<double, double>> bounds) {
                jobs.at(i).bounds = std::move(bounds);
            },
            nb::arg("i"), nb::arg("bounds"));
    jobs.def(
        "set_fvu_limits",
        [](Jobs& self, const Column& limits) {
            for (std::size_t i = 0; i < self.size(); ++i) self[i].fvu_limit = span_of(limits)[i];
        },
        nb::arg("limits"));
}

}  // namespace

void bind_fit(nb::module_& module) {
    bind_options(module);
    bind_rows(module);
    bind_jobs(module);
    module.def(
        "variables_of", [](const std::vector<const Tree*>& trees) { return variables_of(trees); }, nb::arg("trees"));
    module.def(
        "fit_batch",
        [](const Jobs& jobs, const FitRows& rows, const FitOptions& options) {
            std::vector<FitResult> results(jobs.size());
            const auto run = [&] {
                const nb::gil_scoped_release release;
                return fit_batch(jobs, rows, options, results);
            };
            if (!run()) throw nb::python_error();
            return to_arrays(results);
        },
        nb::arg("jobs"), nb::arg("rows"), nb::arg("options"));
}
