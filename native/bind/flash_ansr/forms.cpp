// Enumeration of short formulas for Python: casts only.
#include "ansr/enumerate/forms.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>

#include "forms.hpp"

namespace nb = nanobind;
using namespace flash_ansr;

namespace {

using Row = nb::ndarray<const double, nb::ndim<1>, nb::device::cpu, nb::c_contig>;
using Costs = nb::ndarray<const int, nb::ndim<2>, nb::device::cpu, nb::c_contig>;
using Rows = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu, nb::c_contig>;

std::span<const double> span_of(const Row& row) { return {row.data(), row.shape(0)}; }

FormCosts costs_of(const std::vector<int>& operators, const Costs& operands, int variable, int one) {
    FormCosts costs;
    if (operators.size() != costs.operators.size() || operands.shape(0) != 2 * operators.size() ||
        operands.shape(1) != operators.size() + 2)
        throw std::invalid_argument("costs need an entry for each id, two rows of operands for each, and two leaves");
    std::ranges::copy(operators, costs.operators.begin());
    const int* row = operands.data();
    for (auto& sides : costs.operands)
        for (FormCosts::ByToken& side : sides) {
            std::copy_n(row, side.size(), side.begin());
            side[simplipy::index(simplipy::Op::variable)] = row[side.size()];
            side[simplipy::index(simplipy::Op::number)] = row[side.size() + 1];
            row += operands.shape(1);
        }
    costs.variable = variable;
    costs.one = one;
    return costs;
}

}  // namespace

void bind_forms(nb::module_& module) {
    nb::class_<Forms>(module, "Forms")
        .def(
            "__init__",
            [](Forms* self, const Rows& columns, const std::vector<int>& operators, const Costs& operands, int variable,
               int one, std::size_t max_forms) {
                new (self) Forms({columns.data(), columns.size()}, columns.shape(1),
                                 costs_of(operators, operands, variable, one), max_forms);
            },
            nb::arg("columns"), nb::arg("operators"), nb::arg("operands"), nb::arg("variable"), nb::arg("one"),
            nb::arg("max_forms"))
        .def("__len__", &Forms::size)
        .def_prop_ro("full", &Forms::full)
        .def("cost", &Forms::cost, nb::arg("form"))
        .def("prefix", &Forms::prefix, nb::arg("form"), nb::arg("first_variable"))
        .def("grow", &Forms::grow, nb::arg("n"), nb::arg("seconds"), nb::call_guard<nb::gil_scoped_release>())
        .def(
            "best",
            [](const Forms& self, const Row& target, const Row& weight, double price, std::size_t n_best) {
                const nb::gil_scoped_release release;
                return self.best(span_of(target), span_of(weight), price, n_best);
            },
            nb::arg("target"), nb::arg("weight"), nb::arg("price"), nb::arg("n_best"))
        .def(
            "meet",
            [](Forms& self, const Row& target, std::size_t n_first, std::size_t n_best) {
                std::vector<FormJoin> joins;
                {
                    const nb::gil_scoped_release release;
                    joins = self.meet(span_of(target), n_first, n_best);
                }
                std::vector<std::tuple<int, std::uint32_t, std::uint32_t>> rows;
                for (const FormJoin& join : joins)
                    rows.emplace_back(static_cast<int>(join.join), join.first, join.second);
                return rows;
            },
            nb::arg("target"), nb::arg("n_first"), nb::arg("n_best"));
}
