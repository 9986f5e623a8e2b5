#pragma once

#include <nanobind/nanobind.h>

void bind_forms(nanobind::module_& module);
