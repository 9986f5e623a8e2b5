// Helpers that the topics of flash_ansr._core share.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <initializer_list>
#include <vector>

void bind_search(nanobind::module_& module);
void bind_price(nanobind::module_& module);

// A NumPy array of this shape that owns what the vector held.
template <class T>
nanobind::object to_numpy(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
    auto* owned = new std::vector<T>(std::move(values));
    nanobind::capsule owner(owned, [](void* data) noexcept { delete static_cast<std::vector<T>*>(data); });
    return nanobind::cast(nanobind::ndarray<nanobind::numpy, T>(owned->data(), shape, owner));
}

template <class T>
nanobind::object to_numpy(std::vector<T>&& values) {
    const std::size_t n = values.size();
    return to_numpy(std::move(values), {n});
}
