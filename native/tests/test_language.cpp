#include <array>
#include <cstring>
#include <limits>
#include <random>

#include "check.hpp"
#include "core/base/errors.hpp"
#include "core/expression/infix.hpp"
#include "core/expression/names.hpp"
#include "random_tree.hpp"

using namespace simplipy;

TEST(every_operator_has_every_column) {
    for (const OpInfo& row : operators()) {
        CHECK(!row.token.empty());
        CHECK(!row.description.empty());
        CHECK(row.weight >= 0.0);
        CHECK(!row.derivative[0].empty());
        CHECK((row.arity == 2) == !row.derivative[1].empty());
        CHECK(find_symbol(row.token) == row.op);
        CHECK(row.call.empty() || find_call(row.call) == row.op);
    }
}

TEST(decimals_are_exact_and_normal) {
    CHECK(*parse_decimal("0.10") == *parse_decimal("1e-1"));
    CHECK(to_string(*parse_decimal("-0.0")) == "0");
    CHECK(to_string(*parse_decimal("12300")) == "12300");
    CHECK(to_string(*parse_decimal("1e20")) == "1e20");
    CHECK(to_string(*parse_decimal("0.00001")) == "1e-5");
    CHECK(to_double(*parse_decimal("5e-324")) > 0.0);
    CHECK(to_double(to_decimal(std::numeric_limits<double>::max())) == std::numeric_limits<double>::max());
    CHECK(!check::message_of<ParseError>([] { parse_decimal("1e309"); }).empty());
    CHECK(!check::message_of<ParseError>([] { parse_decimal("1e-400"); }).empty());
    CHECK(!parse_decimal("1.2.3") && !parse_decimal("") && !parse_decimal("-") && !parse_decimal("."));
    std::mt19937_64 random(1);
    for (int i = 0; i < 20000; ++i) {
        double value = 0.0;
        const std::uint64_t bits = random();
        std::memcpy(&value, &bits, sizeof value);
        if (!(value - value == 0.0)) continue;
        CHECK(to_double(*parse_decimal(to_string(to_decimal(value)))) == value);
    }
}

TEST(infix_and_prefix_round_trip) {
    std::mt19937_64 random(2);
    for (int i = 0; i < 5000; ++i) {
        const Tree tree = random_tree(random, static_cast<int>(random() % 25));
        const std::string text = to_infix(tree);
        const Tree again = parse_infix(text);
        CHECK(again == tree);
        CHECK(again.hash() == tree.hash());
        CHECK(!to_infix(tree, 3).empty());
        std::vector<std::string> extras;
        std::vector<std::int16_t> ids;
        Interner(extras).append(tree, ids);
        CHECK(parse_ids(ids, extras) == tree);
        ids.push_back(-1);  // padding
        CHECK(parse_ids(ids, extras) == tree);
    }
}

TEST(mutated_text_is_parsed_or_refused) {
    std::mt19937_64 random(3);
    const std::string alphabet = "x1()+-*/^,. e`<constant>sin\xc3\xa9\x80\xff\n";
    int n_refused = 0;
    for (int i = 0; i < 20000; ++i) {
        std::string text = to_infix(random_tree(random, static_cast<int>(random() % 8)));
        for (int k = 0; k < 2; ++k) text[random() % text.size()] = alphabet[random() % alphabet.size()];
        try {
            const Tree tree = parse_infix(text);
            CHECK(parse_infix(to_infix(tree)) == tree);
        } catch (const ParseError&) {
            ++n_refused;
        }
    }
    CHECK(n_refused > 1000 && n_refused < 20000);
}

TEST(deep_and_long_input) {
    constexpr int n = 200000;
    std::string nested;
    for (int i = 0; i < n; ++i) nested += "sin(2*(";
    nested += "x1" + std::string(2 * n, ')');
    const Tree tree = parse_infix(nested);
    CHECK(tree.size() == 2 * n + 1);
    CHECK(depth(tree) == 2 * n + 1);
    CHECK(parse_infix(to_infix(tree)) == tree);
    CHECK(!check::message_of<ParseError>([&] { parse_infix(std::string(1 << 20, '(')); }).empty());
    CHECK(!check::message_of<ParseError>([&] { parse_infix(std::string(1 << 20, '-')); }).empty());
}

TEST(errors_name_position_and_remedy) {
    const auto infix_error = [](const char* text) {
        return check::message_of<ParseError>([text] { parse_infix(text); });
    };
    CHECK(infix_error("x1 + sinn(x2)").find("position 6") != std::string::npos);
    CHECK(infix_error("x1 + sinn(x2)").find("'sin'") != std::string::npos);
    CHECK(infix_error("\xce\xb1 + )").find("\n      ^") != std::string::npos);  // the caret counts characters
    const std::vector<std::string_view> short_tokens = {"+", "x1", "sin"};
    CHECK(check::message_of<ParseError>([&] { parse_prefix(short_tokens); }) ==
          "token 3 ('sin') needs 1 operand, 0 left: + x1 sin");
}

TEST(indicators_are_variables) {
    for (const auto& [text, column, level] :
         std::vector<std::array<const char*, 3>>{{"(colour == \"red\")", "colour", "red"},
                                                 {"( `my colour`==\"a \"\"b\"\"\" )", "my colour", "a \"b\""},
                                                 {"(`sin` == \"x`\")", "sin", "x`"},
                                                 {"(`a``b` == \"\")", "a`b", ""}}) {
        const Tree tree = parse_infix("2*" + std::string(text));
        const std::string name = variable_name(tree, variable_codes(tree).at(0));
        CHECK(name == (Indicator{column, level}.name()) && indicator_named(name)->level == level);
        CHECK(quoted(name) == name && to_infix(tree) == "2*" + name);
        const auto tokens = prefix_tokens(tree);
        const std::vector<std::string_view> views(tokens.begin(), tokens.end());
        CHECK(parse_prefix(views) == tree && parse_infix(to_infix(tree)) == tree);
    }
    for (const char* text : {"(a == b)", "(a = \"b\")", "(`` == \"b\")", "(a == \"b)", "(`a == \"b\")", "(a == \"b\""})
        CHECK(!indicator_prefix(text) && quoted(text)[0] == '`');
    CHECK(quoted("(a==\"b\")") == "`(a==\"b\")`");  // not as it is printed
    CHECK(to_infix(parse_infix("((a == \"b\") + 1)*x1")) == "((a == \"b\") + 1)*x1");
}

TEST(names_quote_and_order) {
    CHECK(quoted("my var") == "`my var`" && quoted("sin") == "`sin`" && quoted("rho") == "rho");
    CHECK(*unquoted(quoted("a`b c")) == "a`b c");
    CHECK(!unquoted("``") && !unquoted("`a`b`") && !unquoted("`a") && !unquoted("`a``"));
    CHECK(natural_less("b2", "b10") && !natural_less("b10", "b2") && natural_less("b", "b1") &&
          natural_less("a1", "a01") != natural_less("a01", "a1"));
    CHECK(column_number("x12") == 12 && column_number("x0") == 0 && column_number("x012") == 0);
    const Tree tree = parse_infix("zeta + x10 + x2 + b10 + b2 + x10");
    std::string order;
    for (const std::int64_t code : variable_codes(tree)) order += variable_name(tree, code) + " ";
    CHECK(order == "x2 x10 b2 b10 zeta ");
}
