// Products of sums multiplied out where terms meet by that: (x + y)^2 - (x - y)^2 is 4*x*y.
//
// Done only where the sum becomes shorter, and never while another sum is multiplied out. With preserve, a term that
// may disappear is defined nearly everywhere.
#pragma once

#include "core/base/scratch.hpp"
#include "core/simplify/term.hpp"

namespace simplipy::canonical {

struct Context;

// Whether a sum is being multiplied out.
class Expansion {
  public:
    bool is_under_way() const { return is_under_way_; }

    // Multiplying out, until its end.
    class Step {
      public:
        explicit Step(Expansion& expansion) : expansion_(expansion) { expansion_.is_under_way_ = true; }
        ~Step() { expansion_.is_under_way_ = false; }
        Step(const Step&) = delete;
        Step& operator=(const Step&) = delete;

      private:
        Expansion& expansion_;
    };

  private:
    bool is_under_way_ = false;
};

bool multiply_out(Context& c, Scratch<Entry>& list);

}  // namespace simplipy::canonical
