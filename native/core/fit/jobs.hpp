// From trees and the names of columns and parameters to jobs for the fitter, a whole list in one pass.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/expression/tree.hpp"
#include "fit.hpp"

namespace simplipy {

struct FitNames {
    std::vector<std::string> columns;     // of the rows, in their order
    std::vector<std::string> parameters;  // variables that are to be fitted
};

// The variables of all trees: x_k by number, then names in the order of characters.
std::vector<std::string> variables_of(std::span<const Tree* const> trees);

// One job a tree, every variable of which must be named. `parameter_starts`: one for each named parameter; a job starts
// from those of its own parameters, which follow its free constants in the order of the names.
std::vector<FitJob> make_fit_jobs(std::span<const Tree* const> trees, const FitNames& names,
                                  std::span<const double> parameter_starts);

// The caller's starts of a job's free constants, n_constants each, in front of those of its parameters.
void set_starts(FitJob& job, std::span<const double> starts);

}  // namespace simplipy
