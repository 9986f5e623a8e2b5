#include "core/evaluate/evaluate.hpp"

#include "bind.hpp"
#include "core/base/errors.hpp"
#include "core/evaluate/kernels.hpp"

using namespace simplipy;

namespace {

using OutputArray = nb::ndarray<nb::device::cpu, nb::c_contig>;
using Mask = nb::ndarray<bool, nb::device::cpu, nb::c_contig>;
using Names = std::optional<std::vector<std::string>>;

Output output_view(const OutputArray& array) {
    return {const_cast<void*>(static_cast<const void*>(array.data())), array.dtype() == nb::dtype<float>()};
}

ColumnNames column_names(const Names& names) {
    ColumnNames map;
    if (names)
        for (std::size_t i = 0; i < names->size(); ++i) map.emplace((*names)[i], i);
    return map;
}

void evaluate_one(const Tree& tree, const InputMatrix& matrix, std::vector<double> constants, const Names& names,
                  const OutputArray& values) {
    const Matrix view = matrix_view(matrix);
    const ColumnNames map = column_names(names);
    const Job job = make_job(tree, std::move(constants), view.n_columns, names ? &map : nullptr);
    const Output output = output_view(values);
    const nb::gil_scoped_release release;
    evaluate(job, view, output);
}

void evaluate_all(const std::vector<const Tree*>& trees, const InputMatrix& matrix,
                  std::vector<std::vector<double>> constants, const Names& names, const OutputArray& values,
                  const Mask& defined, std::size_t n_threads) {
    const Matrix view = matrix_view(matrix);
    const ColumnNames map = column_names(names);
    const Output output = output_view(values);
    bool* mask = defined.data();
    std::vector<Job> jobs;
    for (std::size_t i = 0; i < trees.size(); ++i)
        jobs.push_back(make_job(*trees[i], constants.empty() ? std::vector<double>{} : std::move(constants[i]),
                                view.n_columns, names ? &map : nullptr));
    const nb::gil_scoped_release release;
    evaluate(jobs, view, output, mask, n_threads);
}

void gradient_one(const Tree& tree, const InputMatrix& matrix, std::vector<double> constants, const Names& names,
                  bool by_variables, const OutputArray& derivatives, std::size_t n_threads) {
    const Matrix view = matrix_view(matrix);
    const ColumnNames map = column_names(names);
    const Job job = make_job(tree, std::move(constants), view.n_columns, names ? &map : nullptr);
    const Output output = output_view(derivatives);
    const nb::gil_scoped_release release;
    gradient(job, view, by_variables ? Wrt::variables : Wrt::constants, output, nullptr, n_threads);
}

}  // namespace

Matrix matrix_view(const InputMatrix& array) {
    const bool is_float32 = array.dtype() == nb::dtype<float>();
    if (!is_float32 && array.dtype() != nb::dtype<double>()) throw EvaluationError("X must be float64 or float32");
    return {array.data(), is_float32, array.shape(0), array.shape(1), array.stride(0), array.stride(1)};
}

void bind_evaluate(nb::module_& module) {
    module.def("kernel_name", [] { return active_kernels().name; });
    module.def("evaluate_one", &evaluate_one, nb::arg("tree"), nb::arg("matrix"), nb::arg("constants"),
               nb::arg("names").none(), nb::arg("values"));
    module.def("evaluate_all", &evaluate_all, nb::arg("trees"), nb::arg("matrix"), nb::arg("constants"),
               nb::arg("names").none(), nb::arg("values"), nb::arg("defined"), nb::arg("n_threads"));
    module.def("gradient_one", &gradient_one, nb::arg("tree"), nb::arg("matrix"), nb::arg("constants"),
               nb::arg("names").none(), nb::arg("by_variables"), nb::arg("derivatives"), nb::arg("n_threads"));
}
