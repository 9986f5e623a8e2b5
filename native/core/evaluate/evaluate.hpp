// Evaluation of trees on a matrix in blocks of rows, and reverse-mode derivatives. Never copies the matrix.
// A value is NaN where the expression is undefined. Results do not depend on the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/expression/tree.hpp"

namespace simplipy {

// A float64 or float32 matrix with any strides, counted in elements.
struct Matrix {
    const void* data = nullptr;
    bool is_float32 = false;
    std::size_t n_rows = 0;
    std::size_t n_columns = 0;
    std::ptrdiff_t row_stride = 0;
    std::ptrdiff_t column_stride = 0;
};

// Where results go: float64 or float32, one after the other.
struct Output {
    void* data = nullptr;
    bool is_float32 = false;
};

using ColumnNames = std::unordered_map<std::string, std::size_t>;

// One tree with the columns of its variables (in the order of variable_codes) and the values of its free constants.
struct Job {
    const Tree* tree = nullptr;
    std::vector<std::size_t> columns;
    std::vector<double> constants;
};

// Finds the columns: x_k is column k - 1, or all by name when `names` is given. Checks the number of constants.
Job make_job(const Tree& tree, std::vector<double> constants, std::size_t n_columns, const ColumnNames* names);

// Values of one tree (n_rows) on the calling thread. The tree keeps its program for the next call.
void evaluate(const Job& job, const Matrix& matrix, Output values);

// Values of each job in one row of `values` (n_jobs x n_rows), and where they are defined if `defined` is not null.
void evaluate(std::span<const Job> jobs, const Matrix& matrix, Output values, bool* defined, std::size_t n_threads);

enum class Wrt { constants, variables };

// Derivatives (n_rows x n_constants or n_variables, row by row) and, if not null, values (n_rows).
void gradient(const Job& job, const Matrix& matrix, Wrt wrt, Output derivatives, double* values, std::size_t n_threads);

}  // namespace simplipy
