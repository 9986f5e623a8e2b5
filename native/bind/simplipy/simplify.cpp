#include "core/simplify/simplify.hpp"

#include "bind.hpp"
#include "core/expression/prefix.hpp"

using namespace simplipy;

namespace {

const char* stop_name(StopReason stop) {
    constexpr const char* names[] = {"FIXPOINT", "STEP_LIMIT", "SIZE_LIMIT", "OVERFLOW"};
    return names[static_cast<std::size_t>(stop)];
}

void bind_options(nb::module_& module) {
    nb::class_<RuleSet>(module, "RuleSet")
        .def(
            "__init__", [](RuleSet* self, std::string_view text) { new (self) RuleSet(text); }, nb::arg("text"))
        .def("__len__", &RuleSet::size);
    nb::class_<SimplifyOptions>(module, "SimplifyOptions")
        .def(
            "__init__",
            [](SimplifyOptions* self, std::shared_ptr<RuleSet> rules, bool extend, int max_pattern_length,
               bool mask_numbers, bool fold_numbers, int max_steps) {
                new (self) SimplifyOptions{
                    extend, mask_numbers, fold_numbers, std::move(rules), max_pattern_length, max_steps, {}};
            },
            nb::arg("rules"), nb::arg("extend"), nb::arg("max_pattern_length"), nb::arg("mask_numbers"),
            nb::arg("fold_numbers"), nb::arg("max_steps"));
}

void bind_one(nb::module_& module) {
    module.def(
        "simplify_tree",
        [](const Tree& tree, const SimplifyOptions& options,
           const std::vector<std::tuple<std::string, double, double>>& ranges) {
            SimplifyOptions ranged = options;
            for (const std::int64_t code : variable_codes(tree))
                for (const auto& [name, low, high] : ranges)
                    if (variable_name(tree, code) == name) ranged.ranges[code] = {low, high};
            return simplifier_of_thread().run(tree, ranged).tree;
        },
        nb::arg("tree"), nb::arg("options"), nb::arg("ranges"));
    module.def(
        "simplify_tokens",
        [](const std::vector<std::string_view>& tokens, const SimplifyOptions& options) {
            return token_list(simplifier_of_thread().run(parse_prefix(tokens), options).tree);
        },
        nb::arg("tokens"), nb::arg("options"));
    module.def(
        "explain_tree",
        [](const Tree& tree, const SimplifyOptions& options) {
            Simplifier simplifier;
            Simplified result = simplifier.run(tree, options, true);
            nb::list steps;
            for (Step& step : result.steps) steps.append(nb::make_tuple(step.rules, step.before, step.after));
            return nb::make_tuple(result.tree, stop_name(result.stop), steps, result.constants);
        },
        nb::arg("tree"), nb::arg("options"));
}

void bind_many(nb::module_& module) {
    module.def(
        "simplify_token_lists",
        [](const std::vector<std::vector<std::string_view>>& rows, const SimplifyOptions& options,
           std::size_t n_threads) {
            std::vector<Tree> trees;
            trees.reserve(rows.size());
            for (const std::vector<std::string_view>& tokens : rows) trees.push_back(parse_prefix(tokens));
            {
                const nb::gil_scoped_release release;
                simplify_trees(trees, options, n_threads);
            }
            nb::list lists;
            for (const Tree& tree : trees) lists.append(token_list(tree));
            return lists;
        },
        nb::arg("rows"), nb::arg("options"), nb::arg("n_threads"));
    module.def(
        "simplify_ids",
        [](const nb::ndarray<const std::int16_t, nb::ndim<1>, nb::device::cpu, nb::c_contig>& ids,
           const nb::ndarray<const std::int64_t, nb::ndim<1>, nb::device::cpu, nb::c_contig>& offsets,
           const std::vector<std::string>& extras, const SimplifyOptions& options, std::size_t n_threads) {
            const IdBatch input{{ids.data(), ids.shape(0)}, {offsets.data(), offsets.shape(0)}, extras};
            const auto simplified = [&] {
                const nb::gil_scoped_release release;
                return simplify_batch(input, options, n_threads);
            };
            OwnedIdBatch output = simplified();
            return nb::make_tuple(to_numpy(std::move(output.ids)), to_numpy(std::move(output.offsets)),
                                  std::move(output.extras));
        },
        nb::arg("ids"), nb::arg("offsets"), nb::arg("extras"), nb::arg("options"), nb::arg("n_threads"));
}

}  // namespace

void bind_simplify(nb::module_& module) {
    bind_options(module);
    bind_one(module);
    bind_many(module);
}
