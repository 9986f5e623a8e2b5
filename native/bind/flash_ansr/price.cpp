// The price of forms for Python: casts only, the logic is in native/ansr/price.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "ansr/price/sample.hpp"
#include "ansr/price/write_down.hpp"
#include "bind.hpp"
#include "core/expression/prefix.hpp"

namespace nb = nanobind;
using namespace flash_ansr;

namespace {

using Ids = nb::ndarray<const std::int16_t, nb::ndim<1>, nb::device::cpu, nb::c_contig>;
using Offsets = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::device::cpu, nb::c_contig>;
using Values = nb::ndarray<const double, nb::ndim<1>, nb::device::cpu, nb::c_contig>;

template <class Function>
void for_each_form(const Ids& ids, const Offsets& offsets, const std::vector<std::string>& extras,
                   Function&& function) {
    for (std::size_t i = 0; i + 1 < offsets.shape(0); ++i) {
        const auto start = static_cast<std::size_t>(offsets(i));
        function(simplipy::parse_ids({ids.data() + start, static_cast<std::size_t>(offsets(i + 1)) - start}, extras));
    }
}

}  // namespace

void bind_price(nb::module_& module) {
    module.def("price_questions", [] {
        std::vector<
            std::tuple<std::string, std::vector<std::vector<std::string>>, std::vector<std::string>, std::size_t>>
            rows;
        for (const QuestionRow& row : questions())
            rows.emplace_back(row.name, row.features, row.answers, row.first_cell);
        return rows;
    });
    module.def(
        "price_answers",
        [](const Ids& ids, const Offsets& offsets, const std::vector<std::string>& extras) {
            std::vector<std::uint32_t> cells;
            std::vector<std::int64_t> ends = {0};
            for_each_form(ids, offsets, extras, [&](const simplipy::Tree& tree) {
                if (const auto answers = answers_of(read(tree.nodes()))) {
                    const auto own = all_cells(*answers, simplipy::variable_codes(tree).size());
                    cells.insert(cells.end(), own.begin(), own.end());
                }
                ends.push_back(static_cast<std::int64_t>(cells.size()));
            });
            return nb::make_tuple(to_numpy(std::move(cells)), to_numpy(std::move(ends)));
        },
        nb::arg("ids"), nb::arg("offsets"), nb::arg("extras"));
    module.def(
        "price_keys",
        [](const Ids& ids, const Offsets& offsets, const std::vector<std::string>& extras) {
            std::vector<std::uint64_t> keys;
            for_each_form(ids, offsets, extras, [&](const simplipy::Tree& tree) {
                const auto answers = answers_of(read(tree.nodes()));
                keys.push_back(answers ? hash_of(*answers) : tree.hash());
            });
            return keys;
        },
        nb::arg("ids"), nb::arg("offsets"), nb::arg("extras"));
    nb::class_<PriceTable>(module, "PriceTable")
        .def(
            "__init__",
            [](PriceTable* self, const Values& log_probs, double known_share, double length_share, double token_nats) {
                if (log_probs.shape(0) != n_cells())
                    throw std::invalid_argument("a table has one value for each answer");
                new (self) PriceTable({log_probs.data(), log_probs.data() + log_probs.shape(0)},
                                      {known_share, length_share, token_nats});
            },
            nb::arg("log_probs"), nb::arg("known_share"), nb::arg("length_share"), nb::arg("token_nats"))
        .def(
            "know",
            [](PriceTable& self, const std::vector<std::uint64_t>& keys, const Values& probabilities) {
                for (std::size_t i = 0; i < keys.size(); ++i) self.know(keys[i], probabilities(i));
            },
            nb::arg("keys"), nb::arg("probabilities"))
        .def(
            "prices",
            [](const PriceTable& self, const Ids& ids, const Offsets& offsets, const std::vector<std::string>& extras,
               std::size_t n_columns) {
                std::vector<double> nats;
                for_each_form(ids, offsets, extras, [&](const simplipy::Tree& tree) {
                    const std::size_t own = simplipy::variable_codes(tree).size();
                    const FormPrices prices = prices_of(self, tree.nodes(), std::max(n_columns, own));
                    nats.push_back(prices.written);
                    nats.push_back(prices.fitted);
                });
                const std::size_t n = nats.size() / 2;
                return to_numpy(std::move(nats), {n, 2});
            },
            nb::arg("ids"), nb::arg("offsets"), nb::arg("extras"), nb::arg("n_columns"))
        .def(
            "sample",
            [](const PriceTable& self, std::uint64_t seed, const Offsets& indices, std::size_t n_columns,
               std::size_t max_nodes, const std::vector<bool>& operators) {
                const FormSampler sampler(self, n_columns, max_nodes, operators);
                std::vector<std::int16_t> ids;
                std::vector<std::int64_t> ends = {0};
                std::vector<std::string> extras;
                simplipy::Interner interner(extras);
                for (std::size_t i = 0; i < indices.shape(0); ++i) {
                    Random random(seed, static_cast<std::uint64_t>(indices(i)), 0);
                    interner.append(simplipy::Tree(sampler.draw(random), {}), ids);
                    ends.push_back(static_cast<std::int64_t>(ids.size()));
                }
                return nb::make_tuple(to_numpy(std::move(ids)), to_numpy(std::move(ends)), extras);
            },
            nb::arg("seed"), nb::arg("indices"), nb::arg("n_columns"), nb::arg("max_nodes"), nb::arg("operators"));
}
