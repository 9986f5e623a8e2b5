// The table of elementwise kernels: a row an operator.
//
// Compiled once for each instruction set with SIMPLIPY_ISA naming it. Only C headers and internal functions here: an
// inline function shared with other files would be emitted with these instructions and could run on an older CPU.

#include "core/evaluate/kernels.hpp"
#include "core/evaluate/kernels/adjoints.hpp"
#include "core/evaluate/kernels/loops.hpp"
#include "core/evaluate/kernels/values.hpp"

namespace simplipy::SIMPLIPY_ISA {
namespace {

#define SIMPLIPY_STRING(x) #x
#define SIMPLIPY_NAME(x) SIMPLIPY_STRING(x)

struct BinaryKernels {
    BinaryKernel values[n_shapes];
    BinaryAdjoint left[n_shapes];
    BinaryAdjoint right[n_shapes];
};

template <class Da, class Db>
constexpr BinaryKernels with_adjoints(BinaryKernel both, BinaryKernel left, BinaryKernel right) {
    return {{both, left, right},
            {block_block_adjoint<Da>, block_number_adjoint<Da>, number_block_adjoint<Da>},
            {block_block_adjoint<Db>, block_number_adjoint<Db>, number_block_adjoint<Db>}};
}

template <class F, class Da, class Db>
constexpr BinaryKernels elementwise() {
    return with_adjoints<Da, Db>(block_block<F>, block_number<F>, number_block<F>);
}

// One row an operator: its value, and the adjoints of its operands.
constexpr Kernels all_kernels() {
    Kernels k{SIMPLIPY_NAME(SIMPLIPY_ISA), load<double>, load<float>, {}, {}, {}, {}, {}};
    const auto unary_row = [&k](Op op, UnaryKernel value, UnaryAdjoint adjoint) {
        k.unary[static_cast<std::size_t>(op)] = value;
        k.unary_adjoint[static_cast<std::size_t>(op)] = adjoint;
    };
    const auto binary_row = [&k](Op op, const BinaryKernels& row) {
        for (std::size_t shape = 0; shape < n_shapes; ++shape) {
            k.binary[static_cast<std::size_t>(op)][shape] = row.values[shape];
            k.left_adjoint[static_cast<std::size_t>(op)][shape] = row.left[shape];
            k.right_adjoint[static_cast<std::size_t>(op)][shape] = row.right[shape];
        }
    };
    binary_row(Op::add, elementwise<Add, One, One>());
    binary_row(Op::sub, elementwise<Sub, One, MinusOne>());
    binary_row(Op::mul, elementwise<Mul, Right, Left>());
    binary_row(Op::div, elementwise<Quotient, QuotientDa, QuotientDb>());
    binary_row(Op::pow, with_adjoints<PowDa, PowDb>(power<1, 1>, power<1, 0>, power<0, 1>));
    unary_row(Op::abs, unary<Abs>, unary_adjoint<AbsD>);
    unary_row(Op::inv, unary<Inv>, unary_adjoint<InvD>);
    unary_row(Op::neg, unary<Neg>, unary_adjoint<NegD>);
    unary_row(Op::pow2, unary<Pow2>, unary_adjoint<Pow2D>);
    unary_row(Op::pow3, unary<Pow3>, unary_adjoint<Pow3D>);
    unary_row(Op::pow4, unary<Pow4>, unary_adjoint<Pow4D>);
    unary_row(Op::pow5, unary<Pow5>, unary_adjoint<Pow5D>);
    unary_row(Op::root2, unary<Root2>, unary_adjoint<Root2D>);
    unary_row(Op::root3, unary<Root3>, unary_adjoint<Root3D>);
    unary_row(Op::root4, unary<Root4>, unary_adjoint<Root4D>);
    unary_row(Op::root5, unary<Root5>, unary_adjoint<Root5D>);
    unary_row(Op::sin, periodic<Sin>, unary_adjoint<SinD>);
    unary_row(Op::cos, periodic<Cos>, unary_adjoint<CosD>);
    unary_row(Op::tan, guarded<Tan>, unary_adjoint<TanD>);
    unary_row(Op::asin, guarded<Asin>, unary_adjoint<AsinD>);
    unary_row(Op::acos, guarded<Acos>, unary_adjoint<AcosD>);
    unary_row(Op::atan, unary<Atan>, unary_adjoint<AtanD>);
    unary_row(Op::sinh, guarded<Sinh>, unary_adjoint<SinhD>);
    unary_row(Op::cosh, guarded<Cosh>, unary_adjoint<CoshD>);
    unary_row(Op::tanh, unary<Tanh>, unary_adjoint<TanhD>);
    unary_row(Op::asinh, unary<Asinh>, unary_adjoint<AsinhD>);
    unary_row(Op::acosh, guarded<Acosh>, unary_adjoint<AcoshD>);
    unary_row(Op::atanh, guarded<Atanh>, unary_adjoint<AtanhD>);
    unary_row(Op::exp, guarded<Exp>, unary_adjoint<ExpD>);
    unary_row(Op::log, guarded<Log>, unary_adjoint<LogD>);
    unary_row(Op::mult2, unary<Mult<2>>, unary_adjoint<MultD<2>>);
    unary_row(Op::mult3, unary<Mult<3>>, unary_adjoint<MultD<3>>);
    unary_row(Op::mult4, unary<Mult<4>>, unary_adjoint<MultD<4>>);
    unary_row(Op::mult5, unary<Mult<5>>, unary_adjoint<MultD<5>>);
    unary_row(Op::div2, unary<Div<2>>, unary_adjoint<DivD<2>>);
    unary_row(Op::div3, unary<Div<3>>, unary_adjoint<DivD<3>>);
    unary_row(Op::div4, unary<Div<4>>, unary_adjoint<DivD<4>>);
    unary_row(Op::div5, unary<Div<5>>, unary_adjoint<DivD<5>>);
    unary_row(Op::erf, unary<Erf>, unary_adjoint<ErfD>);
    binary_row(Op::min, elementwise<Min, Below, Above>());
    binary_row(Op::max, elementwise<Max, Above, Below>());
    return k;
}

}  // namespace

extern constexpr Kernels kernels = all_kernels();

}  // namespace simplipy::SIMPLIPY_ISA
