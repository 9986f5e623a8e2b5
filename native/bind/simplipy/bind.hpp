// Helpers that the topics of the module share. Bindings cast and release the GIL; logic lives in native/core or in
// Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

void bind_tree(nb::module_& module);
void bind_evaluate(nb::module_& module);
void bind_intervals(nb::module_& module);
void bind_batch(nb::module_& module);
void bind_simplify(nb::module_& module);
void bind_fit(nb::module_& module);
void bind_mine(nb::module_& module);

namespace simplipy {
class Tree;
struct Matrix;
}  // namespace simplipy

using InputMatrix = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;

// A float64 or float32 matrix with any strides.
simplipy::Matrix matrix_view(const InputMatrix& array);

// Tokens in prefix order.
nb::list token_list(const simplipy::Tree& tree);

// A NumPy array that owns what the vector held.
template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_numpy(std::vector<T>&& values) {
    auto* owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void* data) noexcept { delete static_cast<std::vector<T>*>(data); });
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(owned->data(), {owned->size()}, owner);
}
