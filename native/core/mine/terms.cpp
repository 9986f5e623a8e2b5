#include "terms.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/evaluate/kernels.hpp"

namespace simplipy {
namespace {

std::size_t code_of(const Renaming& renaming, std::size_t n) {
    std::size_t code = 0;
    for (std::size_t k = 0; k < n; ++k) code |= static_cast<std::size_t>(renaming[k]) << (2 * k);
    return code;
}

// All ways to give n metavariables different names of n_names, in lexicographic order: their own names come first.
std::vector<Renaming> all_renamings(std::size_t n, std::uint8_t n_names) {
    std::vector<Renaming> found = {Renaming{}};
    for (std::size_t k = 0; k < n; ++k) {
        std::vector<Renaming> longer;
        for (const Renaming& renaming : found) {
            for (std::uint8_t name = 0; name < n_names; ++name) {
                const auto end = renaming.begin() + static_cast<std::ptrdiff_t>(k);
                if (std::find(renaming.begin(), end, name) != end) continue;
                longer.push_back(renaming);
                longer.back()[k] = name;
            }
        }
        found = std::move(longer);
    }
    return found;
}

bool in_order_after(const Renaming& renaming, int n, int before) {
    int next = before;
    for (int k = 0; k < n; ++k) {
        const int name = renaming[static_cast<std::size_t>(k)];
        if (name < before) continue;
        if (name != next) return false;
        ++next;
    }
    return true;
}

}  // namespace

TermBank::TermBank(int n_variables, int n_constants, std::uint64_t seed)
    : n_variables_(n_variables), n_constants_(n_constants), points_(seed) {
    for (std::size_t n = 0; n <= static_cast<std::size_t>(n_variables); ++n) {
        renamings_[n] = all_renamings(n, static_cast<std::uint8_t>(n_variables));
        for (std::size_t i = 0; i < renamings_[n].size(); ++i)
            renaming_index_[n][code_of(renamings_[n][i], n)] = static_cast<std::uint16_t>(i);
        for (int before = 0; before <= n_variables; ++before)
            for (std::size_t i = 0; i < renamings_[n].size(); ++i)
                if (in_order_after(renamings_[n][i], static_cast<int>(n), before))
                    followers_[static_cast<std::size_t>(before)][n].push_back(static_cast<std::uint16_t>(i));
    }
}

std::pair<std::uint32_t, std::uint32_t> TermBank::of_length(int length) const {
    const auto at = [&](int n) {
        const auto i = static_cast<std::size_t>(n);
        return i < starts_.size() ? starts_[i] : static_cast<std::uint32_t>(terms_.size());
    };
    return {at(length), at(length + 1)};
}

int TermBank::variables_after(int before, const MineTerm& right, std::uint16_t renaming) const {
    int after = before;
    const Renaming& names = renamings_[static_cast<std::size_t>(right.n_variables)][renaming];
    for (int k = 0; k < right.n_variables; ++k) after = std::max(after, names[static_cast<std::size_t>(k)] + 1);
    return after;
}

MineTerm TermBank::describe(const Composite& composite) const {
    MineTerm term;
    term.composite = composite;
    if (!is_operator(composite.op)) {
        term.n_variables = composite.op == Op::variable;
        term.n_constants = composite.op == Op::constant;
        term.has_literal = !term.n_variables && !term.n_constants;
        return term;
    }
    for (const VersionId id : {composite.left, composite.right}) {
        if (id == no_version) continue;
        const MineTerm& operand = term_of(id);
        term.length += operand.length;
        term.n_variables = variables_after(term.n_variables, operand, versions_[id].renaming);
        term.n_constants += operand.n_constants;
        term.has_literal = term.has_literal || operand.has_literal;
    }
    return term;
}

std::uint32_t TermBank::occurrences(const Composite& composite) const {
    return (composite.left == no_version ? 0 : versions_[composite.left].occurrences) +
           (composite.right == no_version ? 0 : versions_[composite.right].occurrences);
}

RowMask TermBank::tame_operands(const Composite& composite) const {
    RowMask rows = ~RowMask{0};
    for (const VersionId id : {composite.left, composite.right})
        if (id != no_version) rows &= versions_[id].tame;
    return rows;
}

void TermBank::keep(const Composite& composite) {
    MineTerm term = describe(composite);
    term.n_shifts = n_shifts(term.n_constants);
    term.first = static_cast<VersionId>(versions_.size());
    const auto index = static_cast<std::uint32_t>(terms_.size());
    while (starts_.size() <= static_cast<std::size_t>(term.length)) starts_.push_back(index);
    terms_.push_back(term);
    const std::vector<Renaming>& renamings = renamings_[static_cast<std::size_t>(term.n_variables)];
    for (std::size_t i = 0; i < renamings.size(); ++i)
        for (int shift = 0; shift < term.n_shifts; ++shift)
            add_version({index, static_cast<std::uint16_t>(i), static_cast<std::uint8_t>(shift), 0, 0, 0},
                        moved(composite, renamings[i], shift), renamings[i]);
}

void TermBank::add_version(const Version& version, const Composite& composite, const Renaming& renaming) {
    const std::size_t place = versions_.size() % block_size;
    if (place == 0) blocks_.push_back(std::make_unique_for_overwrite<double[]>(block_size * mine_rows));
    double* out = blocks_.back().get() + place * mine_rows;
    Version added = version;
    if (is_operator(composite.op)) {
        evaluate(composite, out);
        added.occurrences = occurrences(composite);
    } else {
        evaluate_leaf(composite, renaming, version.shift, out);
        if (composite.op == Op::variable) added.occurrences = 1U << (8 * renaming[0]);
    }
    added.usable = usable_rows(out);
    added.tame = tame_rows(out) & tame_operands(composite);
    versions_.push_back(added);
}

VersionId TermBank::moved(VersionId id, const Renaming& renaming, int shift) const {
    if (id == no_version) return id;
    const Version& from = versions_[id];
    const MineTerm& term = terms_[from.term];
    const auto n = static_cast<std::size_t>(term.n_variables);
    Renaming names = renamings_[n][from.renaming];
    for (std::size_t k = 0; k < n; ++k) names[k] = renaming[names[k]];
    return version_of(term, renaming_index_[n][code_of(names, n)], term.n_constants == 0 ? 0 : from.shift + shift);
}

Composite TermBank::moved(const Composite& composite, const Renaming& renaming, int shift) const {
    return {composite.op, moved(composite.left, renaming, shift), moved(composite.right, renaming, shift),
            composite.payload};
}

void TermBank::evaluate_leaf(const Composite& composite, const Renaming& renaming, int shift, double* out) const {
    double value = std::numeric_limits<double>::quiet_NaN();
    switch (composite.op) {
        case Op::variable:
            std::copy_n(points_.variables[renaming[0]].begin(), mine_rows, out);
            return;
        case Op::constant:
            std::copy_n(points_.constants[static_cast<std::size_t>(shift)].begin(), mine_rows, out);
            return;
        case Op::number:
            value = static_cast<double>(composite.payload);
            break;
        case Op::pi:
            value = std::numbers::pi;
            break;
        case Op::e:
            value = std::numbers::e;
            break;
        default:
            break;
    }
    std::fill_n(out, mine_rows, value);
}

void TermBank::evaluate(const Composite& composite, double* out) const {
    if (composite.right == no_version) {
        evaluate_unary(composite.op, values(composite.left), out);
    } else {
        active_kernels().binary[index(composite.op)][static_cast<std::size_t>(Shape::block_block)](
            mine_rows, values(composite.left), values(composite.right), out);
    }
}

void TermBank::evaluate_unary(Op op, const double* operand, double* out) {
    active_kernels().unary[index(op)](mine_rows, operand, out);
}

void TermBank::write(const Composite& composite, std::vector<Node>& out) const {
    if (composite.left != no_version) write(composite.left, out);
    if (composite.right != no_version) write(composite.right, out);
    out.push_back({composite.op, 0, 1, composite.payload});
}

void TermBank::write(VersionId id, std::vector<Node>& out) const {
    const Version& version = versions_[id];
    const MineTerm& term = terms_[version.term];
    const Renaming& renaming = renamings_[static_cast<std::size_t>(term.n_variables)][version.renaming];
    if (term.composite.op == Op::variable) {
        out.push_back(Node::variable(renaming[0] + 1));
    } else {
        write(moved(term.composite, renaming, version.shift), out);
    }
}

}  // namespace simplipy
