#include "canonical.hpp"

#include <algorithm>

#include "core/simplify/spell/plan.hpp"

namespace simplipy {
namespace {

void append(std::vector<Node>& postfix, const std::vector<Node>& more) {
    postfix.insert(postfix.end(), more.begin(), more.end());
}

// Appends "times (1 - value)".
void multiply_by_complement(std::vector<Node>& postfix, const std::vector<Node>& value) {
    postfix.push_back(Node::number({1, 0}));
    append(postfix, value);
    postfix.push_back(Node::of(Op::sub));
    postfix.push_back(Node::of(Op::mul));
}

}  // namespace

Canonicalizer::Canonicalizer(Arena& arena, const CanonicalOptions& options)
    : arena_(arena), options_(options), speller_(arena, options.extend) {
    ScratchBuffer::of_thread().reset();
    if (options.keep_arena) return;
    arena_.reset();
    if (arena_.size() > zero_term) return;
    number(1);  // one_term
    number(0);  // zero_term
    arena_.keep_first(zero_term + 1);
}

TermId Canonicalizer::run(const std::vector<Node>& postfix) {
    Scratch<Value> stack;
    stack.reserve(16);
    for (const Node& node : postfix) {
        if (is_operator(node.op)) {
            apply(node.op, stack);
        } else {
            stack.push_back({Open::closed, leaf(node), {}, {}});
        }
    }
    return close(stack.back());
}

// ---- leaves

TermId Canonicalizer::intern(const TermNode& node, const Scratch<Entry>& entries) {
    const auto [id, is_new] = arena_.intern(node, entries);
    if (!is_new) return id;
    try {
        analyse(id);
    } catch (const Overflow&) {  // of its cost: whoever refuses this term may go on with others
        arena_.forget_last();
        throw;
    }
    return id;
}

TermId Canonicalizer::number(const Rational& value) {
    TermNode node;
    node.kind = Kind::number;
    node.value = value;
    return intern(node, {});
}

TermId Canonicalizer::symbol(Op op) {
    TermNode node;
    node.kind = Kind::symbol;
    node.op = op;
    return intern(node, {});
}

TermId Canonicalizer::variable(std::int64_t code) {
    TermId* known = arena_.variable(code);
    if (known != nullptr && *known != no_term) return *known;
    TermNode node;
    node.kind = Kind::variable;
    node.payload = code;
    const TermId id = intern(node, {});
    if (known != nullptr) *known = id;
    return id;
}

TermId Canonicalizer::new_constant(std::vector<Node> definition) {
    TermNode node;
    node.kind = Kind::constant;
    node.payload = n_constants_++;
    if (options_.track) definitions_.push_back(std::move(definition));
    return intern(node, {});
}

TermId Canonicalizer::leaf(const Node& node) {
    switch (node.op) {
        case Op::variable:
            return variable(node.payload);
        // the k-th constant of the input is variable k in definitions
        case Op::constant:
            ++n_input_constants_;
            return new_constant(options_.track ? std::vector{Node::variable(n_input_constants_)} : std::vector<Node>{});
        case Op::number: {
            if (const auto value = to_rational(node.decimal())) return number(*value);
            TermNode opaque;
            opaque.kind = Kind::opaque;
            opaque.payload = node.payload;
            opaque.exponent = node.exponent;
            return intern(opaque, {});
        }
        default:
            return symbol(node.op);
    }
}

// ---- the walk

TermId Canonicalizer::close(Value& value) {
    if (value.open == Open::sum) value.id = close_sum(std::move(value.sum));
    if (value.open == Open::product) value.id = close_product(std::move(value.product));
    value.open = Open::closed;
    return value.id;
}

void Canonicalizer::to_sum(Value& value, const Rational& ratio, Scratch<Entry>& list) {
    if (value.open == Open::sum && ratio.is_one() && list.empty()) {
        list = std::move(value.sum);
        return;
    }
    if (value.open == Open::sum) {
        for (Entry entry : value.sum) {
            if (!entry.is_free()) entry.ratio = entry.ratio * ratio;
            if (entry.is_free()) entry.other = scaled_constant(entry.other, ratio);
            list.push_back(entry);
        }
        return;
    }
    add(list, close(value), ratio);
}

void Canonicalizer::to_product(Value& value, const Rational& exponent, Parts& parts) {
    if (value.open == Open::product && exponent.is_one() && parts.factors.empty() && parts.constant == no_term &&
        parts.coefficient.is_whole() && parts.coefficient.value().is_one()) {
        parts = std::move(value.product);
        return;
    }
    if (value.open == Open::product && (exponent.is_one() || exponent == Rational(-1))) {
        Parts& other = value.product;
        if (!exponent.is_one()) gather_numbers(other);
        parts.content.multiply(exponent.is_one() ? other.content : other.content.inverse());
        parts.content_tokens += other.content_tokens;
        if (exponent.is_one()) {
            parts.coefficient.multiply(other.coefficient);
        } else if (!other.coefficient.value().is_one()) {
            multiply(parts, number(other.coefficient.value()), exponent);
        }
        if (other.constant != no_term) multiply_constant(parts, other.constant, exponent);
        for (Entry factor : other.factors) {
            if (exponent.sign() < 0) check_turn(factor);
            if (exponent.sign() < 0 && factor.is_free()) {
                factor = inverse_power(factor);
            } else if (exponent.sign() < 0) {
                factor.ratio = -factor.ratio;
                if (!factor.ratio.odd_denominator() && arena_[factor.term].kind == Kind::sum &&
                    arena_[factor.term].n_entries == 1) {  // 1/sqrt(8/u) is sqrt(u/8)
                    multiply(parts, factor.term, factor.ratio);
                    continue;
                }
            }
            parts.factors.push_back(factor);
        }
        return;
    }
    multiply(parts, close(value), exponent);
}

// 1/(1/u) is u but for a null set, unless u vanishes on more than that.
void Canonicalizer::check_turn(const Entry& factor) const {
    if (!options_.extend && !factor.is_free() && factor.ratio.sign() < 0 && arena_[factor.term].has_absolute)
        throw_overflow();
}

void Canonicalizer::scale(Value& value, const Rational& ratio) {
    if (value.open == Open::closed && arena_[value.id].kind != Kind::sum) {
        Parts parts;
        multiply(parts, value.id, Rational(1));
        value = {Open::product, no_term, {}, std::move(parts)};
    }
    if (value.open == Open::product) {
        value.product.coefficient.multiply(ratio);
        return;
    }
    Scratch<Entry> list;
    Value inner = std::move(value);
    to_sum(inner, ratio, list);
    value = {Open::sum, no_term, std::move(list), {}};
}

void Canonicalizer::apply(Op op, Scratch<Value>& stack) {
    if (arity(op) == 2) {
        Value b = std::move(stack.back());
        stack.pop_back();
        Value& a = stack.back();
        if (op == Op::add || op == Op::sub) {
            const Rational ratio(op == Op::add ? 1 : -1);
            Scratch<Entry> list;
            list.reserve(4);
            // the longer list takes in the shorter, so that a long chain costs n log n, not n squared
            if (b.open == Open::sum && (a.open != Open::sum || a.sum.size() < b.sum.size())) {
                if (op == Op::sub) scale(b, ratio);
                to_sum(b, Rational(1), list);
                to_sum(a, Rational(1), list);
            } else {
                to_sum(a, Rational(1), list);
                to_sum(b, ratio, list);
            }
            a = {Open::sum, no_term, std::move(list), {}};
        } else {
            Parts parts;
            if (op == Op::pow) {
                multiply_symbolic(parts, close(a), close(b));
            } else {
                to_product(a, Rational(1), parts);
                to_product(b, Rational(op == Op::mul ? 1 : -1), parts);
            }
            a = {Open::product, no_term, {}, std::move(parts)};
        }
        return;
    }
    Value& a = stack.back();
    const OpInfo& row = info(op);
    if (op == Op::neg) {
        scale(a, Rational(-1));
    } else if (row.form == Form::scale) {
        scale(a, Rational(row.literal));
    } else if (row.form == Form::quotient) {
        scale(a, Rational::of(1, row.literal));
    } else if (op == Op::inv || row.form == Form::power || row.has(role::root)) {
        const Rational exponent =
            op == Op::inv ? Rational(-1)
                          : (row.form == Form::power ? Rational(row.literal) : Rational::of(1, row.literal));
        Parts parts;
        to_product(a, exponent, parts);
        a = {Open::product, no_term, {}, std::move(parts)};
    } else if (op == Op::exp) {
        Parts parts;
        multiply_exponential(parts, close(a));
        a = {Open::product, no_term, {}, std::move(parts)};
    } else {
        a = {Open::closed, function(op, close(a)), {}, {}};
    }
}

// ---- settled terms

TermId Canonicalizer::recalled(TermId id) const {
    const int mode = options_.keep ? 2 : 1;
    return (arena_[id].settled & mode) != 0 ? id : no_term;
}

void Canonicalizer::settle(TermId id) {
    if (took_logarithm_) return;
    arena_.edit(id).settled |= static_cast<std::uint8_t>(options_.keep ? 2 : 1);
}

// ---- analysis

int Canonicalizer::leading_sign(TermId id) const {
    const TermNode& node = arena_[id];
    if (node.kind == Kind::number) return node.value.sign() < 0 ? -1 : 1;
    if (node.kind == Kind::sum)
        for (const Entry& entry : arena_.entries(id))
            if (!entry.is_free()) return entry.ratio.sign() < 0 ? -1 : 1;
    return node.kind == Kind::symbol && node.op == Op::neg_inf ? -1 : 1;
}

// ---- definitions of constants

void Canonicalizer::note(const char* event) {
    if (options_.track && (events_.empty() || events_.back() != event)) events_.emplace_back(event);
}

std::vector<Node> Canonicalizer::definition_of(TermId id) {
    std::vector<Node> out;
    if (!options_.track) return out;
    speller_.emit(id, Speller::Mode::plain, out,
                  [this](const TermNode& node, const Rational& ratio, std::vector<Node>& to) {
                      const std::vector<Node>& inner = definition(node.payload);
                      to.insert(to.end(), inner.begin(), inner.end());
                      multiply_definition(to, ratio);
                  });
    return out;
}

void multiply_definition(std::vector<Node>& definition, const Rational& ratio) {
    if (ratio.is_one()) return;
    emit_number(ratio, definition);
    definition.push_back(Node::of(Op::mul));
}

// Appends "times term^exponent" to the postfix of a constant's definition.
void Canonicalizer::multiply_definition_by(std::vector<Node>& definition, const Entry& power) {
    if (power.is_free()) {
        append(definition, definition_of(power.term));
        append(definition, definition_of(power.other));
        definition.push_back(Node::of(Op::pow));
    } else {
        append(definition, define_power(power.term, power.ratio));
    }
    definition.push_back(Node::of(Op::mul));
}

// The constant that stands for ratio times this one.
TermId Canonicalizer::scaled_constant(TermId constant, const Rational& ratio) {
    if (!options_.track || ratio.is_one()) return constant;
    std::vector<Node> scaled = definition_of(constant);
    multiply_definition(scaled, ratio);
    return new_constant(std::move(scaled));
}

std::vector<Node> Canonicalizer::define_sum(const Scratch<Entry>& entries) {
    std::vector<Node> out;
    if (!options_.track) return out;
    for (const Entry& entry : entries) {
        const bool first = out.empty();
        append(out, definition_of(entry.term));
        append(out, definition_of(entry.is_free() ? entry.other : number(entry.ratio)));
        out.push_back(Node::of(Op::mul));
        if (!first) out.push_back(Node::of(Op::add));
    }
    return out;
}

// 0^|c|: 1 where the constant is 0, else 0.
std::vector<Node> Canonicalizer::define_is_zero(TermId constant) {
    std::vector<Node> out = {Node::number({0, 0})};
    append(out, definition_of(constant));
    out.push_back(Node::of(Op::abs));
    out.push_back(Node::of(Op::pow));
    return out;
}

// b^(u + c) is b^c * b^u, but 0^(u + c) is 0 * 1^u unless c is 0 too. 1 where the base has to be replaced by 1, else 0.
std::vector<Node> Canonicalizer::define_moves_zero(TermId base, TermId shift) {
    std::vector<Node> out = define_is_zero(base);
    multiply_by_complement(out, define_is_zero(shift));
    return out;
}

std::vector<Node> Canonicalizer::define_base(TermId base, TermId shift) {
    std::vector<Node> out = definition_of(base);
    append(out, define_moves_zero(base, shift));
    out.push_back(Node::of(Op::add));
    return out;
}

std::vector<Node> Canonicalizer::define_shifted_power(TermId base, TermId shift) {
    std::vector<Node> out;
    if (!options_.track) return out;
    out = define_base(base, shift);
    append(out, definition_of(shift));
    out.push_back(Node::of(Op::pow));
    multiply_by_complement(out, define_moves_zero(base, shift));
    return out;
}

std::vector<Node> Canonicalizer::define_power(TermId base, const Rational& exponent) {
    std::vector<Node> out = definition_of(base);
    if (!options_.track || exponent.is_one()) return out;
    Parts parts;
    const TermId placeholder = variable(1);
    parts.factors.push_back({placeholder, no_term, exponent});
    std::vector<Node> power;
    const auto no_constants = [](const TermNode&, const Rational&, std::vector<Node>&) {};
    speller_.emit(make_product(parts.factors), Speller::Mode::plain, power, no_constants);
    power.erase(power.begin());  // the base stands first in postfix order
    out.insert(out.end(), power.begin(), power.end());
    return out;
}

}  // namespace simplipy
