#include "core/expression/tree.hpp"

#include <stdexcept>

#include "bind.hpp"
#include "core/base/errors.hpp"
#include "core/expression/infix.hpp"
#include "core/expression/names.hpp"
#include "core/expression/prefix.hpp"

using namespace simplipy;

namespace {

const char* parity_name(Parity parity) {
    return parity == Parity::odd ? "odd" : (parity == Parity::even ? "even" : "none");
}

const char* form_name(Form form) {
    constexpr const char* names[] = {"infix", "minus", "power", "scale", "quotient", "reciprocal", "call", "leaf"};
    return names[static_cast<std::size_t>(form)];
}

std::optional<std::tuple<std::string, std::string>> indicator_parts(std::string_view name) {
    const auto indicator = indicator_named(name);
    if (!indicator) return std::nullopt;
    return std::tuple{indicator->column, indicator->level};
}

nb::list operator_rows() {
    nb::list rows;
    for (const OpInfo& row : operators()) {
        nb::dict fields;
        fields["id"] = index(row.op);
        fields["token"] = row.token;
        fields["arity"] = row.arity;
        fields["precedence"] = row.precedence;
        fields["form"] = form_name(row.form);
        fields["call"] = row.call;
        fields["literal"] = row.literal;
        fields["commutative"] = row.has(role::commutative);
        fields["parity"] = parity_name(row.parity);
        nb::list derivative;
        for (int i = 0; i < row.arity; ++i) derivative.append(row.derivative[static_cast<std::size_t>(i)]);
        fields["derivative"] = nb::tuple(derivative);
        fields["domain"] = row.domain;
        fields["weight"] = row.weight;
        fields["description"] = row.description;
        rows.append(fields);
    }
    return rows;
}

std::vector<std::string> variable_names(const Tree& tree) {
    std::vector<std::string> names;
    for (const std::int64_t code : variable_codes(tree)) names.push_back(variable_name(tree, code));
    return names;
}

// The Python string of a symbol or x_k, made once.
PyObject* known_token(const Node& node) {
    constexpr std::size_t n_columns = 64;
    static PyObject* known[max_symbols + n_columns] = {};  // kept for the life of the process
    std::size_t place = index(node.op);
    if (node.op == Op::variable) {
        if (node.payload <= 0 || node.payload > static_cast<std::int64_t>(n_columns)) return nullptr;
        place = max_symbols + static_cast<std::size_t>(node.payload) - 1;
    } else if (symbol_token(node.op).empty()) {
        return nullptr;
    }
    if (known[place] == nullptr)
        known[place] = PyUnicode_InternFromString(token_of_id(static_cast<std::int16_t>(place), {}).c_str());
    return known[place];
}

Tree checked_subtree(const Tree& tree, std::size_t i) {
    if (i >= tree.size()) throw std::out_of_range("node " + std::to_string(i));
    return subtree(tree, i);
}

}  // namespace

nb::list token_list(const Tree& tree) {
    const std::vector<std::size_t> order = prefix_order(tree);
    PyObject* list = PyList_New(static_cast<Py_ssize_t>(order.size()));
    if (list == nullptr) nb::raise_python_error();
    nb::list tokens = nb::steal<nb::list>(list);
    for (std::size_t k = 0; k < order.size(); ++k) {
        const Node& node = tree.nodes()[order[k]];
        PyObject* token = Py_XNewRef(known_token(node));
        if (token == nullptr) token = nb::cast(token_of(tree, node)).release().ptr();
        PyList_SET_ITEM(list, static_cast<Py_ssize_t>(k), token);
    }
    return tokens;
}

void bind_tree(nb::module_& module) {
    module.attr("FIRST_VARIABLE") = first_variable;
    module.attr("FIRST_EXTRA") = first_extra;
    module.def("operator_rows", &operator_rows);
    module.def("symbol_tokens", [] {
        nb::list tokens;
        for (std::size_t i = 0; i < max_symbols; ++i) tokens.append(symbol_token(static_cast<Op>(i)));
        return tokens;
    });
    module.def("quoted", &quoted, nb::arg("name"));
    module.def("unquoted", &unquoted, nb::arg("token"));
    module.def(
        "indicator_name",
        [](std::string column, std::string level) { return Indicator{std::move(column), std::move(level)}.name(); },
        nb::arg("column"), nb::arg("level"));
    module.def("indicator_parts", &indicator_parts, nb::arg("name"));
    module.def("column_number", &column_number, nb::arg("name"));
    module.def("decimal_token", [](double value) { return to_string(to_decimal(value)); }, nb::arg("value"));

    nb::class_<Tree>(module, "Tree")
        .def_static("from_infix", &parse_infix, nb::arg("text"))
        .def_static(
            "from_tokens", [](const std::vector<std::string_view>& tokens) { return parse_prefix(tokens); },
            nb::arg("tokens"))
        .def("tokens", &token_list)
        .def("infix", &to_infix, nb::arg("precision").none())
        .def("__len__", &Tree::size)
        .def(
            "__eq__", [](const Tree& a, const Tree& b) { return a == b; }, nb::is_operator())
        .def("hash", &Tree::hash)
        .def("variables", &variable_names)
        .def("n_constants", [](const Tree& tree) { return count(tree, Op::constant); })
        .def("depth", &simplipy::depth)
        .def("skeleton", &simplipy::skeleton)
        .def("with_constants", &with_constants, nb::arg("values"))
        .def("rename", &simplipy::rename, nb::arg("names"))
        .def("prefix_order", &prefix_order)
        .def("subtree", &checked_subtree);
    module.def(
        "parse_many",
        [](const std::vector<std::string_view>& texts) {
            std::vector<Tree> trees;
            trees.reserve(texts.size());
            for (std::size_t i = 0; i < texts.size(); ++i) {
                try {
                    trees.push_back(parse_infix(texts[i]));
                } catch (const ParseError& error) {
                    throw ParseError("text " + std::to_string(i + 1) + ", " + error.what());
                }
            }
            return trees;
        },
        nb::arg("texts"));
}
