#include "bind.hpp"
#include "core/base/errors.hpp"

namespace {

// Raises the Python class of the same name in simplipy.errors.
template <class Error>
void translate(const char* name) {
    nb::register_exception_translator(
        [](const std::exception_ptr& pointer, void* payload) {
            try {
                std::rethrow_exception(pointer);
            } catch (const Error& error) {
                const nb::object type = nb::module_::import_("simplipy.errors").attr(static_cast<const char*>(payload));
                PyErr_SetString(type.ptr(), error.what());
            }
        },
        const_cast<char*>(name));
}

}  // namespace

NB_MODULE(_core, module) {
    nb::set_leak_warnings(false);  // rules and options live in module globals until the interpreter ends
    translate<simplipy::ParseError>("ParseError");
    translate<simplipy::EvaluationError>("EvaluationError");
    bind_tree(module);
    bind_evaluate(module);
    bind_intervals(module);
    bind_batch(module);
    bind_simplify(module);
    bind_fit(module);
    bind_mine(module);
}
