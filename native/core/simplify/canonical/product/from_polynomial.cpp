#include "from_polynomial.hpp"

#include "power.hpp"
#include "product.hpp"

namespace simplipy::canonical {

bool may_disappear(const Context& c, const Polynomial& polynomial) {
    if (c.options.extend) return true;
    for (const Monomial& monomial : polynomial)
        for (const auto& [base, power] : monomial.powers)
            if (c.terms[base].partial || c.terms[base].has_absolute) return false;
    return true;
}

TermId from_monomial(Context& c, const Monomial& monomial) {
    Parts parts;
    parts.coefficient = monomial.coefficient;
    for (const auto& [base, power] : monomial.powers) multiply(c, parts, base, Rational(power));
    return close_product(c, std::move(parts));
}

}  // namespace simplipy::canonical
