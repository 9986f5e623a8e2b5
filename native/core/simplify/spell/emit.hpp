// Writes spellings in postfix order, by the plans that costs were counted with.
//
// The parts call each other: a sum's entries may be products (emit_product.cpp), a product's factors sums
// (emit_sum.cpp). Where two spellings are equally long, the one that was counted is written.
#pragma once

#include <span>
#include <vector>

#include "absorption.hpp"
#include "spell.hpp"

namespace simplipy::spelling {

using Mode = Speller::Mode;

// Where the spelling goes.
struct Output {
    const Speller& speller;
    Speller::WriteConstant write;
    std::vector<Node>& nodes;

    const TermNode& operator[](TermId id) const { return speller[id]; }
    void op(Op o) { nodes.push_back(Node::of(o)); }
};

void emit_term(Output& out, TermId id, Mode mode);

// Plain or negative.
void emit_signed(Output& out, TermId id, bool negative);

// At the sign that is cheaper.
void emit_cheaper(Output& out, TermId id);

void emit_sum(Output& out, TermId id, Mode mode);

// factor * sum of the entries, the factor multiplied into them.
void emit_scaled_sum(Output& out, std::span<const Entry> entries, const Rational& factor, bool negative);

// Multiplies what was written last by k > 0.
void emit_scale(Output& out, const Rational& k);

// Writes a number or constant that a reciprocal takes as its numerator.
using Leaf = FunctionRef<void()>;

// `numerator` stands in front, `absorbed` is a coefficient that goes inside.
void emit_product(Output& out, TermId id, Mode mode, const Leaf* numerator = nullptr, const Absorption& absorbed = {});

}  // namespace simplipy::spelling
