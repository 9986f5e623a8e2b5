// One reading for formulas that differ in where their fitted constants stand.
//
// c*x/(c + x) is also c*x/(1 + c*x) and x/(c + c*x), and a parabola is also x*(c + c*x) + c. In a normal reading a
// bracket has no fitted factor to share with its term, and a product that is a sum with as many constants is that sum.
#pragma once

#include "reading.hpp"

namespace flash_ansr {

Sum normal(Sum reading);

}  // namespace flash_ansr
