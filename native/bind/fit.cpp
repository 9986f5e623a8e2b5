#include "core/fit.hpp"

#include <nanobind/stl/function.h>
#include <nanobind/stl/pair.h>

#include "bind.hpp"

using namespace simplipy;

namespace {

using Column = nb::ndarray<const double, nb::ndim<1>, nb::device::cpu, nb::c_contig>;
using Columns = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu, nb::c_contig>;

std::span<const double> span_of(const Column& array) { return {array.data(), array.shape(0)}; }

bool asks_to_stop() {
    const nb::gil_scoped_acquire acquire;
    return PyErr_CheckSignals() != 0;
}

nb::tuple to_tuple(FitResult& result) {
    return nb::make_tuple(static_cast<int>(result.status), result.cost, result.fvu, result.n_evaluations,
                          result.n_starts, to_numpy(std::move(result.parameters)),
                          to_numpy(std::move(result.covariance)));
}

}  // namespace

void bind_fit(nb::module_& module) {
    nb::class_<FitOptions>(module, "FitOptions")
        .def(nb::init<>())
        .def_rw("n_restarts", &FitOptions::n_restarts)
        .def_rw("n_screen_rows", &FitOptions::n_screen_rows)
        .def_rw("normal_starts", &FitOptions::normal_starts)
        .def_rw("threshold", &FitOptions::threshold)
        .def_prop_rw(
            "objective", [](const FitOptions& self) { return static_cast<int>(self.objective); },
            [](FitOptions& self, int objective) { self.objective = static_cast<Objective>(objective); })
        .def_rw("absolute_errors", &FitOptions::absolute_errors)
        .def_rw("seed", &FitOptions::seed)
        .def_rw("seconds", &FitOptions::seconds)
        .def_rw("n_threads", &FitOptions::n_threads);
    nb::class_<FitRows>(module, "FitRows")
        .def(
            "__init__",
            [](FitRows* self, const Columns& columns, const Column& y, const Column& weights, const Column& sizes) {
                new (self) FitRows({columns.data(), columns.size()}, columns.shape(0), span_of(y), span_of(weights),
                                   span_of(sizes));
            },
            nb::arg("columns"), nb::arg("y"), nb::arg("sample_weights"), nb::arg("sizes"));
    module.def(
        "fit_batch",
        [](const std::vector<const Tree*>& trees, const std::vector<std::vector<std::int64_t>>& columns,
           const std::vector<std::size_t>& n_parameters, std::vector<std::vector<std::vector<double>>> starts,
           std::vector<std::vector<std::pair<double, double>>> bounds, const FitRows& rows, FitOptions options) {
            std::vector<FitJob> jobs;
            for (std::size_t i = 0; i < trees.size(); ++i)
                jobs.push_back({trees[i], columns[i], n_parameters[i], std::move(starts[i]), std::move(bounds[i])});
            std::vector<FitResult> results(jobs.size());
            options.interrupted = asks_to_stop;
            const auto run = [&] {
                const nb::gil_scoped_release release;
                return fit_batch(jobs, rows, options, results);
            };
            if (!run()) throw nb::python_error();
            nb::list list;
            for (FitResult& result : results) list.append(to_tuple(result));
            return list;
        },
        nb::arg("trees"), nb::arg("columns"), nb::arg("n_parameters"), nb::arg("starts"), nb::arg("bounds"),
        nb::arg("rows"), nb::arg("options"));
}
