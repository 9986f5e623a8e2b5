#include "emit.hpp"

#include "tokens.hpp"

namespace simplipy {
namespace spelling {
namespace {

void emit_literal(Output& out, const Rational& value, Mode mode) {
    if (mode != Mode::inverse) {
        emit_number(mode == Mode::negative ? -value : value, out.nodes);
    } else if (!value.is_zero() && number_tokens(reciprocal(value)) <= number_tokens(value) + 1) {
        emit_number(reciprocal(value), out.nodes);
    } else {
        emit_number(value, out.nodes);
        out.op(Op::inv);
    }
}

void emit_atom(Output& out, const TermNode& node, Mode mode) {
    if (node.kind == Kind::variable) {
        out.nodes.push_back(Node::variable(node.payload));
    } else if (node.kind == Kind::opaque) {
        out.nodes.push_back(Node::number({node.payload, node.exponent}));
    } else if (mode == Mode::negative && (node.op == Op::inf || node.op == Op::neg_inf)) {
        out.op(node.op == Op::inf ? Op::neg_inf : Op::inf);
        return;
    } else {
        out.op(node.op);
        if (node.op == Op::nan) return;
    }
    if (mode == Mode::negative) out.op(Op::neg);
    if (mode == Mode::inverse) out.op(Op::inv);
}

void emit_function(Output& out, const TermNode& node, Mode mode) {
    const Cost& inner = out[node.argument].cost;
    const Parity parity = info(node.op).parity;
    if (mode == Mode::inverse) {
        emit_function(out, node, Mode::plain);
        out.op(Op::inv);
    } else if (parity == Parity::odd) {
        const bool direct = mode == Mode::plain ? inner.plain <= 1 + inner.negative : inner.negative <= 1 + inner.plain;
        emit_signed(out, node.argument, (mode == Mode::negative) == direct);
        out.op(node.op);
        if (!direct) out.op(Op::neg);
    } else if (mode == Mode::negative && node.op == Op::log && inner.inverse < inner.plain + 1) {
        emit_term(out, node.argument, Mode::inverse);
        out.op(Op::log);
    } else {
        emit_signed(out, node.argument, parity == Parity::even && inner.negative < inner.plain);
        out.op(node.op);
        if (mode == Mode::negative) out.op(Op::neg);
    }
}

// max(a, b) is -min(-a, -b).
void emit_extremum(Output& out, const TermNode& node, Mode mode) {
    if (mode == Mode::inverse) {
        emit_extremum(out, node, Mode::plain);
        out.op(Op::inv);
        return;
    }
    const std::span<const Entry> entries = out.speller.entries(node);
    int plain = 0;
    int negative = 0;
    for (const Entry& entry : entries) {
        plain += out[entry.term].cost.plain;
        negative += out[entry.term].cost.negative;
    }
    const bool wants_minus = mode == Mode::negative;
    const bool turned = wants_minus ? negative <= 1 + plain : 1 + negative < plain;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        emit_signed(out, entries[i].term, turned);
        if (i > 0) out.op(turned ? opposite_extremum(node.op) : node.op);
    }
    if (turned != wants_minus) out.op(Op::neg);
}

}  // namespace

void emit_term(Output& out, TermId id, Mode mode) {
    const TermNode& node = out[id];
    switch (node.kind) {
        case Kind::number:
            emit_literal(out, node.value, mode);
            break;
        case Kind::constant:
            out.write(node, mode == Mode::negative ? Rational(-1) : Rational(1), out.nodes);
            if (mode == Mode::inverse) out.op(Op::inv);
            break;
        case Kind::sum:
            emit_sum(out, id, mode);
            break;
        case Kind::product:
            emit_product(out, id, mode);
            break;
        case Kind::function:
            emit_function(out, node, mode);
            break;
        case Kind::extremum:
            emit_extremum(out, node, mode);
            break;
        default:
            emit_atom(out, node, mode);
            break;
    }
}

void emit_signed(Output& out, TermId id, bool negative) { emit_term(out, id, negative ? Mode::negative : Mode::plain); }

void emit_cheaper(Output& out, TermId id) { emit_signed(out, id, out[id].cost.negative < out[id].cost.plain); }

}  // namespace spelling

void Speller::emit(TermId id, Mode mode, std::vector<Node>& out, WriteConstant write) const {
    spelling::Output output{*this, write, out};
    spelling::emit_term(output, id, mode);
}

}  // namespace simplipy
