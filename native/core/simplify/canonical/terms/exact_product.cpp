#include "exact_product.hpp"

#include <algorithm>
#include <utility>

namespace simplipy::canonical {

void ExactProduct::gather() {
    if (waiting_.empty()) return;
    Scratch<Rational> all = std::move(waiting_);
    waiting_.clear();
    all.push_back(std::exchange(value_, Rational(0)));
    if (std::any_of(all.begin(), all.end(), [](const Rational& number) { return number.is_zero(); })) return;
    for (Rational& above : all)
        for (Rational& below : all) {
            const Int128 common = gcd(above.p, below.q);
            above.p /= common;
            below.q /= common;
        }
    Rational whole(1);
    for (const Rational& number : all) {
        whole.p = checked_product(whole.p, number.p);
        whole.q = checked_product(whole.q, number.q);
    }
    value_ = whole;
}

ExactProduct ExactProduct::inverse() const {
    ExactProduct result(reciprocal(value_));
    for (const Rational& number : waiting_) result.multiply(reciprocal(number));
    return result;
}

Rational exact_sum(Scratch<Rational> numbers) {
    if (numbers.size() > 2)
        std::sort(numbers.begin(), numbers.end(),
                  [](const Rational& a, const Rational& b) { return std::pair(a.q, a.p) < std::pair(b.q, b.p); });
    Rational sum(0);
    for (const Rational& number : numbers) sum = sum + number;
    return sum;
}

}  // namespace simplipy::canonical
