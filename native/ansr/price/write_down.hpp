// A reading as the cells of its answers, and its price from them.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "questions.hpp"
#include "reading.hpp"

namespace flash_ansr {

struct Answers {
    // Of a variable, each time that one stands somewhere.
    struct Choice {
        std::uint32_t cell;   // of the answer to `variable`
        std::uint32_t place;  // among the variables that stood before; their number for a new one
    };
    std::vector<std::uint32_t> cells;  // of all questions but `variable`
    std::vector<Choice> choices;
    double n_orders = 1.0;    // in which the same form may be drawn
    std::size_t n_made = 0;   // unusual numbers that are made of usual ones
    std::size_t n_nodes = 0;  // of the formula, spelled as it is written down
};

// Equal for answers of forms that are equal up to the names of their variables.
std::uint64_t hash_of(const Answers& answers);

// nullopt where a sum or product is longer than the questions provide for.
std::optional<Answers> answers_of(const Sum& reading);

// The cells of all questions that are asked where variables are chosen among so many columns.
std::vector<std::uint32_t> all_cells(const Answers& answers, std::size_t n_columns);

// Probabilities of forms: those of laws that are known, and of others by the answers to the questions, mixed with a
// prior of length under which nothing is impossible.
class PriceTable {
  public:
    struct Shares {
        double known;       // of the forms of known laws
        double length;      // of the prior of length
        double token_nats;  // of a token under it
    };

    PriceTable(std::vector<double> log_probs, Shares shares);

    // The form with this hash has this probability among known ones.
    void know(std::uint64_t hash, double probability) { known_[hash] = probability; }

    const std::vector<double>& log_probs() const { return log_probs_; }  // by cell
    // In nats, without the choice of columns.
    double price_of(const Answers& answers, std::size_t n_columns) const;
    double price_by_length(std::size_t n_nodes) const;

  private:
    std::vector<double> log_probs_;
    double token_nats_, log_by_length_, log_by_answers_;
    std::unordered_map<std::uint64_t, double> known_;  // probabilities by the hash of the answers
};

// In nats: with its numbers as they are written, and with those that are no exponents as if they were fitted.
struct FormPrices {
    double written;
    double fitted;
};

// Variables are chosen among so many columns.
FormPrices prices_of(const PriceTable& table, const std::vector<simplipy::Node>& postfix, std::size_t n_columns);

}  // namespace flash_ansr
