#include "usual_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace flash_ansr {
namespace {

constexpr int most_whole = 20;
constexpr double tolerance = 1e-12;

std::string fraction(int p, int q, const std::string& above, const std::string& below) {
    std::string text = above.empty() ? std::to_string(p) : p == 1 ? above : std::to_string(p) + "*" + above;
    if (q > 1) text += "/" + std::to_string(q);
    return below.empty() ? text : text + "/" + below;
}

std::vector<UsualNumber> made() {
    std::vector<UsualNumber> numbers;
    for (const int q : {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 32})
        for (int p = 1; p <= most_whole; ++p) {
            if (std::gcd(p, q) > 1 || (q > 6 && p > 3)) continue;
            const double size = static_cast<double>(p) / q;
            numbers.push_back({size, fraction(p, q, "", "")});
            if (p > 8) continue;
            numbers.push_back({size * std::numbers::pi, fraction(p, q, "pi", "")});
            numbers.push_back({size / std::numbers::pi, fraction(p, q, "", "pi")});
        }
    for (const int whole : {25, 50, 100, 1000, 10000, 100000, 1000000})
        numbers.push_back({static_cast<double>(whole), std::to_string(whole)});
    std::ranges::sort(numbers, {}, &UsualNumber::size);
    return numbers;
}

}  // namespace

const std::vector<UsualNumber>& usual_numbers() {
    static const std::vector<UsualNumber> numbers = made();
    return numbers;
}

std::optional<std::size_t> usual_place(double number) {
    const double size = std::abs(number);
    const auto& numbers = usual_numbers();
    const auto at = std::ranges::lower_bound(numbers, size * (1 - tolerance), {}, &UsualNumber::size);
    if (at == numbers.end() || at->size > size * (1 + tolerance)) return std::nullopt;
    return static_cast<std::size_t>(at - numbers.begin());
}

}  // namespace flash_ansr
