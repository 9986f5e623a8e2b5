// The memory of a run for its choices: which terms are settled, and whether it regrets having expanded something.
//
// A settled term is one that building it from its own parts gives again, so a later round of the same call takes it as
// it is. That holds only of terms whose making involved no choice that another round may make differently.
#pragma once

#include <utility>

#include "core/simplify/canonical/options.hpp"
#include "core/simplify/term.hpp"

namespace simplipy::canonical {

class Memory {
  public:
    Memory(Arena& arena, const CanonicalOptions& options)
        : arena_(arena),
          mode_(options.keep ? 2 : 1),
          keep_(options.keep),
          recalls_(options.keep_arena && !options.track) {}

    // Whether terms of an earlier round may be taken as they are.
    bool may_recall() const { return recalls_ && !took_logarithm_; }
    TermId recalled(TermId id) const { return (arena_[id].settled & mode_) != 0 ? id : no_term; }

    // Something was expanded that is shorter as written: then the same with `keep` may be shorter as a whole.
    void regret() { regrets_ = true; }
    bool regrets() const { return regrets_; }

    // Whether the term that is written without expansion is taken; if not although it is shorter, that is regretted.
    bool prefers_written(TermId written, TermId expanded) {
        if (arena_[written].cost.plain >= arena_[expanded].cost.plain) return false;
        regret();
        return keep_;
    }

    // e^log(u) was taken as u, which may be negative: from here on nothing is settled.
    void take_logarithm() { took_logarithm_ = true; }
    bool took_logarithm() const { return took_logarithm_; }

    // The making of one term, whose regrets are its own until it ends.
    class Making {
      public:
        explicit Making(Memory& memory) : memory_(memory), before_(std::exchange(memory.regrets_, false)) {}
        ~Making() { memory_.regrets_ |= before_; }
        Making(const Making&) = delete;
        Making& operator=(const Making&) = delete;

        bool regrets() const { return memory_.regrets_; }
        void settle(TermId id) {
            if (!memory_.took_logarithm_) memory_.arena_.edit(id).settled |= memory_.mode_;
        }

      private:
        Memory& memory_;
        bool before_;
    };

  private:
    Arena& arena_;
    std::uint8_t mode_;  // the bit of `settled`: with `keep`, other terms are
    bool keep_;
    bool recalls_;
    bool regrets_ = false;
    bool took_logarithm_ = false;
};

}  // namespace simplipy::canonical
