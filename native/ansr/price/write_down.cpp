#include "write_down.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "usual_numbers.hpp"

namespace flash_ansr {
namespace {

using simplipy::Op;

Coefficient coefficient_of(const Value& value) {
    if (value.is_fitted()) return Coefficient::fitted;
    if (value.number == 1.0) return Coefficient::one;
    if (value.number == -1.0) return Coefficient::minus_one;
    return value.number < 0.0 ? Coefficient::minus_number : Coefficient::number;
}

std::size_t exponent_answer(const Value& exponent) {
    if (exponent.is_fitted()) return fitted_exponent;
    const double size = std::abs(exponent.number);
    const auto at = std::ranges::find_if(exponent_sizes, [&](double s) { return std::abs(s - size) < 1e-12 * size; });
    const auto place = static_cast<std::size_t>(at - exponent_sizes.begin());
    return place + (exponent.number < 0.0 ? negative_exponents : 0);
}

class Writer {
  public:
    explicit Writer(Answers& answers) : answers_(answers) {}

    bool write(Sum& sum, Place place) {
        const std::size_t n = sum.terms.size();
        if (n == 0 || n > most_terms) return false;
        answer(Question::n_terms, terms_context(place), n - 1);
        std::vector<std::pair<std::pair<std::size_t, std::uint64_t>, Term*>> order;
        for (Term& term : sum.terms) {
            if (term.factors.size() > most_factors) return false;
            order.push_back({{shape_of(coefficient_of(term.coefficient), term.factors.size()), looks(term)}, &term});
        }
        std::ranges::stable_sort(order, {}, [](const auto& entry) { return entry.first; });
        std::size_t before = 0;
        for (const auto& [key, term] : order) {
            answer(Question::shape, shape_context(place, n, before), key.first);
            before = beside_shape(key.first);
            if (!write(*term, place)) return false;
        }
        return true;
    }

  private:
    template <class Context>
    void answer(Question question, const Context& context, std::size_t choice) {
        answers_.cells.push_back(static_cast<std::uint32_t>(cell_of(question, context) + choice));
    }

    void write_number(double number, NumberRole role) {
        answer(Question::number, number_context(role), usual_place(number).value_or(usual_numbers().size()));
    }

    bool write(Term& term, Place place) {
        const Coefficient coefficient = coefficient_of(term.coefficient);
        if (coefficient >= Coefficient::number)
            write_number(term.coefficient.number, term.factors.empty() ? NumberRole::term : NumberRole::coefficient);
        const std::size_t n = term.factors.size();
        std::ranges::stable_sort(term.factors, {}, [&](const Factor& factor) { return key_of(factor); });
        Beside before = Beside::nothing;
        std::size_t sign_before = 0;
        for (Factor& factor : term.factors) {
            const Beside kind = kind_of(factor.atom);
            answer(Question::atom, atom_context(place, before, n, coefficient), atom_answer(factor));
            if (factor.atom == Op::variable) choose(factor.variable);
            const std::size_t exponent = exponent_answer(factor.exponent);
            answer(Question::exponent, exponent_context(kind, n, sign_before, place), exponent);
            if (exponent % negative_exponents == other_exponent)
                write_number(factor.exponent.number, NumberRole::exponent);
            before = kind;
            sign_before = exponent == fitted_exponent || exponent < negative_exponents ? 1 : 2;
            for (std::size_t i = 0; i < factor.operands.size(); ++i)
                if (!write(factor.operands[i], place_of(factor, i))) return false;
        }
        return true;
    }

    bool is_known(std::int64_t variable) const { return std::ranges::find(seen_, variable) != seen_.end(); }

    std::size_t atom_answer(const Factor& factor) const {
        if (factor.atom == Op::variable) return is_known(factor.variable) ? old_variable : new_variable;
        const auto& ops = atom_operators();
        return first_atom + static_cast<std::size_t>(std::ranges::find(ops, factor.atom) - ops.begin());
    }

    void choose(std::int64_t variable) {
        answers_.choices.push_back(static_cast<std::uint32_t>(seen_.size()));
        answers_.is_new.push_back(!is_known(variable));
        if (answers_.is_new.back()) seen_.push_back(variable);
    }

    // Variables come first, those that stood before first of all; then functions by id, powers, brackets.
    std::array<std::size_t, 3> key_of(const Factor& factor) const {
        const std::size_t exponent = exponent_answer(factor.exponent);
        if (factor.atom == Op::variable) return {0, is_known(factor.variable) ? 0U : 1U, exponent};
        const std::size_t rank = factor.atom == Op::add ? 3 : factor.atom == Op::pow ? 2 : 1;
        return {rank, simplipy::index(factor.atom), exponent};
    }

    // A number for the looks of a term without the names of its variables.
    static std::uint64_t looks(const Term& term) {
        std::uint64_t total = 0;
        for (const Factor& factor : term.factors) {
            std::uint64_t own =
                (simplipy::index(factor.atom) + 1) * 0x9e3779b97f4a7c15ULL + exponent_answer(factor.exponent);
            for (const Sum& operand : factor.operands)
                for (const Term& inner : operand.terms)
                    own = (own ^ (own >> 29)) * 0xbf58476d1ce4e5b9ULL + looks(inner);
            total += own ^ (own >> 31);
        }
        return total;
    }

    Answers& answers_;
    std::vector<std::int64_t> seen_;
};

// Numbers other than 1 and -1 become fitted ones, exponents apart; whether there are any.
bool free_numbers(Sum& sum) {
    bool any = false;
    for (Term& term : sum.terms) {
        if (coefficient_of(term.coefficient) >= Coefficient::number) {
            term.coefficient = Value::fitted();
            any = true;
        }
        for (Factor& factor : term.factors)
            for (Sum& operand : factor.operands) any |= free_numbers(operand);
    }
    return any;
}

double price_of(const PriceTable& table, Sum reading, double by_length, std::size_t n_columns) {
    const auto answers = answers_of(std::move(reading));
    if (!answers) return by_length;
    double nats = -std::log1p(-table.length_share);
    for (const std::uint32_t cell : answers->cells) nats -= table.log_probs[cell];
    for (std::size_t i = 0; i < answers->choices.size(); ++i) {
        const std::size_t before = answers->choices[i];
        const std::size_t among = answers->is_new[i] ? std::max(n_columns, before + 1) - before : before;
        nats += std::log(static_cast<double>(std::max<std::size_t>(among, 1)));
    }
    const double low = std::min(nats, by_length);
    return low - std::log(std::exp(low - nats) + std::exp(low - by_length));
}

}  // namespace

std::optional<Answers> answers_of(Sum reading) {
    Answers answers;
    if (!Writer(answers).write(reading, Place::whole)) return std::nullopt;
    return answers;
}

FormPrices prices_of(const PriceTable& table, const std::vector<simplipy::Node>& postfix, std::size_t n_columns) {
    const auto n_variables = static_cast<double>(std::ranges::count(postfix, Op::variable, &simplipy::Node::op));
    const double by_length = table.token_nats * static_cast<double>(postfix.size()) +
                             n_variables * std::log(static_cast<double>(std::max<std::size_t>(n_columns, 1))) -
                             std::log(table.length_share);
    Sum reading = read(postfix);
    Sum fitted = reading;
    const bool has_numbers = free_numbers(fitted);
    const double written = price_of(table, std::move(reading), by_length, n_columns);
    return {written, has_numbers ? price_of(table, std::move(fitted), by_length, n_columns) : written};
}

}  // namespace flash_ansr
