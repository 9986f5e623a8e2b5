// Short formulas in the order of their cost, each with its values on a few rows.
//
// A form is an operator over earlier forms; its values are computed from theirs, never from the leaves. Two forms with
// the same values are one, the cheaper. Cost is a sum over tokens, in whole units: each operator has a cost of its own,
// at least 1, and each operand adds what it costs that its token stands there, at least 0. So a form costs more than
// its operands, and all forms of one cost are made from the lists of lower costs, which are kept by the token on top.
// Every form of the operators comes in the end, unless room ends before. The order depends on the columns and costs
// alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/expression/ops.hpp"

namespace flash_ansr {

struct FormCosts {
    using ByToken = std::array<int, simplipy::max_symbols>;

    ByToken operators{};  // 0 where an operator may not occur
    // By operator, operand and the token on top of the operand; alike for both operands of what may change places.
    std::array<std::array<ByToken, 2>, simplipy::max_symbols> operands{};
    int variable = 2;
    int one = 3;  // the number 1; 0 for none
};

enum class Join : std::uint8_t { sum, product, quotient };

// target = first + (c0 + c1*second), first * (c0 + c1*second), or (c0 + c1*second) / first.
struct FormJoin {
    Join join;
    std::uint32_t first;
    std::uint32_t second;
};

class Forms {
  public:
    // `columns` has n_columns * n_rows values, column by column; n_rows must be a multiple of 8.
    Forms(std::span<const double> columns, std::size_t n_rows, const FormCosts& costs, std::size_t max_forms);

    // Makes all forms of the next costs until there are `n` or no room is left, or the seconds are over.
    void grow(std::size_t n, double seconds);

    std::size_t size() const { return nodes_.size(); }
    bool full() const { return nodes_.size() >= max_forms_; }
    int cost(std::size_t form) const { return nodes_[form].cost; }

    // Prefix ids: operators by their ids, variable k as first_variable + k, the number 1 as -1.
    std::vector<std::int16_t> prefix(std::size_t form, std::int16_t first_variable) const;

    // The forms with the lowest log10(1 - r2) + price*cost, best first; rows weigh by weight^2.
    std::vector<std::uint32_t> best(std::span<const double> target, std::span<const double> weight, double price,
                                    std::size_t n_best) const;

    // Joins of one of the first `n_first` forms with any other that meet the target up to rounding, at most `n_best`.
    std::vector<FormJoin> meet(std::span<const double> target, std::size_t n_first, std::size_t n_best);

  private:
    struct Node {
        simplipy::Op op;
        std::uint16_t variable;
        std::uint32_t left, right;
        std::int32_t cost;
    };

    const double* values(std::size_t form) const { return values_.data() + form * n_rows_; }
    using Level = std::vector<std::uint32_t>;

    Level& level(simplipy::Op top, int cost);
    // Forms of a cost that is complete: it stays where it is while others are made.
    std::span<const std::uint32_t> made(simplipy::Op top, int cost) const;
    void make_cost(int cost);
    void make_binary(const simplipy::OpInfo& row, simplipy::Op left_top, simplipy::Op right_top, int cost);
    void unary(simplipy::Op op, std::uint32_t operand, int cost);
    void binary(simplipy::Op op, std::uint32_t left, std::uint32_t right, int cost);
    void add(const Node& node);
    bool known(std::uint64_t key) const;
    double projection(std::span<const double> row) const;
    void index_forms();
    bool matches(std::span<const double> row, std::span<const double> sizes, std::uint32_t form) const;

    std::size_t n_rows_;
    FormCosts costs_;
    std::size_t max_forms_;
    std::size_t n_columns_;
    int next_cost_ = 1;
    std::vector<Node> nodes_;
    std::vector<double> values_;
    std::vector<double> trial_;
    std::vector<double> directions_;                                // random numbers that rows are projected on
    std::array<std::vector<Level>, simplipy::max_symbols> levels_;  // forms by the token on top and cost
    std::vector<simplipy::Op> tops_;                                // tokens that may be on top
    std::unordered_map<std::uint64_t, std::uint32_t> seen_;
    std::vector<std::pair<double, std::uint32_t>> sorted_;  // projections of the normalised values
    std::size_t n_sorted_ = 0;
};

}  // namespace flash_ansr
