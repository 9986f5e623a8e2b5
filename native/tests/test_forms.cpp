#include <cmath>
#include <vector>

#include "ansr/enumerate/forms.hpp"
#include "check.hpp"
#include "core/expression/ops.hpp"

using namespace flash_ansr;
using simplipy::Op;

namespace {

constexpr std::size_t n_rows = 16;

FormCosts arithmetic() {
    FormCosts costs;
    for (const Op op : {Op::add, Op::sub, Op::mul, Op::div, Op::pow2, Op::root2})
        costs.operators[simplipy::index(op)] = 2;
    return costs;
}

std::vector<double> two_columns() {
    std::vector<double> columns;
    for (std::size_t i = 0; i < n_rows; ++i) columns.push_back(1.0 + 0.37 * static_cast<double>(i));
    for (std::size_t i = 0; i < n_rows; ++i) columns.push_back(0.5 + std::fmod(1.7 * static_cast<double>(i), 3.0));
    return columns;
}

}  // namespace

TEST(forms_come_in_the_order_of_cost_and_keep_within_their_limit) {
    Forms forms(two_columns(), n_rows, arithmetic(), 500);
    forms.grow(1000, 10.0);
    CHECK(forms.full());
    CHECK(forms.size() == 500);
    for (std::size_t i = 4; i < forms.size(); ++i) CHECK(forms.cost(i - 1) <= forms.cost(i));
}

TEST(a_form_is_found_whatever_its_factor_and_offset) {
    const std::vector<double> columns = two_columns();
    Forms forms(columns, n_rows, arithmetic(), 2000);
    forms.grow(2000, 10.0);
    std::vector<double> target, weight(n_rows, 1.0);
    for (std::size_t i = 0; i < n_rows; ++i) target.push_back(7.0 - 2.5 * std::sqrt(columns[i] / columns[n_rows + i]));
    const auto hits = forms.best(target, weight, 0.01, 3);
    CHECK(hits.size() == 3);
    const std::vector<std::int16_t> expected{static_cast<std::int16_t>(Op::root2), static_cast<std::int16_t>(Op::div),
                                             100, 101};
    CHECK(forms.prefix(hits[0], 100) == expected);
}

TEST(two_forms_meet_in_the_middle) {
    const std::vector<double> columns = two_columns();
    Forms forms(columns, n_rows, arithmetic(), 300);
    forms.grow(300, 10.0);
    std::vector<double> target;
    for (std::size_t i = 0; i < n_rows; ++i) {
        const double a = columns[i], b = columns[n_rows + i];
        target.push_back((a + b) * (3.0 + 2.0 * std::sqrt(a * b)));
    }
    const auto joins = forms.meet(target, 100, 8);
    CHECK(!joins.empty());
    for (const FormJoin& join : joins) CHECK(join.first < 100 && join.second < forms.size());
}

TEST(operands_cost_more_where_they_are_rare) {
    FormCosts costs = arithmetic();
    const std::size_t product = simplipy::index(Op::mul), root = simplipy::index(Op::root2);
    costs.operands[root][0][product] = 5;
    Forms forms(two_columns(), n_rows, costs, 4000);
    forms.grow(4000, 10.0);
    for (std::size_t i = 0; i < forms.size(); ++i) {
        const std::vector<std::int16_t> ids = forms.prefix(i, 100);
        int cost = 0;
        for (std::size_t k = 0; k < ids.size(); ++k) {
            cost += ids[k] == -1 ? 3 : 2;
            const bool is_rare = k > 0 && ids[k] == static_cast<std::int16_t>(Op::mul) &&
                                 ids[k - 1] == static_cast<std::int16_t>(Op::root2);
            cost += is_rare ? 5 : 0;
        }
        CHECK(forms.cost(i) == cost);
    }
}
