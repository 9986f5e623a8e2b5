#include <algorithm>
#include <string>
#include <vector>

#include "core/base/errors.hpp"
#include "hints.hpp"
#include "infix.hpp"
#include "names.hpp"

namespace simplipy {
namespace {

constexpr std::string_view constant_token = "<constant>";

// Operator-precedence parsing with explicit stacks: nesting costs memory, never call depth.
// Invariant: nodes_ is the postfix of all finished operands; operands_ has one entry for each of them.
class InfixParser {
  public:
    explicit InfixParser(std::string_view text) : text_(text) { nodes_.reserve(text.size() / 3 + 4); }

    Tree parse() {
        skip_space();
        if (at_ == text_.size()) fail(0, "nothing to parse: the text is empty");
        while (at_ < text_.size()) {
            if (wants_operand_) {
                read_operand();
            } else {
                read_operator();
            }
            skip_space();
        }
        if (wants_operand_) fail(text_.size(), "the text ends where an operand is missing");
        reduce(prec_sum);
        if (!pending_.empty()) fail(pending_.back().position, "this bracket is never closed; add ')'");
        return Tree(std::move(nodes_), names_.take());
    }

  private:
    enum class Kind : std::uint8_t { minus, binary, fused, group, call };
    struct Pending {
        Kind kind;
        Op op;
        int precedence;  // 0 for an open bracket
        std::size_t position;
        int n_arguments;
    };

    void skip_space() {
        while (at_ < text_.size() &&
               (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
            ++at_;
    }

    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

    void push_operand(Node node, bool bare) {
        nodes_.push_back(node);
        bare_.push_back(bare);
        wants_operand_ = false;
    }

    void read_operand() {
        const char c = peek();
        const std::string_view rest = text_.substr(at_);
        if (c == '-') {
            pending_.push_back({Kind::minus, Op::neg, prec_minus, at_, 1});
            ++at_;
        } else if (c == '+') {
            ++at_;
        } else if (const auto indicator = indicator_prefix(rest)) {
            push_operand(Node::variable(names_.code(indicator->first.name())), false);
            at_ += indicator->second;
        } else if (c == '(') {
            pending_.push_back({Kind::group, Op::add, 0, at_, 1});
            ++at_;
        } else if (c == '<') {
            if (!rest.starts_with(constant_token)) fail(at_, "the free constant is written <constant>");
            push_operand(Node::of(Op::constant), false);
            at_ += constant_token.size();
        } else if (const std::size_t n = decimal_prefix(rest)) {
            read_number(rest.substr(0, n));
        } else if (c == '`') {
            read_quoted(rest);
        } else if (const std::size_t m = identifier_prefix(rest)) {
            read_name(rest.substr(0, m));
        } else if (c == ')' || c == ',') {
            fail(at_, "an operand is missing before this");
        } else {
            fail_character("is no operand");
        }
    }

    void read_number(std::string_view literal) {
        try {
            push_operand(Node::number(*parse_decimal(literal)), true);
        } catch (const ParseError& error) {
            fail(at_, error.what());
        }
        at_ += literal.size();
    }

    void read_quoted(std::string_view rest) {
        std::size_t end = 1;
        while (end < rest.size() && (rest[end] != '`' || (end + 1 < rest.size() && rest[end + 1] == '`')))
            end += rest[end] == '`' ? 2 : 1;
        const auto name = unquoted(rest.substr(0, std::min(end + 1, rest.size())));
        if (!name) fail(at_, end >= rest.size() ? "this backquote is never closed" : "a name in backquotes is empty");
        push_operand(Node::variable(names_.code(*name)), false);
        at_ += end + 1;
    }

    void read_name(std::string_view name) {
        const std::size_t start = at_;
        at_ += name.size();
        skip_space();
        const auto function = find_call(name);
        if (peek() == '(') {
            if (!function) fail_unknown_function(name, start);
            pending_.push_back({Kind::call, *function, 0, at_, 1});
            ++at_;
            return;
        }
        if (function)
            fail(start, "'" + std::string(name) + "' is a function: write " + std::string(name) + "(...), or `" +
                            std::string(name) + "` in backquotes for a variable of that name");
        if (is_greek_pi(name)) fail(start, "'π' is written pi, or `π` in backquotes for a variable of that name");
        if (const auto symbol = find_symbol(name)) {
            push_operand(Node::of(*symbol), *symbol == Op::inf);
        } else {
            push_operand(Node::variable(names_.code(name)), false);
        }
    }

    void read_operator() {
        const char c = peek();
        const bool star_power = c == '*' && at_ + 1 < text_.size() && text_[at_ + 1] == '*';
        if (c == '^' || star_power) {
            reduce(prec_power + 1);  // right-associative: a^b^c is a^(b^c)
            push_binary(Op::pow, prec_power, star_power ? 2 : 1);
        } else if (c == '*' || c == '/') {
            reduce(prec_product);
            push_product(c == '*');
        } else if (c == '+' || c == '-') {
            reduce(prec_sum);
            push_binary(c == '+' ? Op::add : Op::sub, prec_sum, 1);
        } else if (c == ')') {
            close_bracket();
        } else if (c == ',') {
            next_argument();
        } else if (c == '(') {
            fail(at_, "an operator is missing before this bracket; write * to multiply");
        } else if (c == '<' || c == '`' || decimal_prefix(text_.substr(at_)) || identifier_prefix(text_.substr(at_))) {
            fail(at_, "an operator is missing before this; write * to multiply");
        } else {
            fail_character("is no operator; known are + - * / ^ **");
        }
    }

    void push_binary(Op op, int precedence, std::size_t n_bytes) {
        pending_.push_back({Kind::binary, op, precedence, at_, 2});
        at_ += n_bytes;
        wants_operand_ = true;
    }

    // 2*u and 1/u are known as soon as the operator is read: the literal leaves the output here.
    void push_product(bool times) {
        const auto literal = bare_literal();
        const auto fused =
            times ? sibling(Op::mult2, literal.value_or(0)) : (literal == 1 ? std::optional(Op::inv) : std::nullopt);
        if (!fused) {
            push_binary(times ? Op::mul : Op::div, prec_product, 1);
            return;
        }
        nodes_.pop_back();
        bare_.pop_back();
        pending_.push_back({Kind::fused, *fused, prec_product, at_, 1});
        ++at_;
        wants_operand_ = true;
    }

    // The integer 1 to 5 that the last operand is, if it is such a literal without brackets.
    std::optional<int> bare_literal() const {
        const Node& node = nodes_.back();
        if (!bare_.back() || node.op != Op::number || node.exponent != 0 || node.payload < 1 || node.payload > 5)
            return std::nullopt;
        return static_cast<int>(node.payload);
    }

    // Applies pending operators that bind at least as strongly as `precedence`.
    void reduce(int precedence) {
        while (!pending_.empty() && pending_.back().precedence >= precedence && pending_.back().precedence > 0) {
            const Pending top = pending_.back();
            pending_.pop_back();
            apply(top);
        }
    }

    void apply(const Pending& top) {
        if (top.kind == Kind::minus && bare_.back()) {
            Node& node = nodes_.back();
            if (node.op == Op::number) node.payload = -node.payload;
            if (node.op == Op::inf) node.op = Op::neg_inf;
            bare_.back() = node.op == Op::number;
            return;
        }
        Op op = top.op;
        const std::optional<int> literal = bare_literal();
        if (op == Op::inv && sibling(Op::div2, literal.value_or(0))) {  // 1/2 is div2 of 1; inv of 2 is 1/(2)
            nodes_.back() = Node::number({1, 0});
            op = *sibling(Op::div2, *literal);
        } else if (op == Op::pow || op == Op::div) {
            const auto fused =
                op == Op::pow ? sibling(Op::pow2, literal.value_or(0)) : sibling(Op::div2, literal.value_or(0));
            if (fused) {
                nodes_.pop_back();
                op = *fused;
            }
            bare_.pop_back();
        } else if (top.kind == Kind::binary) {
            bare_.pop_back();
        }
        nodes_.push_back(Node::of(op));
        bare_.back() = false;
    }

    void close_bracket() {
        reduce(prec_sum);
        if (pending_.empty()) fail(at_, "this bracket was never opened");
        const Pending open = pending_.back();
        pending_.pop_back();
        bare_.back() = false;
        if (open.kind == Kind::call) {
            check_arguments(open);
            for (int extra = 1; extra < open.n_arguments; ++extra) bare_.pop_back();
            nodes_.push_back(Node::of(open.op));
            bare_.back() = false;
        }
        ++at_;
    }

    void next_argument() {
        reduce(prec_sum);
        if (pending_.empty() || pending_.back().kind != Kind::call) fail(at_, "a comma belongs inside a function call");
        ++pending_.back().n_arguments;
        check_arguments(pending_.back(), true);
        ++at_;
        wants_operand_ = true;
    }

    void check_arguments(const Pending& call, bool more_may_come = false) const {
        const int wanted = arity(call.op);
        if (call.n_arguments == wanted || (more_may_come && call.n_arguments < wanted)) return;
        fail(at_, std::string(info(call.op).call) + " takes " + std::to_string(wanted) +
                      (wanted == 1 ? " argument, got " : " arguments, got ") + std::to_string(call.n_arguments));
    }

    [[noreturn]] void fail_unknown_function(std::string_view name, std::size_t position) const {
        const std::string_view spelling = other_spelling(name);
        const std::string_view nearest = nearest_name(name);
        std::string remedy = "known are " + known_functions();
        if (!spelling.empty())
            remedy = spelling;
        else if (!nearest.empty())
            remedy = "did you mean '" + std::string(nearest) + "'?";
        fail(position, "unknown function '" + shown(name) + "'; " + remedy);
    }

    [[noreturn]] void fail_character(const std::string& why) const {
        const std::string character(text_.substr(at_, character_size(text_.substr(at_))));
        const std::string_view ascii = ascii_form(text_.substr(at_));
        if (!ascii.empty()) fail(at_, "'" + character + "' is written " + std::string(ascii));
        const bool printable = character.size() > 1 || static_cast<unsigned char>(character[0]) >= 0x20;
        fail(at_, (printable ? "'" + character + "' " : "this character ") + why);
    }

    [[noreturn]] void fail(std::size_t position, const std::string& message) const {
        constexpr std::size_t context = 60;  // bytes shown on each side
        std::size_t start = position > context ? position - context : 0;
        while (start > 0 && (static_cast<unsigned char>(text_[start]) & 0xc0U) == 0x80U) --start;
        std::size_t end = std::min(text_.size(), position + context);
        while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xc0U) == 0x80U) ++end;
        std::string line(text_.substr(start, end - start));
        std::replace_if(line.begin(), line.end(), [](char c) { return c >= 0 && c < 0x20; }, ' ');
        throw ParseError("position " + std::to_string(n_characters(text_.substr(0, position)) + 1) + ": " + message +
                         "\n  " + line + "\n  " +
                         std::string(n_characters(text_.substr(start, position - start)), ' ') + "^");
    }

    std::string_view text_;
    std::size_t at_ = 0;
    bool wants_operand_ = true;
    std::vector<Node> nodes_;
    std::vector<char> bare_;  // by operand: a literal without brackets
    std::vector<Pending> pending_;
    NameTable names_;
};

}  // namespace

Tree parse_infix(std::string_view text) { return InfixParser(text).parse(); }

}  // namespace simplipy
