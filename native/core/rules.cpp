#include "rules.hpp"

#include "canonical.hpp"
#include "errors.hpp"
#include "infix.hpp"

namespace simplipy {
namespace {

constexpr std::string_view arrow = " -> ";
constexpr std::string_view extends_mark = " [extends]";

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
    return text;
}

// Postfix with metavariables a, b, c, d as variables 1 to 4; `used` gets their bits.
std::vector<Node> read_side(std::string_view text, std::uint32_t& used) {
    const Tree tree = parse_infix(text);
    std::vector<Node> nodes = tree.nodes();
    for (Node& node : nodes) {
        if (node.op != Op::variable) continue;
        const std::string name = variable_name(tree, node.payload);
        if (name.size() != 1 || name[0] < 'a' || name[0] > 'd')
            throw ParseError("metavariables are a, b, c and d, got '" + name + "'");
        node.payload = name[0] - 'a' + 1;
        used |= 1U << (node.payload - 1);
    }
    return nodes;
}

}  // namespace

static_assert(n_operators < 60);

std::uint64_t features(const Arena& arena, Kind kind, std::span<const Entry> entries) {
    constexpr int power_bit = 60;     // a power of a function
    constexpr int square_bit = 61;    // u^2
    constexpr int symbolic_bit = 62;  // e^u
    std::uint64_t found = 0;
    const auto see = [&found](std::size_t bit) { found |= std::uint64_t{1} << bit; };
    for (const Entry& entry : entries) {
        const TermNode& term = arena[entry.term];
        if (term.kind == Kind::function) see(index(term.op));
        if (kind != Kind::sum || term.kind != Kind::product || term.n_entries != 1) continue;
        const Entry& factor = arena.entries(entry.term)[0];
        const TermNode& base = arena[factor.term];
        if (base.kind == Kind::function) see(index(base.op));
        if (base.kind == Kind::function && !factor.is_free()) see(power_bit);
        if (base.kind == Kind::symbol && factor.is_free()) see(symbolic_bit);
        if (!factor.is_free() && factor.ratio.q == 1 && factor.ratio.p == 2) see(square_bit);
    }
    return found;
}

RuleSet::RuleSet(std::string_view text) {
    std::size_t number = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = trimmed(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        ++number;
        if (!line.empty() && line[0] != '#') add(line, number);
    }
}

void RuleSet::add(std::string_view line, std::size_t number) {
    const auto fail = [&](const std::string& why) {
        throw ParseError("rule in line " + std::to_string(number) + ": " + why + ": " + std::string(line));
    };
    Rule rule;
    std::string_view rest = line;
    if (rest.ends_with(extends_mark)) {
        rule.extends = true;
        rest.remove_suffix(extends_mark.size());
    }
    const std::size_t colon = rest.find(": ");
    const std::size_t middle = rest.find(arrow);
    if (colon == std::string_view::npos || middle == std::string_view::npos || middle < colon)
        fail("a row is written 'name: pattern -> replacement'");
    rule.name = std::string(rest.substr(0, colon));
    std::uint32_t bound = 0;
    std::uint32_t used = 0;
    std::vector<Node> pattern;
    try {
        pattern = read_side(rest.substr(colon + 2, middle - colon - 2), bound);
        rule.replacement = read_side(rest.substr(middle + arrow.size()), used);
    } catch (const ParseError& error) {
        fail(error.what());
    }
    if ((used & ~bound) != 0) fail("the replacement has a variable that the pattern does not bind");
    rule.length = static_cast<int>(pattern.size());
    rule.dropped = bound & ~used;
    CanonicalOptions options;
    options.keep_arena = n_rules_ > 0;
    options.factor = false;
    rule.pattern = Canonicalizer(arena_, options).run(pattern);
    ++n_rules_;
    const TermNode& root = arena_[rule.pattern];
    rule.features = features(arena_, root.kind, arena_.entries(rule.pattern));
    if (root.kind == Kind::function) {
        functions_[index(root.op)].push_back(std::move(rule));
    } else if (root.kind == Kind::sum && root.n_entries > 1) {
        sums_.push_back(std::move(rule));
    } else if (root.kind == Kind::product && root.n_entries > 1) {
        products_.push_back(std::move(rule));
    } else {
        fail("the pattern must be a function, a sum or a product after canonicalisation");
    }
}

}  // namespace simplipy
