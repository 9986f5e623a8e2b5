// The state that the parts of the canonicaliser share in one run: the options, and the state, each piece of it in a
// class that alone changes it.
//
// The parts are sets of functions over this context, a header each: sums (sum/), products and powers (product/),
// functions (function/), rules (rules/), and the walk over the input (walk.hpp). They call each other, as a factor of a
// product may be a sum and the reverse. A context is used by one thread, for one run.
#pragma once

#include <string>
#include <vector>

#include "options.hpp"
#include "rules/limits.hpp"
#include "sum/expansion.hpp"
#include "terms/constants.hpp"
#include "terms/memory.hpp"
#include "terms/store.hpp"

namespace simplipy::canonical {

struct Context {
    Context(Arena& arena, const CanonicalOptions& asked)
        : options(asked), terms(arena, asked), constants(terms, asked.track), memory(arena, asked) {}
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    // Keeps the name of a rewrite that is made. Only when tracking.
    void note(const char* event) {
        if (options.track && (events.empty() || events.back() != event)) events.emplace_back(event);
    }

    const CanonicalOptions& options;
    TermStore terms;
    Constants constants;
    Memory memory;
    RewriteLimits rewrites;
    Expansion expansion;
    std::vector<std::string> events;
};

// Whether a rewrite was made. One that needs a number beyond exact arithmetic is not.
template <class Rewrite>
bool attempt(const Rewrite& rewrite) {
    try {
        return rewrite();
    } catch (const Overflow&) {
        return false;
    }
}

}  // namespace simplipy::canonical
