#include "ops.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

namespace simplipy {
namespace {

constexpr std::pair<Op, std::string_view> fixed_leaves[] = {
    {Op::constant, "<constant>"}, {Op::pi, "pi"},  {Op::e, "e"}, {Op::inf, "inf"},
    {Op::neg_inf, "-inf"},        {Op::nan, "nan"}};

// By id; free ids have an empty row.
constexpr auto rows_by_id = [] {
    std::array<OpInfo, max_symbols> rows{};
    for (const OpInfo& row : operator_table) rows[index(row.op)] = row;
    return rows;
}();

constexpr auto tokens_by_id = [] {
    std::array<std::string_view, max_symbols> tokens{};
    for (const OpInfo& row : operator_table) tokens[index(row.op)] = row.token;
    for (const auto& [op, token] : fixed_leaves) tokens[index(op)] = token;
    return tokens;
}();

constexpr int max_literal = 5;
constexpr auto siblings_by_id = [] {
    std::array<std::array<Op, max_literal + 1>, max_symbols> siblings{};
    for (auto& row : siblings) row.fill(Op::nan);
    for (const OpInfo& a : operator_table)
        for (const OpInfo& b : operator_table)
            if (a.form == b.form && a.roles == b.roles && a.literal > 0 && b.literal > 0)
                siblings[index(a.op)][static_cast<std::size_t>(b.literal)] = b.op;
    return siblings;
}();

static_assert([] {  // an id belongs to one operator, and to no leaf
    std::uint64_t taken = 0;
    for (std::size_t id = index(Op::constant); id <= index(Op::variable); ++id) taken |= std::uint64_t{1} << id;
    for (const OpInfo& row : operator_table) {
        if (index(row.op) >= max_symbols || (taken >> index(row.op) & 1U) != 0) return false;
        taken |= std::uint64_t{1} << index(row.op);
    }
    return true;
}());

using Names = std::unordered_map<std::string_view, Op>;

// Where the search for a token starts in the table of symbols.
constexpr std::size_t symbol_place(std::string_view token) {
    const auto letter = [token](std::size_t i) {
        return static_cast<std::size_t>(static_cast<unsigned char>(token[i]));
    };
    return letter(0) + 37 * letter(token.size() / 2) + 11 * letter(token.size() - 1) + 71 * token.size();
}

const Names& call_names() {
    static const Names names = [] {
        Names map;
        for (const OpInfo& row : operator_table) {
            if (row.call.empty()) continue;
            map.emplace(row.call, row.op);
            map.emplace(row.token, row.op);
        }
        return map;
    }();
    return names;
}

// Swapped neighbours cost 1, a letter too many or too few 2, a wrong letter 3: "tahn" is tanh, "sinn" is sin.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) {
        for (std::size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                d[i][j] = 2 * (i + j);
                continue;
            }
            const std::size_t wrong = a[i - 1] == b[j - 1] ? 0 : 3;
            d[i][j] = std::min({d[i - 1][j] + 2, d[i][j - 1] + 2, d[i - 1][j - 1] + wrong});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
        }
    }
    return d[a.size()][b.size()];
}

}  // namespace

const OpInfo& info(Op op) { return rows_by_id[index(op)]; }

std::string_view symbol_token(Op op) { return index(op) < max_symbols ? tokens_by_id[index(op)] : ""; }

std::optional<Op> find_symbol(std::string_view token) {
    constexpr std::size_t mask = 255;  // open addressing
    static const auto places = [] {
        std::array<std::uint8_t, mask + 1> by_place{};
        for (std::size_t i = 0; i < max_symbols; ++i) {
            if (tokens_by_id[i].empty()) continue;
            std::size_t place = symbol_place(symbol_token(static_cast<Op>(i))) & mask;
            while (by_place[place] != 0) place = (place + 1) & mask;
            by_place[place] = static_cast<std::uint8_t>(i + 1);
        }
        return by_place;
    }();
    if (token.empty()) return std::nullopt;
    for (std::size_t place = symbol_place(token) & mask; places[place] != 0; place = (place + 1) & mask) {
        const auto op = static_cast<Op>(places[place] - 1);
        if (symbol_token(op) == token) return op;
    }
    return std::nullopt;
}

std::optional<Op> find_call(std::string_view name) {
    const auto found = call_names().find(name);
    return found == call_names().end() ? std::nullopt : std::optional(found->second);
}

std::string_view nearest_name(std::string_view name) {
    if (name.size() > 32) return "";
    std::string_view best;
    std::size_t best_distance = name.size() + 3;  // further away it is another word
    for (const OpInfo& row : operator_table) {
        for (const std::string_view candidate : {row.call, row.token}) {
            const std::size_t distance = candidate.empty() ? best_distance : edit_distance(name, candidate);
            if (distance < best_distance) {
                best = candidate;
                best_distance = distance;
            }
        }
    }
    return best;
}

std::optional<Op> sibling(Op op, int literal) {
    if (literal < 1 || literal > max_literal) return std::nullopt;
    const Op found = siblings_by_id[index(op)][static_cast<std::size_t>(literal)];
    return is_operator(found) ? std::optional(found) : std::nullopt;
}

}  // namespace simplipy
