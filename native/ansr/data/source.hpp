// Where skeletons come from: random trees, laws recombined, the grammar of prices, or a file of skeletons.
#pragma once

#include <optional>
#include <vector>

#include "ansr/price/sample.hpp"
#include "recombine.hpp"
#include "skeleton.hpp"

namespace flash_ansr {

// Facts that a prior needs beside its numbers.
struct Material {
    std::vector<simplipy::Tree> corpus;  // drawn from as they are, instead of all other sources
    std::vector<Law> laws;
    std::vector<double> grammar;  // logarithms of probabilities, see PriceTable
};

class SkeletonSource {
  public:
    SkeletonSource(const Prior& prior, Material material);

    Drawn draw(Random& random) const;

  private:
    Sources shares_;
    SkeletonSampler trees_;
    std::vector<simplipy::Tree> corpus_;
    std::optional<Recombiner> laws_;
    std::optional<FormSampler> grammar_;
};

}  // namespace flash_ansr
