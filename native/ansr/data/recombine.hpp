// Laws recombined: a law, and edits of it as long as a coin says so.
//
// exchange: a subterm gives way to one that stands in the same place in another law. join: the whole becomes a term or
// a factor beside such a one. merge: two variables become one. fix: a variable becomes a free constant. free: a
// constant becomes a variable. At last the variables get random numbers.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/expression/tree.hpp"
#include "numbers.hpp"

namespace flash_ansr {

struct Law {
    simplipy::Tree form;          // in x1, x2, ...
    std::vector<Spread> spreads;  // of x1, x2, ...
};

// A skeleton, and where each x_k has its values from: an empty list and null stand for the columns of the prior. The
// recombiner owns the spreads.
struct Drawn {
    simplipy::Tree tree;
    std::vector<const Spread*> spreads;
};

class Recombiner {
  public:
    Recombiner(std::vector<Law> laws, const Prior& prior);

    Drawn draw(Random& random) const;

  private:
    struct Subterm {
        std::uint32_t law;
        std::uint32_t node;
    };
    struct Drawing;
    void edit(Drawing& drawing) const;
    void exchange(Drawing& drawing) const;
    void join(Drawing& drawing) const;
    void merge(Drawing& drawing) const;
    void fix(Drawing& drawing) const;
    void free(Drawing& drawing) const;
    std::vector<simplipy::Node> brought_in(Drawing& drawing, const Subterm& subterm,
                                           const std::vector<simplipy::Node>& others) const;
    Drawn renumbered(const Drawing& drawing) const;

    static constexpr std::size_t n_places = 2 * simplipy::max_symbols;
    Recombination how_;
    std::size_t n_variables_;
    std::size_t max_length_;
    std::vector<Law> laws_;
    std::array<std::vector<Subterm>, n_places> subterms_;  // of all laws, by place
};

}  // namespace flash_ansr
