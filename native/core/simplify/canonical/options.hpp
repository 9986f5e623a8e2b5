// The options of the canonicaliser.
#pragma once

#include <cstdint>
#include <map>

namespace simplipy {

class RuleSet;

struct Range {
    double low;
    double high;
};

struct CanonicalOptions {
    bool extend = true;
    const RuleSet* rules = nullptr;
    int max_pattern_length = -1;  // of rules; -1: no limit
    bool keep_arena = false;      // add to the terms that are there
    bool factor = true;           // take out common factors; patterns of sums are matched before that
    const std::map<std::int64_t, Range>* ranges = nullptr;  // by variable code
    bool keep = false;   // powers, roots and sums as written where expanding them is longer
    bool track = false;  // keep definitions of absorbed constants
};

}  // namespace simplipy
