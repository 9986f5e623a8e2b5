#include "bind.hpp"
#include "core/expression/prefix.hpp"

using namespace simplipy;

namespace {

using Ids = nb::ndarray<const std::int16_t, nb::ndim<1>, nb::device::cpu, nb::c_contig>;
using Offsets = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::device::cpu, nb::c_contig>;

nb::tuple encode(const std::vector<const Tree*>& trees) {
    std::vector<std::int16_t> ids;
    std::vector<std::int64_t> offsets = {0};
    std::vector<std::string> extras;
    Interner interner(extras);
    for (const Tree* tree : trees) {
        interner.append(*tree, ids);
        offsets.push_back(static_cast<std::int64_t>(ids.size()));
    }
    return nb::make_tuple(to_numpy(std::move(ids)), to_numpy(std::move(offsets)), std::move(extras));
}

std::vector<Tree> decode(const Ids& ids, const Offsets& offsets, const std::vector<std::string>& extras) {
    std::vector<Tree> trees;
    for (std::size_t i = 0; i + 1 < offsets.shape(0); ++i) {
        const auto start = static_cast<std::size_t>(offsets(i));
        const auto end = static_cast<std::size_t>(offsets(i + 1));
        trees.push_back(parse_ids({ids.data() + start, end - start}, extras));
    }
    return trees;
}

}  // namespace

void bind_batch(nb::module_& module) {
    module.def("encode", &encode, nb::arg("trees"));
    module.def("decode", &decode, nb::arg("ids"), nb::arg("offsets"), nb::arg("extras"));
    module.def(
        "token_of_id", [](std::int16_t id, const std::vector<std::string>& extras) { return token_of_id(id, extras); },
        nb::arg("id"), nb::arg("extras"));
}
