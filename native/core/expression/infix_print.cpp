#include <string>
#include <vector>

#include "infix.hpp"
#include "names.hpp"
#include "prefix.hpp"

namespace simplipy {
namespace {

// Writes nodes in reading order from an explicit stack of pending nodes and texts.
class InfixPrinter {
  public:
    InfixPrinter(const Tree& tree, std::optional<int> precision)
        : tree_(tree), nodes_(tree.nodes()), precision_(precision) {}

    std::string print() {
        push(nodes_.size() - 1, prec_sum);
        while (!pending_.empty()) {
            const Item item = pending_.back();
            pending_.pop_back();
            if (item.text != nullptr) {
                out_ += item.text;
            } else {
                write(item);
            }
        }
        return std::move(out_);
    }

  private:
    struct Item {
        const char* text;
        std::size_t node;
        int least;     // binding strength that needs no brackets here
        bool negated;  // a number whose minus sign the difference before it has taken
    };

    void push(std::size_t node, int least) { pending_.push_back({nullptr, node, least, false}); }
    void push(const char* text) { pending_.push_back({text, 0, 0, false}); }

    bool is_negative_leaf(const Node& node) const {
        return node.op == Op::neg_inf || (node.op == Op::number && node.payload < 0);
    }

    int strength(const Node& node) const {
        if (is_operator(node.op)) return info(node.op).precedence;
        return is_negative_leaf(node) ? prec_minus : prec_atom;
    }

    // A literal here would fuse with the operator beside it when read again.
    bool would_fuse(std::size_t i, Op parent, bool right) const {
        const Node& node = nodes_[i];
        if (precision_) return false;
        if (parent == Op::neg) return node.op == Op::number || node.op == Op::inf;
        if (node.op != Op::number || node.exponent != 0 || node.payload < 1 || node.payload > 5) return false;
        const int literal = static_cast<int>(node.payload);
        if (parent == Op::mul) return !right && literal > 1;
        if (parent == Op::div) return right ? literal > 1 : literal == 1;
        return (parent == Op::pow || parent == Op::inv) && right && literal > 1;
    }

    int context(std::size_t i, Op parent, bool right, int least) const {
        return would_fuse(i, parent, right) ? prec_atom + 1 : least;
    }

    void write(const Item& item) {
        const std::size_t i = item.node;
        const Node& node = nodes_[i];
        if (strength(node) < item.least) {
            out_ += '(';
            push(")");
        }
        if (!is_operator(node.op)) {
            out_ += leaf(node, item.negated);
            return;
        }
        const OpInfo& row = info(node.op);
        switch (row.form) {
            case Form::infix:
                write_binary(i);
                break;
            case Form::prefix_minus:
                out_ += '-';
                push(i - 1, context(i - 1, node.op, true, prec_minus));
                break;
            case Form::power:
                push(digit_text("^", row.literal));
                push(i - 1, prec_atom);
                break;
            case Form::scale:
                out_ += digit_text("", row.literal);
                out_ += '*';
                push(i - 1, prec_minus);
                break;
            case Form::quotient:
                push(digit_text("/", row.literal));
                push(i - 1, prec_product);
                break;
            case Form::reciprocal:
                out_ += "1/";
                push(i - 1, context(i - 1, node.op, true, prec_minus));
                break;
            case Form::call:
                out_ += row.call;
                out_ += '(';
                push(")");
                push(i - 1, prec_sum);
                if (row.arity == 2) {
                    push(", ");
                    push(left_of(nodes_, i), prec_sum);
                }
                break;
            case Form::leaf:
                break;
        }
    }

    void write_binary(std::size_t i) {
        const Op op = nodes_[i].op;
        const std::size_t right = i - 1;
        const std::size_t left = left_of(nodes_, i);
        if (op == Op::pow) {
            push(right, context(right, op, true, prec_minus));
            push("^");
            push(left, prec_atom);
            return;
        }
        if (op == Op::mul || op == Op::div) {
            push(right, context(right, op, true, prec_minus));
            push(op == Op::mul ? "*" : "/");
            push(left, context(left, op, false, prec_product));
            return;
        }
        if (precision_ && op == Op::add && reads_as_difference(right)) {
            push_negated(right);
            push(" - ");
        } else {
            push(right, prec_product);
            push(op == Op::add ? " + " : " - ");
        }
        push(left, prec_sum);
    }

    // For display a + -b is written a - b.
    bool reads_as_difference(std::size_t i) const {
        return (nodes_[i].op == Op::number && nodes_[i].payload < 0) || nodes_[i].op == Op::neg;
    }

    void push_negated(std::size_t i) {
        if (nodes_[i].op == Op::neg) {
            push(i - 1, prec_product);
        } else {
            pending_.push_back({nullptr, i, prec_minus, true});
        }
    }

    std::string leaf(const Node& node, bool negated) const {
        if (node.op != Op::number || !precision_) return token_of(tree_, node);
        const std::string text = to_string(node.decimal(), *precision_);
        return negated && text[0] == '-' ? text.substr(1) : text;
    }

    static const char* digit_text(std::string_view before, int literal) {
        static constexpr const char* powers[] = {"^2", "^3", "^4", "^5"};
        static constexpr const char* quotients[] = {"/2", "/3", "/4", "/5"};
        static constexpr const char* digits[] = {"2", "3", "4", "5"};
        const auto* texts = before == "^" ? powers : (before == "/" ? quotients : digits);
        return texts[literal - 2];
    }

    const Tree& tree_;
    const std::vector<Node>& nodes_;
    std::optional<int> precision_;
    std::vector<Item> pending_;
    std::string out_;
};

}  // namespace

std::string to_infix(const Tree& tree, std::optional<int> precision) { return InfixPrinter(tree, precision).print(); }

}  // namespace simplipy
