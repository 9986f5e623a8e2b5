#include "reading.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>

#include "normal.hpp"
#include "usual_numbers.hpp"

namespace flash_ansr {
namespace {

using simplipy::Node;
using simplipy::Op;

// An initializer list would copy the term.
Sum of_term(Term term) {
    Sum sum;
    sum.terms.push_back(std::move(term));
    return sum;
}
Sum of_value(Value value) { return of_term({value, {}}); }
Sum of_factor(Factor factor) {
    Term term;
    term.factors.push_back(std::move(factor));
    return of_term(std::move(term));
}

Sum scaled(Sum u, Value by) {
    if (u.terms.size() == 1) {
        u.terms[0].coefficient = product(u.terms[0].coefficient, by);
        return u;
    }
    if (by == Value{}) return u;
    if (by == Value::of(-1.0)) {
        for (Term& term : u.terms) term.coefficient = product(term.coefficient, by);
        return u;
    }
    Factor bracket{Op::add, 0, {}, {}};
    bracket.operands.push_back(std::move(u));
    Sum out = of_factor(std::move(bracket));
    out.terms[0].coefficient = by;
    return out;
}

Sum added(Sum a, Sum b) {
    const auto constant = [](const Term& term) { return term.factors.empty(); };
    for (Term& term : b.terms) {
        const auto own = constant(term) ? std::ranges::find_if(a.terms, constant) : a.terms.end();
        if (own == a.terms.end())
            a.terms.push_back(std::move(term));
        else
            own->coefficient = sum(own->coefficient, term.coefficient);
    }
    if (a.terms.size() > 1)
        std::erase_if(a.terms, [&](const Term& t) {
            return constant(t) && !t.coefficient.is_fitted() && t.coefficient.number == 0.0;
        });
    return a;
}

// The single term that a product is made of: a sum of several stands in brackets.
Term as_term(Sum u) {
    if (u.terms.size() == 1) return std::move(u.terms[0]);
    Factor bracket{Op::add, 0, {}, {}};
    bracket.operands.push_back(std::move(u));
    Term term;
    term.factors.push_back(std::move(bracket));
    return term;
}

Sum times(Sum a, Sum b) {
    if (a.is_value()) return scaled(std::move(b), a.value());
    if (b.is_value()) return scaled(std::move(a), b.value());
    Term left = as_term(std::move(a));
    Term right = as_term(std::move(b));
    left.coefficient = product(left.coefficient, right.coefficient);
    for (Factor& factor : right.factors) multiply(left.factors, std::move(factor));
    return of_term(std::move(left));
}

// The lowest exponent below 0 of a variable in the terms of a sum, with its variable.
std::optional<Factor> deepest_denominator(const Sum& u) {
    for (const Term& term : u.terms)
        for (const Factor& factor : term.factors) {
            if (factor.atom != Op::variable || factor.exponent.is_fitted() || factor.exponent.number >= 0.0) continue;
            Factor deepest = factor;
            for (const Term& other : u.terms)
                for (const Factor& f : other.factors)
                    if (f.same_atom(factor) && !f.exponent.is_fitted())
                        deepest.exponent.number = std::min(deepest.exponent.number, f.exponent.number);
            return deepest;
        }
    return std::nullopt;
}

Sum raised(Sum u, Value exponent) {
    if (exponent == Value{}) return u;
    if (u.terms.size() != 1) {
        Term out;
        // 1/(1 + c/x) is x/(x + c)
        while (!exponent.is_fitted() && exponent.number < 0.0) {
            const auto lowest = deepest_denominator(u);
            if (!lowest) break;
            Factor up = *lowest;
            up.exponent = Value::of(-lowest->exponent.number);
            for (Term& term : u.terms) multiply(term.factors, up);
            up.exponent = product(up.exponent, Value::of(-exponent.number));
            multiply(out.factors, std::move(up));
        }
        Factor bracket{Op::add, 0, {}, exponent};
        bracket.operands.push_back(std::move(u));
        multiply(out.factors, std::move(bracket));
        return of_term(std::move(out));
    }
    Term& term = u.terms[0];
    term.coefficient = power(term.coefficient, exponent);
    for (Factor& factor : term.factors) {
        // 1/exp(u) is exp(-u)
        if (factor.atom == Op::exp)
            factor.operands[0] = scaled(std::move(factor.operands[0]), exponent);
        else
            factor.exponent = product(factor.exponent, exponent);
    }
    return u;
}

// The value of a function of a number that is no usual one itself.
Value made_of(const Value& argument, double value) {
    return argument.is_known() && std::isfinite(value) && value != 0.0 ? Value{Value::Kind::fitted, value}
                                                                       : Value::fitted();
}

Sum exponential(Sum u) {
    if (u.is_value()) return of_value(made_of(u.value(), std::exp(u.value().number)));
    // exp(c + u) is c*exp(u)
    u = normal(std::move(u));
    const auto shift = std::ranges::find_if(u.terms, [](const Term& t) { return t.factors.empty(); });
    const bool shifted = u.terms.size() > 1 && shift != u.terms.end() && shift->coefficient.is_fitted();
    if (shifted) u.terms.erase(shift);
    Factor factor{Op::exp, 0, {}, {}};
    factor.operands.push_back(std::move(u));
    Sum out = of_factor(std::move(factor));
    if (shifted) out.terms[0].coefficient = Value::fitted();
    return out;
}

Sum logarithm(Sum u) {
    Value shift = Value::of(0.0);
    Value slope;
    if (u.terms.size() == 1) {
        Term& term = u.terms[0];
        if (term.coefficient.is_fitted() && !term.factors.empty()) {
            shift = Value::fitted();
            term.coefficient = Value{};
        }
        if (term.factors.empty()) return of_value(made_of(term.coefficient, std::log(term.coefficient.number)));
        if (term.factors.size() == 1 && term.coefficient == Value{}) {
            std::swap(slope, term.factors[0].exponent);
            if (term.factors[0].atom == Op::add) {
                Sum inside = std::move(term.factors[0].operands[0]);
                u = std::move(inside);
            }
        }
    }
    Factor factor{Op::log, 0, {}, {}};
    factor.operands.push_back(std::move(u));
    Sum out = scaled(of_factor(std::move(factor)), slope);
    if (shift.is_fitted()) out.terms.push_back(Term{shift, {}});
    return out;
}

Sum general_power(Sum base, Sum exponent) {
    if (exponent.is_value()) return raised(std::move(base), exponent.value());
    if (base.is_value()) {
        const Value value = base.value();
        const bool stays = !value.is_fitted() && (value.number == 2.0 || value.number == 10.0);
        if (!stays) return exponential(times(of_value(made_of(value, std::log(value.number))), std::move(exponent)));
    }
    Factor factor{Op::pow, 0, {}, {}};
    factor.operands.push_back(std::move(base));
    factor.operands.push_back(std::move(exponent));
    return of_factor(std::move(factor));
}

Sum call(Op op, Sum u) {
    if (u.is_value() && u.value().is_fitted()) return of_value(Value::fitted());
    Factor factor{op, 0, {}, {}};
    factor.operands.push_back(std::move(u));
    return of_factor(std::move(factor));
}

Sum unary(Op op, Sum u) {
    const simplipy::OpInfo& row = simplipy::info(op);
    switch (op) {
        case Op::neg:
            return scaled(std::move(u), Value::of(-1.0));
        case Op::inv:
            return raised(std::move(u), Value::of(-1.0));
        case Op::exp:
            return exponential(std::move(u));
        case Op::log:
            return logarithm(std::move(u));
        default:
            break;
    }
    if (row.has(simplipy::role::root)) return raised(std::move(u), Value::of(1.0 / row.literal));
    if (row.form == simplipy::Form::power) return raised(std::move(u), Value::of(row.literal));
    if (row.form == simplipy::Form::scale) return scaled(std::move(u), Value::of(row.literal));
    if (row.form == simplipy::Form::quotient) return scaled(std::move(u), Value::of(1.0 / row.literal));
    return call(op, std::move(u));
}

Sum binary(Op op, Sum a, Sum b) {
    switch (op) {
        case Op::add:
            return added(std::move(a), std::move(b));
        case Op::sub:
            return added(std::move(a), scaled(std::move(b), Value::of(-1.0)));
        case Op::mul:
            return times(std::move(a), std::move(b));
        case Op::div:
            return times(std::move(a), raised(std::move(b), Value::of(-1.0)));
        case Op::pow:
            return general_power(std::move(a), std::move(b));
        default:
            break;
    }
    Factor factor{op, 0, {}, {}};
    factor.operands.push_back(std::move(a));
    factor.operands.push_back(std::move(b));
    return of_factor(std::move(factor));
}

Sum leaf(const Node& node) {
    switch (node.op) {
        case Op::variable:
            return of_factor(Factor{Op::variable, node.payload, {}, {}});
        case Op::number: {
            const Value value = Value::of(simplipy::to_double(node.decimal()));
            return of_value(value.is_fitted() ? Value::fitted() : value);
        }
        case Op::pi:
            return of_value(Value::of(std::numbers::pi));
        case Op::e:
            return of_value(Value::of(std::numbers::e));
        default:
            return of_value(Value::fitted());
    }
}

bool is_free(const Value& value) {
    return value.is_made() || (value.kind == Value::Kind::number && value.number != -1.0);
}

// Whether there are numbers other than 1 and -1 that are no exponents.
bool has_numbers(const Sum& sum) {
    return std::ranges::any_of(sum.terms, [](const Term& term) {
        return is_free(term.coefficient) || std::ranges::any_of(term.factors, [](const Factor& factor) {
                   return std::ranges::any_of(factor.operands, has_numbers);
               });
    });
}

// The same formula with fitted constants for these numbers: exp(2*x + 5) is c*exp(c*x) then.
Sum read_again(const Sum& sum);

Sum read_again(const Factor& factor) {
    if (factor.atom == Op::variable) return of_factor(Factor{Op::variable, factor.variable, {}, {}});
    Sum first = read_again(factor.operands[0]);
    if (factor.atom == Op::add) return first;
    if (factor.operands.size() == 1) return unary(factor.atom, std::move(first));
    return binary(factor.atom, std::move(first), read_again(factor.operands[1]));
}

Sum read_again(const Sum& sum) {
    Sum out;
    for (const Term& term : sum.terms) {
        Sum product = of_value(is_free(term.coefficient) ? Value::fitted() : term.coefficient);
        for (const Factor& factor : term.factors)
            product = times(std::move(product), raised(read_again(factor), factor.exponent));
        out = out.terms.empty() ? std::move(product) : added(std::move(out), std::move(product));
    }
    return normal(std::move(out));
}

}  // namespace

void multiply(std::vector<Factor>& factors, Factor factor) {
    const auto known = std::ranges::find_if(
        factors, [&](const Factor& f) { return f.same_atom(factor) || (f.atom == Op::exp && factor.atom == Op::exp); });
    if (known == factors.end()) {
        factors.push_back(std::move(factor));
        return;
    }
    if (factor.atom == Op::exp) {  // exp(u)*exp(v) is exp(u + v)
        known->operands[0] = normal(added(std::move(known->operands[0]), std::move(factor.operands[0])));
        return;
    }
    known->exponent = sum(known->exponent, factor.exponent);
    if (!known->exponent.is_fitted() && known->exponent.number == 0.0) factors.erase(known);
}

Value Value::of(double number) {
    if (number == 1.0) return {};
    const bool stays = number == 0.0 || usual_place(number).has_value();
    return stays ? Value{Kind::number, number} : Value{Kind::fitted, number};
}

Value product(Value a, Value b) {
    return a.is_known() && b.is_known() ? Value::of(a.number * b.number) : Value::fitted();
}

Value sum(Value a, Value b) { return a.is_known() && b.is_known() ? Value::of(a.number + b.number) : Value::fitted(); }

Value power(Value base, Value exponent) {
    if (base == Value{}) return base;
    if (!base.is_known()) return Value::fitted();
    if (!exponent.is_known()) return {Value::Kind::fitted, base.number};
    return Value::of(std::pow(std::abs(base.number), exponent.number) * (base.number < 0.0 ? -1.0 : 1.0));
}

bool Sum::is_value() const { return terms.size() == 1 && terms[0].factors.empty(); }
Value Sum::value() const { return terms[0].coefficient; }

bool is_same(const Value& a, const Value& b) { return a == b && !a.is_fitted(); }

bool is_same(const Sum& a, const Sum& b) {
    return std::ranges::equal(a.terms, b.terms, [](const Term& s, const Term& t) {
        return is_same(s.coefficient, t.coefficient) &&
               std::ranges::equal(s.factors, t.factors, [](const Factor& f, const Factor& g) {
                   return is_same(f.exponent, g.exponent) && f.same_atom(g);
               });
    });
}

bool Factor::same_atom(const Factor& other) const {
    return atom == other.atom && variable == other.variable &&
           std::ranges::equal(operands, other.operands, [](const Sum& a, const Sum& b) { return is_same(a, b); });
}

Sum read(const std::vector<Node>& postfix) {
    std::vector<Sum> stack;
    for (const Node& node : postfix) {
        if (!simplipy::is_operator(node.op)) {
            stack.push_back(leaf(node));
            continue;
        }
        Sum last = std::move(stack.back());
        if (simplipy::arity(node.op) == 1) {
            stack.back() = unary(node.op, std::move(last));
            continue;
        }
        stack.pop_back();
        stack.back() = binary(node.op, std::move(stack.back()), std::move(last));
    }
    return normal(std::move(stack.back()));
}

std::optional<Sum> with_numbers_fitted(const Sum& reading) {
    if (!has_numbers(reading)) return std::nullopt;
    return read_again(reading);
}

}  // namespace flash_ansr
