// How many rewrites by rules one run may make, in all and inside each other: rules of a file may undo each other, as
// sin(a) -> cos(b) and back. Beyond a limit a rewrite is refused like one that overflows.
#pragma once

#include "core/base/rational.hpp"

namespace simplipy::canonical {

class RewriteLimits {
  public:
    // One rewrite, while it is made.
    class Rewrite {
      public:
        explicit Rewrite(RewriteLimits& limits) : limits_(limits) {
            constexpr int max_depth = 100;
            constexpr int max_rewrites = 2000;  // of rules that undo each other in two places
            if (limits_.depth_ >= max_depth || ++limits_.n_rewrites_ > max_rewrites) throw_overflow();
            ++limits_.depth_;
        }
        ~Rewrite() { --limits_.depth_; }
        Rewrite(const Rewrite&) = delete;
        Rewrite& operator=(const Rewrite&) = delete;

      private:
        RewriteLimits& limits_;
    };

  private:
    int n_rewrites_ = 0;
    int depth_ = 0;
};

}  // namespace simplipy::canonical
