// One generation in one call: children are varied, simplified, kept apart from what was met before, and screened.
//
// The result is the same for any number of threads: a child depends on the seed and its place alone, and the forms that
// were met before are looked up in the order of the children.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/simplify/simplify.hpp"
#include "key_set.hpp"
#include "mutate.hpp"
#include "screen.hpp"

namespace flash_ansr {

// Skeletons as ids (see core/prefix.hpp) and the values of their free constants, all in one array.
struct FormulaBatch {
    std::span<const std::int16_t> ids;
    std::span<const std::int64_t> offsets;
    std::span<const double> constants;
};

struct BreedRequest {
    FormulaBatch parents;
    std::span<const std::int32_t> first;   // parent of each child
    std::span<const std::int32_t> second;  // where parts of another come from; empty: the parents themselves, unchanged
    std::span<const double> limits;        // by length: children with a larger cost are not wanted
    double slack = 1.0;                    // times the limit: what is worse at its start is not descended from
    std::size_t n_steps = 8;               // of a descent
    std::size_t n_glances = 1;             // variations of one parent, of which half of the children are the best
    std::uint64_t seed = 0;
    double seconds = -1.0;  // < 0: no deadline
    std::size_t n_threads = 1;
};

struct Brood {
    std::vector<std::int16_t> ids;
    std::vector<std::int64_t> offsets = {0};
    std::vector<double> constants;
    std::vector<double> costs;
    std::vector<double> rank_correlations;
    std::size_t n_new = 0;       // children whose form had not been met
    std::size_t n_screened = 0;  // of these, those that are defined on all rows
    std::size_t n_descended = 0;
};

struct BreedOptions {
    simplipy::SimplifyOptions simplify;
    std::size_t max_length = 40;
    bool affine = true;                                 // every form phi stands for c0 + c1*phi
    std::array<bool, simplipy::max_symbols> allowed{};  // operators that a form may have
    std::size_t max_written = std::size_t{1} << 22;     // spellings to remember
};

class Breeder {
  public:
    Breeder(Mutator mutator, BreedOptions options) : mutator_(std::move(mutator)), options_(std::move(options)) {}

    std::size_t n_seen() const { return seen_.size(); }

    // Draw new parts of children by these from now on.
    void weigh(TokenWeights weights) { mutator_.weigh(std::move(weights)); }

    // Children that are new, within their limit and within the maximum length.
    Brood breed(const Screen& screen, const BreedRequest& request);

  private:
    struct Child {
        Postfix raw;  // values of the constants in their payloads
        std::uint64_t raw_key = 0;
        simplipy::Tree form;
        bool is_new = false;
        Screened screened;
    };

    Postfix best_variation(const Postfix& parent, const Postfix& donor, std::size_t n_glances, Glance& glance,
                           Random& random) const;
    bool may_be_kept(const simplipy::Tree& form) const;
    void vary(const std::vector<Postfix>& parents, const BreedRequest& request, std::size_t i,
              simplipy::Simplifier& simplifier, Glance& glance, Child& child) const;
    void value(const BreedRequest& request, std::size_t i, simplipy::Simplifier& simplifier, Screener& screener,
               simplipy::Watch& watch, Child& child) const;

    Mutator mutator_;
    BreedOptions options_;
    KeySet seen_;     // canonical forms
    KeySet written_;  // skeletons as they were written, which need not be simplified to know that they were met
};

// The value of a formula of numbers whose variable x_k is values[k - 1]; NaN where it is undefined.
double scalar_value(const std::vector<simplipy::Node>& postfix, std::span<const double> values);

}  // namespace flash_ansr
