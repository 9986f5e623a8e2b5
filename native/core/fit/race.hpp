// Which formulas of a batch are still of interest.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "fit.hpp"
#include "search.hpp"

namespace simplipy {

// The best scores so far, and the FVU beyond which a formula of a length cannot be among them.
class Race {
  public:
    explicit Race(const RaceRule& rule) : rule_(rule) {}

    double fvu_limit(const FitJob& job) const {
        if (rule_.keep_best == 0 || scores_.size() < rule_.keep_best) return job.fvu_limit;
        return std::min(job.fvu_limit, std::pow(10.0, scores_.front() - penalty(job)));
    }

    void add(const FitJob& job, const FitResult& result) {
        if (rule_.keep_best == 0 || !std::isfinite(result.fvu)) return;
        scores_.push_back(std::log10(std::max(result.fvu, good_as_perfect)) + penalty(job));
        std::push_heap(scores_.begin(), scores_.end());
        if (scores_.size() <= rule_.keep_best) return;
        std::pop_heap(scores_.begin(), scores_.end());
        scores_.pop_back();
    }

  private:
    double penalty(const FitJob& job) const { return rule_.length_penalty * static_cast<double>(job.tree->size()); }

    RaceRule rule_;
    std::vector<double> scores_;  // a heap, the worst of the best in front
};

}  // namespace simplipy
