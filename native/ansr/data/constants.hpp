// Free constants of the size of what stands beside them, so that they matter: x + c with c near |x|, exp(c*x) with c*x
// near 1, and terms of a sum of one size. Where nothing says how large a constant is, it is one of the prior.
#pragma once

#include <vector>

#include "core/expression/tree.hpp"
#include "prior.hpp"
#include "render.hpp"

namespace flash_ansr {

class ConstantsInScale {
  public:
    // The first rows of `data` say how large the variables are.
    ConstantsInScale(const Prior& prior, const simplipy::Tree& tree, const DataSet& data, std::size_t n_rows);

    // Values in prefix order.
    std::vector<double> draw(Random& random);

  private:
    void set(std::size_t node, double wanted);
    void set_terms(std::size_t left, std::size_t right, double wanted);
    void set_product(std::size_t left, std::size_t right, bool is_quotient, double wanted);
    double value(double wanted);
    double size_of(std::size_t node) const;
    std::vector<double> values_below(std::size_t node) const;

    const Prior& prior_;
    const simplipy::Tree& tree_;
    const DataSet& data_;
    std::size_t n_rows_;
    std::vector<std::int64_t> codes_;
    std::vector<char> is_free_;      // whether a constant in the subterm can give it any size
    std::vector<double> constants_;  // by node
    Random* random_ = nullptr;
};

}  // namespace flash_ansr
