// Helpers that the topics of flash_ansr._core share.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "core/expression/tree.hpp"

using Ids = nanobind::ndarray<const std::int16_t, nanobind::ndim<1>, nanobind::device::cpu, nanobind::c_contig>;
using Offsets = nanobind::ndarray<const std::int64_t, nanobind::ndim<1>, nanobind::device::cpu, nanobind::c_contig>;

// The trees of a token batch.
std::vector<simplipy::Tree> trees_of(const Ids& ids, const Offsets& offsets, const std::vector<std::string>& extras);

void bind_material(nanobind::module_& module);
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
