#include "rules.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>

#include "core/base/errors.hpp"
#include "core/expression/infix.hpp"
#include "core/simplify/canonical/canonical.hpp"

namespace simplipy {
namespace {

constexpr std::string_view arrow = " -> ";
constexpr std::string_view extends_mark = "extends";
constexpr double infinity = std::numeric_limits<double>::infinity();

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

// "name rest" split at the first space.
std::pair<std::string_view, std::string_view> first_word(std::string_view text) {
    const std::size_t space = std::min(text.find(' '), text.size());
    return {text.substr(0, space), trimmed(text.substr(space))};
}

// A bound: a number, pi or inf, with a sign before it and a divisor behind it if there is one, as -pi/2.
double read_bound(std::string_view text) {
    const std::string whole(text);
    double sign = 1.0;
    if (text.starts_with('-')) {
        sign = -1.0;
        text.remove_prefix(1);
    }
    const auto number = [&](std::string_view part) {
        if (part == "pi") return std::numbers::pi;
        if (part == "inf") return infinity;
        double value = 0.0;
        const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
        if (error != std::errc() || end != part.data() + part.size() || !std::isfinite(value))
            throw ParseError("a bound is a number, pi, inf or a fraction of these such as -pi/2, got '" + whole + "'");
        return value;
    };
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) return sign * number(text);
    const double divisor = number(text.substr(slash + 1));
    if (!(divisor > 0.0)) throw ParseError("the divisor of a bound must be > 0, got '" + whole + "'");
    return sign * number(text.substr(0, slash)) / divisor;
}

// `a > 0`, `a in [-1, 1]` with ( or ) for bounds that are not reached, `a integer`, `a finite`
Condition read_condition(std::string_view text) {
    const auto fail = [&] {
        throw ParseError("a condition is 'a > 0' (or <, >=, <=), 'a in [-1, 1]', 'a integer' or 'a finite', got '" +
                         std::string(text) + "'");
    };
    Condition condition;
    const auto [name, rest] = first_word(text);
    if (name.size() != 1 || name[0] < 'a' || name[0] > 'd') fail();
    condition.variable = static_cast<std::size_t>(name[0] - 'a');
    const auto [relation, bound] = first_word(rest);
    if (rest == "integer" || rest == "finite") {
        condition.kind = rest == "integer" ? Condition::Kind::integer : Condition::Kind::finite;
    } else if (relation == ">" || relation == ">=") {
        condition.low = read_bound(bound);
        condition.excludes_low = relation == ">";
    } else if (relation == "<" || relation == "<=") {
        condition.high = read_bound(bound);
        condition.excludes_high = relation == "<";
    } else if (relation == "in" && bound.size() > 4) {
        const std::size_t comma = bound.find(", ");
        const char first = bound.front();
        const char last = bound.back();
        if (comma == std::string_view::npos || (first != '[' && first != '(') || (last != ']' && last != ')')) fail();
        condition.low = read_bound(bound.substr(1, comma - 1));
        condition.high = read_bound(bound.substr(comma + 2, bound.size() - comma - 3));
        condition.excludes_low = first == '(';
        condition.excludes_high = last == ')';
        if (!(condition.low < condition.high))
            throw ParseError("the lower bound must be below the upper one, got '" + std::string(text) + "'");
    } else {
        fail();
    }
    return condition;
}

// The text between a bracket, which `text` starts with, and its partner; `text` loses both.
std::string_view take_brackets(std::string_view& text) {
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '[' || text[i] == '(') ++depth;
        if ((text[i] == ']' || text[i] == ')') && --depth == 0) {
            const std::string_view inside = text.substr(1, i - 1);
            text = trimmed(text.substr(i + 1));
            return inside;
        }
    }
    throw ParseError("a bracket is not closed");
}

// The text behind the replacement: [extends], and conditions with commas between them.
void read_marks(std::string_view text, Rule& rule) {
    while (!text.empty()) {
        if (text[0] != '[') throw ParseError("behind the replacement only [extends] and [conditions] may stand");
        std::string_view inside = take_brackets(text);
        if (inside == extends_mark) {
            rule.extends = true;
            continue;
        }
        while (!inside.empty()) {
            int depth = 0;
            std::size_t end = 0;
            for (; end < inside.size() && (depth > 0 || inside[end] != ','); ++end)
                depth += (inside[end] == '[' || inside[end] == '(') - (inside[end] == ']' || inside[end] == ')');
            rule.conditions.push_back(read_condition(trimmed(inside.substr(0, end))));
            inside = trimmed(inside.substr(std::min(end + 1, inside.size())));
        }
    }
}

}  // namespace

bool is_root_of_sum(const Arena& arena, const Entry& factor) {
    const TermNode& base = arena[factor.term];
    return base.kind == Kind::sum && base.n_entries > 1 && !factor.is_free() && !factor.ratio.is_integer();
}

std::uint64_t features(const Arena& arena, Kind kind, std::span<const Entry> entries) {
    constexpr std::size_t of_multiple_bit = 45;     // a function of k * function
    constexpr std::size_t of_sum_bit = 46;          // of a sum of two terms at least
    constexpr std::size_t of_function_bit = 47;     // of a function
    constexpr std::size_t inner_function_bit = 48;  // inside a root of a sum
    constexpr std::size_t inner_product_bit = 49;
    constexpr std::size_t degree_bit = 50;  // of a root, 2 to 5, behind it
    constexpr int root_bit = 59;            // a root of a sum, as a factor
    constexpr int power_bit = 60;           // a power of a function
    constexpr int square_bit = 61;          // u^2
    constexpr int symbolic_bit = 62;        // e^u
    std::uint64_t found = 0;
    const auto see = [&found](std::size_t bit) { found |= std::uint64_t{1} << bit; };
    const auto see_function = [&](const TermNode& term) {
        see(index(term.op) % of_multiple_bit);  // two operators may share a bit: a feature only rules terms out
        const TermNode& inner = arena[term.argument];
        if (inner.kind == Kind::function) see(of_function_bit);
        if (inner.kind == Kind::sum && inner.n_entries > 1) see(of_sum_bit);
        if (inner.kind == Kind::sum && inner.n_entries == 1 &&
            arena[arena.entries(term.argument)[0].term].kind == Kind::function)
            see(of_multiple_bit);
    };
    for (const Entry& entry : entries) {
        const TermNode& term = arena[entry.term];
        if (term.kind == Kind::function) see_function(term);
        if (kind == Kind::product) {
            if (!entry.is_free() && entry.ratio.q > 1 && entry.ratio.q <= 5)
                see(degree_bit + static_cast<std::size_t>(entry.ratio.q));
            if (is_root_of_sum(arena, entry)) {
                see(root_bit);
                for (const Entry& part : arena.entries(entry.term)) {
                    if (arena[part.term].kind == Kind::function) see(inner_function_bit);
                    if (arena[part.term].kind == Kind::product) see(inner_product_bit);
                }
            }
        }
        if (kind != Kind::sum || term.kind != Kind::product || term.n_entries != 1) continue;
        const Entry& factor = arena.entries(entry.term)[0];
        const TermNode& base = arena[factor.term];
        if (base.kind == Kind::function) see_function(base);
        if (base.kind == Kind::function && !factor.is_free()) see(power_bit);
        if (base.kind == Kind::symbol && factor.is_free()) see(symbolic_bit);
        if (!factor.is_free() && factor.ratio.q == 1 && factor.ratio.p == 2) see(square_bit);
    }
    return found;
}

bool Condition::holds(const TermNode& term) const {
    if (kind == Kind::integer) return term.kind == simplipy::Kind::number && term.value.is_integer();
    if (kind == Kind::finite) return !term.partial;
    return (excludes_low ? term.low > low : term.low >= low) && (excludes_high ? term.high < high : term.high <= high);
}

void FeatureIndex::add(Rule rule) {
    const auto i = static_cast<std::uint32_t>(rules_.size());
    if (rule.features == 0) {
        free_.push_back(i);
    } else {
        by_lowest_[static_cast<std::size_t>(std::countr_zero(rule.features))].push_back({rule.features, i});
    }
    rules_.push_back(std::move(rule));
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
        const std::string_view right = rest.substr(middle + arrow.size());
        const std::size_t marks = std::min(right.find(" ["), right.size());
        rule.replacement = read_side(right.substr(0, marks), used);
        read_marks(trimmed(right.substr(marks)), rule);
    } catch (const ParseError& error) {
        fail(error.what());
    }
    if ((used & ~bound) != 0) fail("the replacement has a variable that the pattern does not bind");
    for (const Condition& condition : rule.conditions)
        if ((bound >> condition.variable & 1U) == 0) fail("a condition has a variable that the pattern does not bind");
    rule.length = static_cast<int>(pattern.size());
    rule.dropped = bound & ~used;
    rule.has_gaps = std::any_of(pattern.begin(), pattern.end(),
                                [](const Node& node) { return is_operator(node.op) && !info(node.op).domain.empty(); });
    CanonicalOptions options;
    options.keep_arena = n_rules_ > 0;
    options.factor = false;
    rule.pattern = Canonicalizer(arena_, options).run(pattern);
    ++n_rules_;
    const TermNode& root = arena_[rule.pattern];
    rule.features = features(arena_, root.kind, arena_.entries(rule.pattern));
    if (root.kind == Kind::function) {
        argument_kinds_[index(root.op)] |= 1U << static_cast<int>(arena_[root.argument].kind);
        const std::span<const Entry> inner = arena_.entries(root.argument);
        const bool is_multiple = inner.size() == 1 && arena_[root.argument].kind == Kind::sum &&
                                 arena_[inner[0].term].kind == Kind::variable;
        argument_shapes_[index(root.op)].push_back(is_multiple ? any_shape : shape(arena_, root.argument));
        functions_[index(root.op)].push_back(std::move(rule));
    } else if (root.kind == Kind::sum && root.n_entries > 1) {
        if (rule.features == 0) fail("a sum's pattern needs a function, a square or an exponential");
        sums_.add(std::move(rule));
    } else if (root.kind == Kind::product) {
        rule.entries.assign(arena_.entries(rule.pattern).begin(), arena_.entries(rule.pattern).end());
        const auto is_narrow = [&](const Entry& entry) {
            return arena_[entry.term].kind == Kind::function || is_root_of_sum(arena_, entry);
        };
        std::stable_partition(rule.entries.begin(), rule.entries.end(), is_narrow);
        if (!is_narrow(rule.entries[0])) fail("a product's pattern needs a function or a root of a sum");
        products_.add(std::move(rule));
    } else {
        fail("the pattern must be a function, a sum or a product after canonicalisation");
    }
}

}  // namespace simplipy
