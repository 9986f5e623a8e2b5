#include "source.hpp"

namespace flash_ansr {

using simplipy::Tree;

SkeletonSource::SkeletonSource(const Prior& prior, Material material)
    : shares_(prior.sources), trees_(prior.skeleton), corpus_(std::move(material.corpus)) {
    if (shares_.laws > 0.0) laws_.emplace(std::move(material.laws), prior);
    if (shares_.grammar > 0.0) {
        const auto& weights = prior.skeleton.operator_weights;
        std::vector<bool> operators;
        for (const double weight : weights) operators.push_back(weight > 0.0);
        grammar_.emplace(PriceTable(std::move(material.grammar), {}), prior.skeleton.n_variables,
                         prior.skeleton.max_length, std::move(operators));
    }
}

Drawn SkeletonSource::draw(Random& random) const {
    if (!corpus_.empty()) return {corpus_[random.below(corpus_.size())], {}};
    const double total = shares_.trees + shares_.laws + shares_.grammar;
    const double at = total > shares_.trees ? random.uniform() * total : 0.0;
    if (at < shares_.laws) return laws_->draw(random);
    if (at < shares_.laws + shares_.grammar) return {simplipy::skeleton(Tree(grammar_->draw(random), {})), {}};
    return {Tree(trees_.draw(random), {}), {}};
}

}  // namespace flash_ansr
