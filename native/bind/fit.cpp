#include "core/fit.hpp"

#include <nanobind/stl/function.h>
#include <nanobind/stl/pair.h>

#include "bind.hpp"

using namespace simplipy;

namespace {

using Column = nb::ndarray<const double, nb::ndim<1>, nb::device::cpu, nb::c_contig>;
using Columns = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu, nb::c_contig>;

std::span<const double> span_of(const Column& array) { return {array.data(), array.shape(0)}; }

// A square NumPy matrix that owns what the vector held.
nb::ndarray<nb::numpy, double, nb::ndim<2>> to_matrix(std::vector<double>&& values, std::size_t p) {
    auto* owned = new std::vector<double>(std::move(values));
    nb::capsule owner(owned, [](void* data) noexcept { delete static_cast<std::vector<double>*>(data); });
    return nb::ndarray<nb::numpy, double, nb::ndim<2>>(owned->data(), {p, p}, owner);
}

bool asks_to_stop() {
    const nb::gil_scoped_acquire acquire;
    return PyErr_CheckSignals() != 0;
}

nb::tuple to_tuple(FitResult& result) {
    const std::size_t p = result.parameters.size();
    return nb::make_tuple(static_cast<int>(result.status), result.cost, result.fvu, result.n_evaluations,
                          result.n_starts, to_numpy(std::move(result.parameters)),
                          to_matrix(std::move(result.covariance), p));
}

}  // namespace

void bind_fit(nb::module_& module) {
    nb::class_<FitOptions>(module, "FitOptions")
        .def(
            "__init__",
            [](FitOptions* self, std::size_t n_restarts, std::size_t n_screen_rows, bool normal_starts, int objective,
               double threshold, bool absolute_errors, std::uint64_t seed, double seconds, std::size_t n_threads) {
                new (self) FitOptions{n_restarts, n_screen_rows,   normal_starts, static_cast<Objective>(objective),
                                      threshold,  absolute_errors, seed,          seconds,
                                      n_threads,  asks_to_stop};
            },
            nb::arg("n_restarts"), nb::arg("n_screen_rows"), nb::arg("normal_starts"), nb::arg("objective"),
            nb::arg("threshold"), nb::arg("absolute_errors"), nb::arg("seed"), nb::arg("seconds"),
            nb::arg("n_threads"));
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
           std::vector<std::vector<std::pair<double, double>>> bounds, const FitRows& rows, const FitOptions& options) {
            std::vector<FitJob> jobs;
            for (std::size_t i = 0; i < trees.size(); ++i)
                jobs.push_back({trees[i], columns[i], n_parameters[i], std::move(starts[i]), std::move(bounds[i])});
            std::vector<FitResult> results(jobs.size());
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
