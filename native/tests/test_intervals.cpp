#include <cmath>
#include <random>

#include "check.hpp"
#include "core/evaluate/intervals/boxes.hpp"
#include "core/evaluate/intervals/proof.hpp"
#include "core/evaluate/intervals/rounding.hpp"
#include "core/expression/infix.hpp"
#include "random_tree.hpp"

using namespace simplipy;

namespace {

Finding proved_on_box(const Tree& tree, const std::vector<double>& low, const std::vector<double>& high) {
    const Job job = make_job(tree, {}, low.size(), nullptr);
    return prove_on_box({&job, 1}, low, high, {-infinite, infinite, 500}, 1)[0];
}

}  // namespace

TEST(directed_rounding_keeps_exact_results) {
    CHECK(add_down(0.5, 0.25) == 0.75 && add_up(0.5, 0.25) == 0.75);
    CHECK(add_down(1.0, 1e-30) == 1.0 && add_up(1.0, 1e-30) > 1.0);
    CHECK(add_down(1.0, -1e-30) < 1.0 && add_up(1.0, -1e-30) == 1.0);
    CHECK(multiply_down(1.5, 2.0) == 3.0 && multiply_up(1.5, 2.0) == 3.0);
    CHECK(multiply_down(0.1, 0.1) < multiply_up(0.1, 0.1));
    CHECK(multiply_down(1e-200, 1e-200) == 0.0 && multiply_up(1e-200, 1e-200) == smallest);
    CHECK(multiply_down(1e200, 1e200) == largest && multiply_up(1e200, 1e200) == infinite);
    CHECK(divide_down(1.0, 4.0) == 0.25 && divide_up(1.0, 4.0) == 0.25);
    CHECK(divide_down(1.0, 3.0) < divide_up(1.0, 3.0));
    CHECK(next_down(0.0) == -smallest && next_down(1.0) < 1.0 && next_down(-1.0) < -1.0);
}

TEST(proofs_and_evaluation_agree) {
    std::mt19937_64 random(11);
    int n_proved = 0, n_disproved = 0;
    for (int i = 0; i < 2000; ++i) {
        Tree tree = named_as_columns(random_tree(random, 1 + static_cast<int>(random() % 8)));
        tree = with_constants(tree, std::vector<double>(count(tree, Op::constant), 0.7));
        std::vector<double> low(3), high(3);
        for (std::size_t k = 0; k < 3; ++k) {
            low[k] = std::uniform_real_distribution<>(-2, 2)(random);
            high[k] = low[k] + std::uniform_real_distribution<>(0, 2)(random);
        }
        const Finding found = proved_on_box(tree, low, high);
        n_proved += found.proof == Proof::proved;
        n_disproved += found.proof == Proof::disproved;
        std::vector<double> row(3), value(1);
        const Job job = make_job(tree, {}, 3, nullptr);
        for (int k = 0; k < 20; ++k) {
            for (std::size_t j = 0; j < 3; ++j) row[j] = std::uniform_real_distribution<>(low[j], high[j])(random);
            evaluate(job, {row.data(), false, 1, 3, 3, 1}, {value.data(), false});
            CHECK(found.proof != Proof::proved || std::isfinite(value[0]));
            CHECK(std::isnan(value[0]) || (found.low <= value[0] && value[0] <= found.high));
        }
    }
    CHECK(n_proved > 500);
    CHECK(n_disproved > 300);
}

TEST(sides_of_poles) {
    const Tree tree = parse_infix("1/(x1^2*abs(x2 - 1))");
    TreeOnBoxes boxes(tree);
    const std::vector<double> low = {-2.0, 3.0}, high = {-1.0, 4.0};
    boxes.run({low, high});
    CHECK(boxes.n_poles() == 5);  // the product, x1^2, x1, abs and its operand
    double signs = 0.0;
    for (std::size_t pole = 0; pole < boxes.n_poles(); ++pole) signs += boxes.side(pole);
    CHECK(signs == 3.0);
}

TEST(formulas_without_variables) {
    CHECK(proved_on_box(parse_infix("2 + 3"), {}, {}).proof == Proof::proved);
    CHECK(proved_on_box(parse_infix("log(-1)"), {}, {}).proof == Proof::disproved);
    CHECK(proved_on_box(parse_infix("sqrt(0.1 + 0.2 - 0.3)"), {}, {}).proof == Proof::unknown);
}
