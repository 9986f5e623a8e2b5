// A reading as the cells of its answers, and its price from them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "questions.hpp"
#include "reading.hpp"

namespace flash_ansr {

struct Answers {
    std::vector<std::uint32_t> cells;
    std::vector<std::uint32_t> choices;  // for each variable that stands somewhere: how many had stood before it
    std::vector<bool> is_new;            // whether it had not
};

// nullopt where a sum or product is longer than the questions provide for.
std::optional<Answers> answers_of(Sum reading);

// Probabilities of forms: by the answers to the questions, mixed with a prior of length under which nothing is
// impossible.
struct PriceTable {
    std::vector<double> log_probs;  // by cell
    double length_share = 0.02;     // of the prior of length
    double token_nats = 4.0;        // of a token under it
};

// In nats: with its numbers as they are written, and with those that are no exponents as if they were fitted.
struct FormPrices {
    double written;
    double fitted;
};

// Variables are chosen among so many columns.
FormPrices prices_of(const PriceTable& table, const std::vector<simplipy::Node>& postfix, std::size_t n_columns);

}  // namespace flash_ansr
