// The numbers that laws write out: whole numbers to 20, simple fractions, some powers of ten, these times or over pi.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace flash_ansr {

struct UsualNumber {
    double size;
    std::string text;
};

// By size.
const std::vector<UsualNumber>& usual_numbers();

// The place of |number| among them, nullopt for others.
std::optional<std::size_t> usual_place(double number);

}  // namespace flash_ansr
