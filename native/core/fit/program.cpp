#include "program.hpp"

#include <cmath>
#include <limits>

namespace simplipy {

std::size_t FitProgram::term_of(std::int32_t parameter) const {
    std::size_t i = 0;
    while (terms[i].parameter != static_cast<std::uint32_t>(parameter)) ++i;
    return i;
}

void FitProgram::recover(std::span<const double> linear, std::span<const double> values,
                         std::span<double> parameters) const {
    for (std::size_t j = 0; j < nonlinear.size(); ++j)
        parameters[nonlinear[j].parameter] = nonlinear[j].is_log ? std::exp(values[j]) : values[j];
    for (std::size_t i = 0; i < terms.size(); ++i) {
        double value = linear[i] / terms[i].factor;
        if (terms[i].parent >= 0 && value != 0.0) {
            const std::size_t parent = term_of(terms[i].parent);
            value /= linear[parent] / terms[parent].factor;
        }
        parameters[terms[i].parameter] = value;
    }
}

std::vector<std::vector<double>> FitProgram::starts(std::span<const std::vector<double>> parameters) const {
    std::vector<std::vector<double>> starts;
    for (const std::vector<double>& start : parameters) {
        std::vector<double>& point = starts.emplace_back();
        for (const Nonlinear& one : nonlinear) {
            const double value = one.is_log ? std::log(std::fabs(start[one.parameter])) : start[one.parameter];
            point.push_back(std::isfinite(value) ? value : std::numeric_limits<double>::quiet_NaN());
        }
    }
    return starts;
}

}  // namespace simplipy
