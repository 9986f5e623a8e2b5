#include "write_down.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "usual_numbers.hpp"

namespace flash_ansr {
namespace {

using simplipy::Op;

// of a number that no law writes out, and that usual ones make: there are some hundreds of these
constexpr double made_nats = 6.0;

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
        answers_.n_made += term.coefficient.is_made() ? 1 : 0;
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
            answers_.n_made += factor.exponent.is_made() ? 1 : 0;
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
        const auto place = std::ranges::find(seen_, variable) - seen_.begin();
        answers_.places.push_back(static_cast<std::uint32_t>(place));
        if (place == std::ssize(seen_)) seen_.push_back(variable);
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
        if (coefficient_of(term.coefficient) >= Coefficient::number || term.coefficient.is_made()) {
            term.coefficient = Value::fitted();
            any = true;
        }
        for (Factor& factor : term.factors)
            for (Sum& operand : factor.operands) any |= free_numbers(operand);
    }
    return any;
}

// The choice of columns for the variables, in nats.
double choice_of(const std::vector<std::uint32_t>& places, std::size_t n_columns) {
    double nats = 0.0;
    std::size_t n_seen = 0;
    for (const std::uint32_t place : places) {
        const bool is_new = place == n_seen;
        nats += std::log(static_cast<double>(is_new ? std::max(n_columns, n_seen + 1) - n_seen : n_seen));
        n_seen += is_new ? 1 : 0;
    }
    return nats;
}

double price_of(const PriceTable& table, Sum reading, std::size_t n_nodes, std::size_t n_columns) {
    const auto answers = answers_of(std::move(reading));
    return table.price_of(answers, n_nodes) + (answers ? choice_of(answers->places, n_columns) : 0.0);
}

}  // namespace

std::optional<Answers> answers_of(Sum reading) {
    Answers answers;
    if (!Writer(answers).write(reading, Place::whole)) return std::nullopt;
    return answers;
}

std::uint64_t hash_of(const Answers& answers) {
    std::uint64_t hash = answers.n_made;
    const auto mix = [&](std::uint64_t value) {
        hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
        hash ^= hash >> 29;
    };
    for (const std::uint32_t cell : answers.cells) mix(cell);
    for (const std::uint32_t place : answers.places) mix(place);
    return hash;
}

double PriceTable::price_of(const std::optional<Answers>& answers, std::size_t n_nodes) const {
    const double by_length = std::log(shares_.length) - shares_.token_nats * static_cast<double>(n_nodes);
    if (!answers) return -by_length;
    double nats = made_nats * static_cast<double>(answers->n_made);
    for (const std::uint32_t cell : answers->cells) nats -= log_probs_[cell];
    const double by_answers = std::log1p(-shares_.length - shares_.known) - nats;
    const auto known = known_.find(hash_of(*answers));
    const double by_law = known == known_.end() ? 0.0 : known->second;
    const double high = std::max(by_answers, by_length);
    return -std::log(by_law + std::exp(high) * (std::exp(by_answers - high) + std::exp(by_length - high)));
}

FormPrices prices_of(const PriceTable& table, const std::vector<simplipy::Node>& postfix, std::size_t n_columns) {
    Sum reading = read(postfix);
    Sum fitted = reading;
    const bool has_numbers = free_numbers(fitted);
    const double written = price_of(table, std::move(reading), postfix.size(), n_columns);
    return {written, has_numbers ? price_of(table, std::move(fitted), postfix.size(), n_columns) : written};
}

}  // namespace flash_ansr
