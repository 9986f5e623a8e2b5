#include <algorithm>

#include "core/evaluate/evaluate.hpp"
#include "fit.hpp"

namespace simplipy {

std::vector<double> values_on(const FitRows& rows, const FitJob& fit, std::span<const double> parameters) {
    std::vector<double> columns_data;
    Job job{fit.tree, {}, {}};
    const std::size_t n_constants = count(*fit.tree, Op::constant);
    job.constants.assign(parameters.begin(), parameters.begin() + static_cast<std::ptrdiff_t>(n_constants));
    std::vector<double> values(rows.n());
    // declared parameters are columns of one repeated number
    const std::size_t n_padded = rows.n_padded();
    bool shared = false;
    for (const std::int64_t column : fit.columns) shared = shared || column < 0;
    if (!shared) {
        for (const std::int64_t column : fit.columns) job.columns.push_back(static_cast<std::size_t>(column));
        evaluate(job, {rows.column(0), false, rows.n(), job.columns.size(), 1, static_cast<std::ptrdiff_t>(n_padded)},
                 {values.data(), false});
        return values;
    }
    for (std::size_t i = 0; i < fit.columns.size(); ++i) {
        job.columns.push_back(i);
        const std::int64_t column = fit.columns[i];
        const std::size_t at = columns_data.size();
        columns_data.resize(at + n_padded);
        if (column >= 0) {
            std::copy_n(rows.column(static_cast<std::size_t>(column)), n_padded,
                        columns_data.begin() + static_cast<std::ptrdiff_t>(at));
        } else {
            std::fill_n(columns_data.begin() + static_cast<std::ptrdiff_t>(at), n_padded,
                        parameters[static_cast<std::size_t>(-1 - column)]);
        }
    }
    evaluate(job, {columns_data.data(), false, rows.n(), job.columns.size(), 1, static_cast<std::ptrdiff_t>(n_padded)},
             {values.data(), false});
    return values;
}

}  // namespace simplipy
