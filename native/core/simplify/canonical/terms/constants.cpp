#include "constants.hpp"

#include "core/simplify/spell/tokens.hpp"

namespace simplipy::canonical {
namespace {

void append(Definition& definition, const Definition& more) {
    definition.insert(definition.end(), more.begin(), more.end());
}

void append(Definition& definition, const Definition& more, Op op) {
    append(definition, more);
    definition.push_back(Node::of(op));
}

// Appends "times (1 - value)".
void multiply_by_complement(Definition& definition, const Definition& value) {
    definition.push_back(Node::number({1, 0}));
    append(definition, value, Op::sub);
    definition.push_back(Node::of(Op::mul));
}

}  // namespace

void multiply_definition(Definition& definition, const Rational& ratio) {
    if (ratio.is_one()) return;
    emit_number(ratio, definition);
    definition.push_back(Node::of(Op::mul));
}

TermId Constants::make(Definition definition) {
    if (tracked_) definitions_.push_back(std::move(definition));
    return terms_.constant(n_constants_++);
}

TermId Constants::of_input() {
    ++n_of_input_;
    if (!tracked_) return make({});
    return make({Node::variable(n_of_input_)});
}

TermId Constants::applied(Op op, TermId ground) {
    if (!tracked_) return make({});
    Definition definition = define(ground);
    definition.push_back(Node::of(op));
    return make(std::move(definition));
}

TermId Constants::applied(Op op, TermId a, TermId b) {
    if (!tracked_) return make({});
    Definition definition = define(a);
    append(definition, define(b), op);
    return make(std::move(definition));
}

TermId Constants::scaled(TermId constant, const Rational& ratio) {
    if (!tracked_ || ratio.is_one()) return constant;
    return times_all(constant, {&ratio, 1});
}

TermId Constants::raised(TermId constant, const Rational& exponent) {
    return tracked_ ? make(define_power(constant, exponent)) : constant;
}

TermId Constants::absolute_raised(TermId constant, const Rational& exponent) {
    return tracked_ ? raised(applied(Op::abs, constant), exponent) : constant;
}

TermId Constants::times_power(TermId product, TermId constant, const Rational& exponent) {
    if (product == no_term && (exponent.is_one() || !tracked_)) return constant;
    if (!tracked_) return product;
    Definition definition = define_power(constant, exponent);
    if (product != no_term) append(definition, define(product), Op::mul);
    return make(std::move(definition));
}

TermId Constants::times_all(TermId constant, std::span<const Rational> numbers) {
    if (!tracked_) return constant;
    Definition definition = define(constant);
    for (const Rational& number : numbers) multiply_definition(definition, number);
    return make(std::move(definition));
}

TermId Constants::times_all(TermId constant, std::span<const Entry> powers, const Rational& number) {
    if (!tracked_) return constant;
    Definition definition = define(constant);
    for (const Entry& power : powers) {
        if (power.is_free()) {
            append(definition, define(power.term));
            append(definition, define(power.other), Op::pow);
        } else {
            append(definition, define_power(power.term, power.ratio));
        }
        definition.push_back(Node::of(Op::mul));
    }
    multiply_definition(definition, number);
    return make(std::move(definition));
}

TermId Constants::sum(std::span<const Entry> entries, TermId coefficient) {
    if (!tracked_) return coefficient;
    Definition definition;
    for (const Entry& entry : entries) {
        const bool first = definition.empty();
        append(definition, define(entry.term));
        append(definition, define(entry.is_free() ? entry.other : terms_.number(entry.ratio)), Op::mul);
        if (!first) definition.push_back(Node::of(Op::add));
    }
    return make(std::move(definition));
}

TermId Constants::shifted_base(TermId base, TermId shift) {
    return tracked_ ? make(define_shifted_base(base, shift)) : base;
}

TermId Constants::shifted_power(TermId base, TermId shift) {
    if (!tracked_) return make({});
    Definition definition = define_shifted_base(base, shift);
    append(definition, define(shift), Op::pow);
    multiply_by_complement(definition, define_moves_zero(base, shift));
    return make(std::move(definition));
}

Definition Constants::define(TermId ground) {
    Definition definition;
    terms_.speller().emit(ground, Speller::Mode::plain, definition,
                          [this](const TermNode& node, const Rational& ratio, Definition& out) {
                              append(out, this->definition(node.payload));
                              multiply_definition(out, ratio);
                          });
    return definition;
}

Definition Constants::define_power(TermId base, const Rational& exponent) {
    Definition definition = define(base);
    if (exponent.is_one()) return definition;
    const TermId placeholder = terms_.variable(1);
    Definition power;
    const auto no_constants = [](const TermNode&, const Rational&, Definition&) {};
    terms_.speller().emit(terms_.product({{placeholder, no_term, exponent}}), Speller::Mode::plain, power,
                          no_constants);
    definition.insert(definition.end(), power.begin() + 1, power.end());  // the base stands first in postfix order
    return definition;
}

// 0^|c|: 1 where the constant is 0, else 0.
Definition Constants::define_is_zero(TermId constant) {
    Definition definition = {Node::number({0, 0})};
    append(definition, define(constant), Op::abs);
    definition.push_back(Node::of(Op::pow));
    return definition;
}

// b^(u + c) is b^c * b^u, but 0^(u + c) is 0 * 1^u unless c is 0 too. 1 where the base has to be replaced by 1, else 0.
Definition Constants::define_moves_zero(TermId base, TermId shift) {
    Definition definition = define_is_zero(base);
    multiply_by_complement(definition, define_is_zero(shift));
    return definition;
}

Definition Constants::define_shifted_base(TermId base, TermId shift) {
    Definition definition = define(base);
    append(definition, define_moves_zero(base, shift), Op::add);
    return definition;
}

}  // namespace simplipy::canonical
