#include "walk.hpp"

#include "function/extremum.hpp"
#include "function/function.hpp"
#include "product/power.hpp"
#include "product/product.hpp"
#include "product/symbolic.hpp"
#include "sum/sum.hpp"

namespace simplipy::canonical {
namespace {

enum class Open : std::uint8_t { closed, sum, product };

// An operand: a closed term, or a sum or product that may still grow.
struct Value {
    Open open = Open::closed;
    TermId id = no_term;
    Scratch<Entry> sum;
    Parts product;

    static Value of(TermId id) { return {Open::closed, id, {}, {}}; }
    static Value of(Scratch<Entry> sum) { return {Open::sum, no_term, std::move(sum), {}}; }
    static Value of(Parts product) { return {Open::product, no_term, {}, std::move(product)}; }
};

TermId close(Context& c, Value& value) {
    if (value.open == Open::sum) value.id = close_sum(c, std::move(value.sum));
    if (value.open == Open::product) value.id = close_product(c, std::move(value.product));
    value.open = Open::closed;
    return value.id;
}

// Appends ratio * value to the open sum.
void to_sum(Context& c, Value& value, const Rational& ratio, Scratch<Entry>& list) {
    if (value.open != Open::sum) {
        add(c, list, close(c, value), ratio);
        return;
    }
    if (ratio.is_one() && list.empty()) {
        list = std::move(value.sum);
        return;
    }
    for (Entry entry : value.sum) {
        if (entry.is_free()) {
            entry.other = c.constants.scaled(entry.other, ratio);
        } else {
            entry.ratio = entry.ratio * ratio;
        }
        list.push_back(entry);
    }
}

// Multiplies by a factor of an open product turned over.
void multiply_inverse(Context& c, Parts& parts, const Entry& factor) {
    check_turn(c, factor);
    if (factor.is_free()) {
        parts.factors.push_back(inverse_power(c, factor));
        return;
    }
    const Rational exponent = -factor.ratio;
    if (!exponent.odd_denominator() && c.terms[factor.term].is_multiple()) {  // 1/sqrt(8/u) is sqrt(u/8)
        multiply(c, parts, factor.term, exponent);
    } else {
        parts.push(factor.term, exponent);
    }
}

void multiply_open(Context& c, Parts& parts, const Parts& other) {
    parts.content.multiply(other.content);
    parts.content_tokens += other.content_tokens;
    parts.coefficient.multiply(other.coefficient);
    if (other.constant != no_term) multiply_constant(c, parts, other.constant, Rational(1));
    parts.factors.insert(parts.factors.end(), other.factors.begin(), other.factors.end());
}

void divide_by_open(Context& c, Parts& parts, Parts& other) {
    gather_numbers(c, other);
    parts.content.multiply(other.content.inverse());
    parts.content_tokens += other.content_tokens;
    multiply_number(c, parts, other.coefficient.value(), Rational(-1));
    if (other.constant != no_term) multiply_constant(c, parts, other.constant, Rational(-1));
    for (const Entry& factor : other.factors) multiply_inverse(c, parts, factor);
}

// Multiplies the open product by value^exponent.
void to_product(Context& c, Value& value, const Rational& exponent, Parts& parts) {
    if (value.open != Open::product || !exponent.is_unit()) {
        multiply(c, parts, close(c, value), exponent);
    } else if (!exponent.is_one()) {
        divide_by_open(c, parts, value.product);
    } else if (parts.is_one()) {
        parts = std::move(value.product);
    } else {
        multiply_open(c, parts, value.product);
    }
}

void scale(Context& c, Value& value, const Rational& ratio) {
    if (value.open == Open::closed && c.terms[value.id].kind != Kind::sum) {
        Parts parts;
        multiply(c, parts, value.id, Rational(1));
        value = Value::of(std::move(parts));
    }
    if (value.open == Open::product) {
        value.product.coefficient.multiply(ratio);
        return;
    }
    Scratch<Entry> list;
    Value inner = std::move(value);
    to_sum(c, inner, ratio, list);
    value = Value::of(std::move(list));
}

// a + b or a - b. The longer list takes in the shorter, so that a long chain costs n log n, not n squared.
Value sum_of(Context& c, Value& a, Value& b, Op op) {
    const Rational ratio(op == Op::add ? 1 : -1);
    Scratch<Entry> list;
    list.reserve(4);
    if (b.open == Open::sum && (a.open != Open::sum || a.sum.size() < b.sum.size())) {
        if (op == Op::sub) scale(c, b, ratio);
        to_sum(c, b, Rational(1), list);
        to_sum(c, a, Rational(1), list);
    } else {
        to_sum(c, a, Rational(1), list);
        to_sum(c, b, ratio, list);
    }
    return Value::of(std::move(list));
}

void apply_binary(Context& c, Op op, Value& a, Value& b) {
    if (op == Op::add || op == Op::sub) {
        a = sum_of(c, a, b, op);
        return;
    }
    if (is_extremum(op)) {
        const TermId right = close(c, b);
        a = Value::of(extremum(c, op, close(c, a), right));
        return;
    }
    Parts parts;
    if (op == Op::pow) {
        const TermId exponent = close(c, b);
        multiply_symbolic(c, parts, close(c, a), exponent);
    } else {
        to_product(c, a, Rational(1), parts);
        to_product(c, b, Rational(op == Op::mul ? 1 : -1), parts);
    }
    a = Value::of(std::move(parts));
}

void apply_unary(Context& c, Op op, Value& a) {
    const OpInfo& row = info(op);
    if (op == Op::neg) {
        scale(c, a, Rational(-1));
    } else if (row.form == Form::scale) {
        scale(c, a, Rational(row.literal));
    } else if (row.form == Form::quotient) {
        scale(c, a, Rational::of(1, row.literal));
    } else if (op == Op::inv || row.form == Form::power || row.has(role::root)) {
        const Rational exponent =
            op == Op::inv ? Rational(-1)
                          : (row.form == Form::power ? Rational(row.literal) : Rational::of(1, row.literal));
        Parts parts;
        to_product(c, a, exponent, parts);
        a = Value::of(std::move(parts));
    } else if (op == Op::exp) {
        Parts parts;
        multiply_exponential(c, parts, close(c, a));
        a = Value::of(std::move(parts));
    } else {
        a = Value::of(function(c, op, close(c, a)));
    }
}

}  // namespace

TermId leaf(Context& c, const Node& node) {
    switch (node.op) {
        case Op::variable:
            return c.terms.variable(node.payload);
        case Op::constant:
            return c.constants.of_input();
        case Op::number: {
            const auto value = to_rational(node.decimal());
            return value ? c.terms.number(*value) : c.terms.opaque(node);
        }
        default:
            return c.terms.symbol(node.op);
    }
}

TermId walk(Context& c, std::span<const Node> postfix, FunctionRef<TermId(const Node&)> leaf_of) {
    Scratch<Value> stack;
    stack.reserve(16);
    for (const Node& node : postfix) {
        if (!is_operator(node.op)) {
            stack.push_back(Value::of(leaf_of(node)));
        } else if (arity(node.op) == 2) {
            Value b = std::move(stack.back());
            stack.pop_back();
            apply_binary(c, node.op, stack.back(), b);
        } else {
            apply_unary(c, node.op, stack.back());
        }
    }
    return close(c, stack.back());
}

}  // namespace simplipy::canonical
