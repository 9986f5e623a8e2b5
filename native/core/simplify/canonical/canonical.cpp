#include "canonical.hpp"

#include "walk.hpp"

namespace simplipy {

TermId Canonicalizer::run(const std::vector<Node>& postfix) {
    return canonical::walk(context_, postfix, [this](const Node& node) { return canonical::leaf(context_, node); });
}

}  // namespace simplipy
