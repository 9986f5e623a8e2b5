#include "join.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace simplipy {
namespace {

// Relative differences that rounding explains. Saturation hides more: tanh(sinh(3)) is 1 to ten digits.
constexpr double small_tolerance = 1e-9;
constexpr double mild_tolerance = 1e-6;
constexpr double extreme_tolerance = 1e-3;

double tolerance(int row) {
    if ((small_rows >> row & 1U) != 0) return small_tolerance;
    return (mild_rows >> row & 1U) != 0 ? mild_tolerance : extreme_tolerance;
}

// A cell of the join holds values that share their leading bits; rounding moves a value by less than `slack`.
constexpr int cell_bits = 24;
constexpr std::uint64_t slack = std::uint64_t{1} << 20;
// Rows that a family must meet beyond those that determine its members.
constexpr int min_free_rows = 4;

std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

std::uint64_t cell(double value, int row, std::uint64_t offset) {
    const std::uint64_t bits =
        std::fabs(value) < rounded_zero ? 0 : (std::bit_cast<std::uint64_t>(value) + offset) >> cell_bits;
    return mix(bits * 37 + static_cast<std::uint64_t>(row));
}

bool agree(double a, double b, double tolerance) {
    const double size = std::max(std::fabs(a), std::fabs(b));
    return std::fabs(a - b) <= tolerance * size || size < rounded_zero;
}

// Whether b has a's values wherever a is finite; extreme rows count where both are finite.
bool same_rows(const double* a, RowMask a_usable, const double* b, RowMask b_usable) {
    if ((a_usable & mild_rows & ~b_usable) != 0) return false;
    for (RowMask rows = a_usable & b_usable; rows != 0; rows &= rows - 1) {
        const int row = std::countr_zero(rows);
        if (!agree(a[row], b[row], tolerance(row))) return false;
    }
    return true;
}

bool occurs_no_more(std::uint32_t replacement, std::uint32_t pattern) {
    for (int shift = 0; shift < 32; shift += 8)
        if ((replacement >> shift & 0xffU) > (pattern >> shift & 0xffU)) return false;
    return true;
}

struct FamilyForm {
    Op op;
    bool constant_first;
};

constexpr FamilyForm forms[] = {{Op::add, true}, {Op::sub, true}, {Op::mul, true},
                                {Op::div, true}, {Op::pow, true}, {Op::pow, false}};

// The constant with which the form takes the value v at g; NaN where there is none.
double member_through(const FamilyForm& form, double g, double v) {
    switch (form.op) {
        case Op::add:
            return v - g;
        case Op::sub:
            return v + g;
        case Op::mul:
            return v / g;
        case Op::div:
            return v * g;
        default:
            break;
    }
    return form.constant_first ? std::exp(std::log(v) / g) : std::log(v) / std::log(g);
}

// The form's value with the constant c, as the language has it: a power needs a base that is not negative.
double value_of(const FamilyForm& form, double g, double c) {
    switch (form.op) {
        case Op::add:
            return c + g;
        case Op::sub:
            return c - g;
        case Op::mul:
            return c * g;
        case Op::div:
            return c / g;
        default:
            break;
    }
    return form.constant_first ? std::pow(c, g) : std::pow(g, c);
}

// Whether every draw has a member of the family; `value(row, constant)` and `through(row)` are the family's.
template <class Through, class Value>
bool meets_every_draw(const MineTarget& target, const Through& through, const Value& value) {
    int n_free = 0;
    int n_draws = 0;
    for (std::size_t draw = 0; draw < mine_draws; ++draw) {
        const RowMask rows = target.usable & mild_rows & (RowMask{0xff} << (draw * rows_per_draw));
        if (rows == 0) continue;
        const int first = std::countr_zero(rows);
        const double constant = through(first);
        if (!std::isfinite(constant)) return false;
        for (RowMask rest = rows & (rows - 1); rest != 0; rest &= rest - 1) {
            const int row = std::countr_zero(rest);
            const double there = value(row, constant);
            if (!std::isfinite(there) || !agree(target.values[row], there, tolerance(row))) return false;
            ++n_free;
        }
        ++n_draws;
    }
    return n_free >= min_free_rows && n_draws >= 2;
}

}  // namespace

void ReplacementTable::build(const TermBank& bank, int max_length) {
    std::vector<Slot> slots;
    for (VersionId id = 0; id < bank.n_versions(); ++id) {
        const MineTerm& term = bank.term_of(id);
        if (term.length > max_length || term.n_constants > 0) continue;
        const double* values = bank.values(id);
        for (RowMask rows = bank.version(id).usable & mild_rows; rows != 0; rows &= rows - 1) {
            const int row = std::countr_zero(rows);
            slots.push_back({cell(values[row], row, 0), id});
        }
    }
    const std::size_t n_buckets = std::bit_ceil(slots.size() + 1);
    mask_ = n_buckets - 1;
    starts_.assign(n_buckets + 1, 0);
    for (const Slot& slot : slots) ++starts_[(slot.key & mask_) + 1];
    for (std::size_t i = 0; i < n_buckets; ++i) starts_[i + 1] += starts_[i];
    std::vector<std::uint32_t> next(starts_.begin(), starts_.end() - 1);
    slots_.resize(slots.size());
    for (const Slot& slot : slots) slots_[next[slot.key & mask_]++] = slot;
}

std::optional<VersionId> ReplacementTable::find(const TermBank& bank, const MineTarget& target) const {
    const int row = std::countr_zero(target.usable & mild_rows);
    std::optional<VersionId> best;
    if (starts_.empty() || row >= static_cast<int>(mine_rows)) return best;
    const double value = target.values[row];
    const std::uint64_t below = cell(value, row, 0 - slack);
    const std::uint64_t above = cell(value, row, slack);
    find_in_cell(bank, target, below, best);
    if (above != below) find_in_cell(bank, target, above, best);
    return best;
}

void ReplacementTable::find_in_cell(const TermBank& bank, const MineTarget& target, std::uint64_t key,
                                    std::optional<VersionId>& best) const {
    for (std::uint32_t i = starts_[key & mask_]; i < starts_[(key & mask_) + 1]; ++i) {
        if (slots_[i].key != key) continue;
        const VersionId id = slots_[i].version;
        const Version& version = bank.version(id);
        // ids grow with length: the first is the shortest
        if (bank.term_of(id).length >= target.length || (best && *best <= id)) continue;
        if (!occurs_no_more(version.occurrences, target.occurrences)) continue;
        if (same_rows(target.values, target.usable, bank.values(id), version.usable)) best = id;
    }
}

void Family::write(const TermBank& bank, std::vector<Node>& out) const {
    if (op != Op::constant && !constant_first) bank.write(term, out);
    out.push_back(Node::of(Op::constant));
    if (op == Op::constant) return;
    if (constant_first) bank.write(term, out);
    out.push_back(Node::of(op));
}

std::optional<Family> find_family(const TermBank& bank, const MineTarget& target, std::span<const VersionId> terms,
                                  int max_length) {
    const auto constant_at = [&](int row) { return target.values[row]; };
    if (meets_every_draw(target, constant_at, [](int, double constant) { return constant; })) return Family{};
    for (const VersionId id : terms) {
        if (bank.term_of(id).length + 2 > std::min(max_length, target.length - 1)) break;
        if (!occurs_no_more(bank.version(id).occurrences, target.occurrences)) continue;
        const double* g = bank.values(id);
        for (const FamilyForm& form : forms) {
            const auto through = [&](int row) { return member_through(form, g[row], target.values[row]); };
            const auto value = [&](int row, double constant) { return value_of(form, g[row], constant); };
            if (meets_every_draw(target, through, value)) return Family{form.op, form.constant_first, id};
        }
    }
    return std::nullopt;
}

}  // namespace simplipy
