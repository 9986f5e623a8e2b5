#include <nanobind/stl/pair.h>

#include "bind.hpp"
#include "core/base/errors.hpp"
#include "core/evaluate/intervals/boxes.hpp"
#include "core/evaluate/intervals/proof.hpp"

using namespace simplipy;

namespace {

using Bounds = nb::ndarray<const double, nb::ndim<1>, nb::device::cpu, nb::c_contig>;
using Rows = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu, nb::c_contig>;
using Names = std::optional<std::vector<std::string>>;

std::vector<Job> jobs_of(const std::vector<const Tree*>& trees, std::size_t n_columns, const Names& names) {
    ColumnNames map;
    if (names)
        for (std::size_t i = 0; i < names->size(); ++i) map.emplace((*names)[i], i);
    std::vector<Job> jobs;
    for (const Tree* tree : trees) jobs.push_back(make_job(*tree, {}, n_columns, names ? &map : nullptr));
    return jobs;
}

nb::list rows_of(std::vector<Finding>& findings) {
    constexpr const char* proofs[] = {"proved", "disproved", "unknown"};
    constexpr const char* failures[] = {"", "undefined", "pole", "overflow", "outside"};
    nb::list rows;
    for (Finding& found : findings)
        rows.append(nb::make_tuple(proofs[static_cast<std::size_t>(found.proof)], found.low, found.high,
                                   failures[static_cast<std::size_t>(found.failure)], std::move(found.point)));
    return rows;
}

// Bounds and definedness (0 nowhere, 1 maybe, 2 everywhere) of a tree on each of many boxes.
nb::tuple tree_on_boxes(const Tree& tree, const Rows& low, const Rows& high) {
    TreeOnBoxes boxes(tree);
    const std::size_t n_boxes = low.shape(0), n = low.shape(1);
    if (n != boxes.n_variables() || high.shape(0) != n_boxes || high.shape(1) != n)
        throw EvaluationError("a box needs two bounds for each variable");
    std::vector<double> lows, highs;
    std::vector<std::uint8_t> defined;
    for (std::size_t k = 0; k < n_boxes; ++k) {
        boxes.run({{low.data() + k * n, n}, {high.data() + k * n, n}});
        lows.push_back(boxes.root().low);
        highs.push_back(boxes.root().high);
        defined.push_back(static_cast<std::uint8_t>(boxes.root().defined));
    }
    return nb::make_tuple(to_numpy(std::move(lows)), to_numpy(std::move(highs)), to_numpy(std::move(defined)));
}

}  // namespace

void bind_intervals(nb::module_& module) {
    module.def("tree_on_boxes", &tree_on_boxes, nb::arg("tree"), nb::arg("low"), nb::arg("high"));
    module.def(
        "prove_on_box",
        [](const std::vector<const Tree*>& trees, const Bounds& low, const Bounds& high, const Names& names,
           std::pair<double, double> within, std::size_t max_boxes, std::size_t n_threads) {
            const std::vector<Job> jobs = jobs_of(trees, low.shape(0), names);
            const auto prove = [&] {
                const nb::gil_scoped_release release;
                return prove_on_box(jobs, {low.data(), low.shape(0)}, {high.data(), high.shape(0)},
                                    {within.first, within.second, max_boxes}, n_threads);
            };
            std::vector<Finding> findings = prove();
            return rows_of(findings);
        },
        nb::arg("trees"), nb::arg("low"), nb::arg("high"), nb::arg("names").none(), nb::arg("within"),
        nb::arg("max_boxes"), nb::arg("n_threads"));
    module.def(
        "prove_on_lines",
        [](const std::vector<const Tree*>& trees, const Rows& starts, const Rows& ends, const Names& names,
           std::pair<double, double> within, std::size_t max_boxes, std::size_t n_threads) {
            const std::vector<Job> jobs = jobs_of(trees, starts.shape(1), names);
            const auto view = [](const Rows& rows) {
                return Matrix{rows.data(), false, rows.shape(0), rows.shape(1), rows.stride(0), rows.stride(1)};
            };
            const auto prove = [&] {
                const nb::gil_scoped_release release;
                return prove_on_lines(jobs, view(starts), view(ends), {within.first, within.second, max_boxes},
                                      n_threads);
            };
            std::vector<Finding> findings = prove();
            return rows_of(findings);
        },
        nb::arg("trees"), nb::arg("starts"), nb::arg("ends"), nb::arg("names").none(), nb::arg("within"),
        nb::arg("max_boxes"), nb::arg("n_threads"));
}
