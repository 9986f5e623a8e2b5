#include "prefix.hpp"

#include "core/base/errors.hpp"
#include "names.hpp"

namespace simplipy {
namespace {

// Reads operators, leaves and operands in prefix order and emits postfix order: a parent follows its last operand.
class PostfixBuilder {
  public:
    explicit PostfixBuilder(std::size_t capacity) {
        nodes_.reserve(capacity);
        open_.reserve(16);
    }

    bool complete() const { return !nodes_.empty() && open_.empty(); }
    std::size_t missing() const { return open_.empty() ? 0 : static_cast<std::size_t>(open_.back().missing); }
    std::size_t open_position() const { return open_.back().position; }

    void push(Node node, std::size_t position) {
        if (const int n_operands = arity(node.op); n_operands > 0) {
            open_.push_back({node, n_operands, position});
            return;
        }
        nodes_.push_back(node);
        while (!open_.empty() && --open_.back().missing == 0) {
            nodes_.push_back(open_.back().node);
            open_.pop_back();
        }
    }

    std::vector<Node> take() { return std::move(nodes_); }

  private:
    struct Open {
        Node node;
        int missing;
        std::size_t position;
    };
    std::vector<Node> nodes_;
    std::vector<Open> open_;
};

// The number that a token is, if it is one; an error about its size gets the position.
std::optional<Decimal> number_at(std::string_view token, std::size_t position) {
    try {
        return parse_decimal(token);
    } catch (const ParseError& error) {
        throw ParseError("token " + std::to_string(position) + ": " + error.what());
    }
}

Node leaf(std::string_view token, std::size_t position, NameTable& names) {
    if (token.size() > 1 && token[0] == 'x')
        if (const std::int64_t k = column_number(token)) return Node::variable(k);
    if (const auto op = find_symbol(token)) return Node::of(*op);
    if (token.empty()) throw ParseError("token " + std::to_string(position) + " is empty");
    if (token[0] == '`') {
        const auto name = unquoted(token);
        if (!name)
            throw ParseError("token " + std::to_string(position) + " (" + shown(token) +
                             ") is no name in backquotes; write `name`, a backquote inside doubled");
        return Node::variable(names.code(*name));
    }
    if (const auto number = number_at(token, position)) return Node::number(*number);
    if (is_plain_name(token)) return Node::variable(names.code(token));
    std::string message =
        "token " + std::to_string(position) + " ('" + shown(token) + "') is no operator, number or plain name";
    const std::string_view nearest = nearest_name(token);
    if (!nearest.empty()) message += "; did you mean '" + std::string(nearest) + "'?";
    throw ParseError(message + "; write other variable names in backquotes");
}

std::string joined(std::span<const std::string_view> tokens) {
    std::string text;
    for (const std::string_view token : tokens) {
        if (text.size() > 200) return text + " ...";
        if (!text.empty()) text += ' ';
        text += shown(token);
    }
    return text;
}

[[noreturn]] void throw_incomplete(const PostfixBuilder& builder, std::span<const std::string_view> tokens) {
    const std::size_t at = builder.open_position();
    const int needed = arity(*find_symbol(tokens[at]));
    const std::size_t left = static_cast<std::size_t>(needed) - builder.missing();
    throw ParseError("token " + std::to_string(at + 1) + " ('" + std::string(tokens[at]) + "') needs " +
                     std::to_string(needed) + (needed == 1 ? " operand, " : " operands, ") + std::to_string(left) +
                     " left: " + joined(tokens));
}

bool is_symbol_id(int id) { return id >= 0 && id < first_variable && !symbol_token(static_cast<Op>(id)).empty(); }

}  // namespace

std::string token_of(const Tree& tree, const Node& node) {
    if (node.op == Op::number) return to_string(node.decimal());
    if (node.op != Op::variable) return std::string(symbol_token(node.op));
    return node.payload > 0 ? variable_name(tree, node.payload) : quoted(variable_name(tree, node.payload));
}

std::vector<std::string> prefix_tokens(const Tree& tree) {
    std::vector<std::string> tokens;
    tokens.reserve(tree.size());
    for (const std::size_t i : prefix_order(tree)) tokens.push_back(token_of(tree, tree.nodes()[i]));
    return tokens;
}

Tree parse_prefix(std::span<const std::string_view> tokens) {
    if (tokens.empty()) throw ParseError("the list of tokens is empty: an expression has at least one, such as ['x1']");
    PostfixBuilder builder(tokens.size());
    NameTable names;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (builder.complete())
            throw ParseError("token " + std::to_string(i + 1) + " ('" + shown(tokens[i]) +
                             "') is left over: the expression is complete after token " + std::to_string(i) + ": " +
                             joined(tokens));
        builder.push(leaf(tokens[i], i + 1, names), i);
    }
    if (!builder.complete()) throw_incomplete(builder, tokens);
    return Tree(builder.take(), names.take());
}

Tree parse_ids(std::span<const std::int16_t> ids, std::span<const std::string> extras) {
    PostfixBuilder builder(ids.size());
    NameTable names;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (ids[i] < 0) break;  // padding
        if (builder.complete())
            throw ParseError("token " + std::to_string(i + 1) + " is left over: the expression is complete before it");
        const int id = ids[i];
        if (is_symbol_id(id)) {
            builder.push(Node::of(static_cast<Op>(id)), i);
        } else if (id >= first_variable && id < first_extra) {
            builder.push(Node::variable(id - first_variable + 1), i);
        } else {
            builder.push(leaf(token_of_id(ids[i], extras), i + 1, names), i);
        }
    }
    if (!builder.complete())
        throw ParseError("the ids end before the expression does: " + std::to_string(ids.size()) + " ids");
    return Tree(builder.take(), names.take());
}

std::string token_of_id(std::int16_t id, std::span<const std::string> extras) {
    if (is_symbol_id(id)) return std::string(symbol_token(static_cast<Op>(id)));
    if (id >= first_variable && id < first_extra) return "x" + std::to_string(id - first_variable + 1);
    if (id >= first_extra && static_cast<std::size_t>(id - first_extra) < extras.size())
        return extras[static_cast<std::size_t>(id - first_extra)];
    throw ParseError(
        "token id " + std::to_string(id) +
        " is not in the vocabulary: symbols have the ids of simplipy.OPERATORS and of fixed leaves, x1 is " +
        std::to_string(first_variable));
}

std::int16_t Interner::id(const std::string& token) {
    if (const auto op = find_symbol(token)) return static_cast<std::int16_t>(*op);
    const std::int64_t k = column_number(token);
    if (k > 0 && k <= first_extra - first_variable) return static_cast<std::int16_t>(first_variable + k - 1);
    const auto [entry, is_new] = known_.try_emplace(token, static_cast<std::int16_t>(0));
    if (is_new) {
        const std::size_t next = extras_.size() + first_extra;
        if (next > max_id)
            throw ParseError("a batch holds at most " + std::to_string(max_id - first_extra + 1) +
                             " distinct numbers and names; split it");
        entry->second = static_cast<std::int16_t>(next);
        extras_.push_back(token);
    }
    return entry->second;
}

void Interner::append(const Tree& tree, std::vector<std::int16_t>& ids) {
    for (const std::size_t i : prefix_order(tree)) {
        const Node& node = tree.nodes()[i];
        if (is_symbol_id(static_cast<int>(node.op))) {
            ids.push_back(static_cast<std::int16_t>(node.op));
        } else if (node.op == Op::variable && node.payload > 0 && node.payload <= first_extra - first_variable) {
            ids.push_back(static_cast<std::int16_t>(first_variable + node.payload - 1));
        } else {
            ids.push_back(id(token_of(tree, node)));
        }
    }
}

}  // namespace simplipy
