#include "write_down.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

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

std::size_t atom_answer(Op atom) {
    if (atom == Op::variable) return a_variable;
    const auto& ops = atom_operators();
    return first_atom + static_cast<std::size_t>(std::ranges::find(ops, atom) - ops.begin());
}

std::uint64_t mixed(std::uint64_t value) {
    value = (value ^ (value >> 29)) * 0xbf58476d1ce4e5b9ULL;
    return value ^ (value >> 32);
}

std::uint64_t looks(const Value& value) {
    return value.kind == Value::Kind::number ? mixed(std::bit_cast<std::uint64_t>(value.number))
                                             : static_cast<std::uint64_t>(value.kind);
}

// Numbers for the looks of a factor, term or sum without the names of its variables and the order of operands.
std::uint64_t looks(const Sum& sum);

// Whether the order of its operands counts.
bool has_order(const Factor& factor) { return !simplipy::info(factor.atom).has(simplipy::role::extremum); }

std::uint64_t looks(const Factor& factor) {
    std::uint64_t own = mixed(simplipy::index(factor.atom) + 1) + looks(factor.exponent);
    for (const Sum& operand : factor.operands) own = (has_order(factor) ? mixed(own) : own) + looks(operand);
    return mixed(own);
}

std::uint64_t looks(const Term& term) {
    std::uint64_t total = mixed(looks(term.coefficient) + 7);
    for (const Factor& factor : term.factors) total += looks(factor);
    return mixed(total);
}

std::uint64_t looks(const Sum& sum) {
    std::uint64_t total = 0;
    for (const Term& term : sum.terms) total += looks(term);
    return total;
}

class Writer {
  public:
    explicit Writer(Answers& answers) : answers_(answers) {
        answers_.cells.reserve(64);
        answers_.choices.reserve(16);
        seen_.reserve(8);
    }

    bool write(const Sum& sum, Place place) {
        const std::size_t n = sum.terms.size();
        if (n == 0 || n > most_terms) return false;
        answer(Question::n_terms, terms_context(place), n - 1);
        answers_.n_nodes += n - 1;
        std::array<Keyed<Term>, most_terms> terms;
        for (std::size_t i = 0; i < n; ++i) {
            const Term& term = sum.terms[i];
            if (term.factors.size() > most_factors) return false;
            const std::size_t shape = shape_of(coefficient_of(term.coefficient), term.factors.size());
            terms[i] = {{shape, n > 1 ? looks(term) : 0}, &term};
        }
        return in_order(std::span(terms).first(n), [&](const Term& term, std::size_t i) {
            const TermPlace where{place, i, n - 1 - i};
            answer(Question::shape, shape_context(where, seen_.size()), terms[i].key[0]);
            return write(term, where);
        });
    }

  private:
    using Key = std::array<std::uint64_t, 2>;
    template <class Item>
    struct Keyed {
        Key key;
        const Item* item;
    };

    // Writes items by their keys; of equal ones those first whose variables stood before. Equal ones with new variables
    // may be drawn in any order.
    template <class Item, class Write>
    bool in_order(std::span<Keyed<Item>> items, Write&& write_item) {
        for (std::size_t i = 1; i < items.size(); ++i)  // a handful
            for (std::size_t j = i; j > 0 && items[j].key < items[j - 1].key; --j) std::swap(items[j], items[j - 1]);
        std::size_t n_new = 0;
        for (std::size_t i = 0; i < items.size(); ++i) {
            if (i == 0 || items[i].key != items[i - 1].key) n_new = 0;
            if (i + 1 < items.size() && items[i].key == items[i + 1].key) move_known_to(items, i);
            const std::size_t n_seen = seen_.size();
            if (!write_item(*items[i].item, i)) return false;
            if (seen_.size() > n_seen) answers_.n_orders *= static_cast<double>(++n_new);
        }
        return true;
    }

    template <class Item>
    void move_known_to(std::span<Keyed<Item>> items, std::size_t i) const {
        auto first = places_in(*items[i].item);
        for (std::size_t j = i + 1; j < items.size() && items[j].key == items[i].key; ++j)
            if (auto places = places_in(*items[j].item); places < first) {
                std::swap(items[i], items[j]);
                first = std::move(places);
            }
    }

    bool write(const Term& term, const TermPlace& where) {
        const std::size_t n = term.factors.size();
        FactorPlace place{where, coefficient_of(term.coefficient), 0};
        answers_.n_nodes += std::max<std::size_t>(n, 1) - 1;
        if (place.coefficient != Coefficient::one || n == 0)
            answers_.n_nodes += n > 0 && place.coefficient != Coefficient::minus_one ? 2 : 1;
        answers_.n_made += term.coefficient.is_made() ? 1 : 0;
        if (place.coefficient >= Coefficient::number)
            write_number(term.coefficient.number, n == 0 ? NumberRole::term : NumberRole::coefficient);
        std::array<Keyed<Factor>, most_factors> factors;
        for (std::size_t i = 0; i < n; ++i) factors[i] = {n > 1 ? key_of(term.factors[i]) : Key{}, &term.factors[i]};
        return in_order(std::span(factors).first(n), [&](const Factor& factor, std::size_t i) {
            place.n_after = n - 1 - i;
            return write(factor, place);
        });
    }

    // Writes the factor and moves the place behind it.
    bool write(const Factor& factor, FactorPlace& place) {
        const Beside kind = kind_of(factor.atom);
        answer(Question::atom, atom_context(place), atom_answer(factor.atom));
        const bool is_new = factor.atom == Op::variable && choose(factor.variable, place);
        const std::size_t exponent = exponent_answer(factor.exponent);
        answers_.n_made += factor.exponent.is_made() ? 1 : 0;
        answer(Question::exponent, exponent_context(place, kind, is_new), exponent);
        if (exponent % negative_exponents == other_exponent) write_number(factor.exponent.number, NumberRole::exponent);
        place.before = kind;
        place.exponent_before = exponent;
        answers_.n_nodes += (factor.atom == Op::add ? 0 : 1) + (exponent % negative_exponents == 0 ? 0 : 1);
        std::array<Keyed<Sum>, 2> operands;
        const std::size_t n = factor.operands.size();
        for (std::size_t i = 0; i < n; ++i)
            operands[i] = {{has_order(factor) ? i : 0, n > 1 ? looks(factor.operands[i]) : 0}, &factor.operands[i]};
        return in_order(std::span(operands).first(n),
                        [&](const Sum& operand, std::size_t i) { return write(operand, place_of(factor, i)); });
    }

    template <class Context>
    void answer(Question question, const Context& context, std::size_t choice) {
        answers_.cells.push_back(static_cast<std::uint32_t>(cell_of(question, context) + choice));
    }

    void write_number(double number, NumberRole role) {
        answer(Question::number, number_context(role), usual_place(number).value_or(usual_numbers().size()));
    }

    std::size_t place_among_seen(std::int64_t variable) const {
        return static_cast<std::size_t>(std::ranges::find(seen_, variable) - seen_.begin());
    }

    // Whether the variable is new.
    bool choose(std::int64_t variable, const FactorPlace& where) {
        const std::size_t place = place_among_seen(variable);
        const bool is_new = place == seen_.size();
        const std::size_t cell = cell_of(Question::variable, variable_context(where));
        answers_.choices.push_back({static_cast<std::uint32_t>(cell + (is_new ? new_variable : old_variable)),
                                    static_cast<std::uint32_t>(place)});
        if (is_new) seen_.push_back(variable);
        return is_new;
    }

    // Variables come first, those that stood before first of all; then functions by id, powers, brackets.
    Key key_of(const Factor& factor) const {
        const std::uint64_t exponent = exponent_answer(factor.exponent);
        if (factor.atom == Op::variable) return {place_among_seen(factor.variable) < seen_.size() ? 0U : 1U, exponent};
        const std::size_t rank = factor.atom == Op::add ? 3 : factor.atom == Op::pow ? 2 : 1;
        const std::uint64_t kind = (rank << 16) + (simplipy::index(factor.atom) << 8) + exponent;
        return {kind, looks(factor)};
    }

    template <class Item>
    std::vector<std::size_t> places_in(const Item& item) const {
        std::vector<std::size_t> places;
        collect(item, places);
        std::ranges::sort(places);
        return places;
    }
    void collect(const Sum& sum, std::vector<std::size_t>& places) const {
        for (const Term& term : sum.terms) collect(term, places);
    }
    void collect(const Term& term, std::vector<std::size_t>& places) const {
        for (const Factor& factor : term.factors) collect(factor, places);
    }
    void collect(const Factor& factor, std::vector<std::size_t>& places) const {
        if (factor.atom == Op::variable) places.push_back(place_among_seen(factor.variable));
        for (const Sum& operand : factor.operands) collect(operand, places);
    }

    Answers& answers_;
    std::vector<std::int64_t> seen_;
};

// Calls the function with each choice, the number of variables before it, and whether it is a new one.
template <class Function>
void for_each_choice(const Answers& answers, Function&& function) {
    std::size_t n_seen = 0;
    for (const Answers::Choice& choice : answers.choices) {
        const bool is_new = choice.place == n_seen;
        function(choice, n_seen, is_new);
        n_seen += is_new ? 1 : 0;
    }
}

// Whether the variable can be both: the first one is new, and no column is when all of them stand somewhere.
bool is_asked(std::size_t n_seen, std::size_t n_columns) { return n_seen > 0 && n_seen < n_columns; }

// The choice of columns for the variables, in nats.
double choice_of(const Answers& answers, std::size_t n_columns) {
    double n_ways = 1.0;
    for_each_choice(answers, [&](const Answers::Choice&, std::size_t n_seen, bool is_new) {
        n_ways *= static_cast<double>(is_new ? std::max(n_columns, n_seen + 1) - n_seen : n_seen);
    });
    return std::log(n_ways / answers.n_orders);
}

double price_of(const PriceTable& table, const Sum& reading, std::size_t n_nodes, std::size_t n_columns) {
    const auto answers = answers_of(reading);
    return answers ? table.price_of(*answers, n_columns) + choice_of(*answers, n_columns)
                   : table.price_by_length(n_nodes);
}

}  // namespace

std::optional<Answers> answers_of(const Sum& reading) {
    Answers answers;
    if (!Writer(answers).write(reading, Place::whole)) return std::nullopt;
    return answers;
}

std::vector<std::uint32_t> all_cells(const Answers& answers, std::size_t n_columns) {
    std::vector<std::uint32_t> cells = answers.cells;
    for_each_choice(answers, [&](const Answers::Choice& choice, std::size_t n_seen, bool) {
        if (is_asked(n_seen, n_columns)) cells.push_back(choice.cell);
    });
    return cells;
}

std::uint64_t hash_of(const Answers& answers) {
    std::uint64_t hash = answers.n_made;
    const auto mix = [&](std::uint64_t value) {
        hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
        hash ^= hash >> 29;
    };
    for (const std::uint32_t cell : answers.cells) mix(cell);
    for (const Answers::Choice& choice : answers.choices) mix(choice.place);
    return hash;
}

PriceTable::PriceTable(std::vector<double> log_probs, Shares shares)
    : log_probs_(std::move(log_probs)),
      token_nats_(shares.token_nats),
      log_by_length_(std::log(shares.length)),
      log_by_answers_(std::log1p(-shares.length - shares.known)) {}

double PriceTable::price_by_length(std::size_t n_nodes) const {
    return token_nats_ * static_cast<double>(n_nodes) - log_by_length_;
}

double PriceTable::price_of(const Answers& answers, std::size_t n_columns) const {
    double nats = made_nats * static_cast<double>(answers.n_made);
    for (const std::uint32_t cell : answers.cells) nats -= log_probs_[cell];
    for_each_choice(answers, [&](const Answers::Choice& choice, std::size_t n_seen, bool) {
        if (is_asked(n_seen, n_columns)) nats -= log_probs_[choice.cell];
    });
    const double by_length = -price_by_length(answers.n_nodes);
    const double by_answers = log_by_answers_ - nats;
    const auto known = known_.find(hash_of(answers));
    const double by_law = known == known_.end() ? 0.0 : known->second;
    const double high = std::max(by_answers, by_length);
    return -std::log(by_law + std::exp(high) * (std::exp(by_answers - high) + std::exp(by_length - high)));
}

FormPrices prices_of(const PriceTable& table, const std::vector<simplipy::Node>& postfix, std::size_t n_columns) {
    const Sum reading = read(postfix);
    const double written = price_of(table, reading, postfix.size(), n_columns);
    const auto fitted = with_numbers_fitted(reading);
    return {written, fitted ? price_of(table, *fitted, postfix.size(), n_columns) : written};
}

}  // namespace flash_ansr
