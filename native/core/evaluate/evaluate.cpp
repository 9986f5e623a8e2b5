#include "evaluate.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <new>

#include "core/base/errors.hpp"
#include "core/base/threads.hpp"
#include "core/expression/names.hpp"
#include "program.hpp"

namespace simplipy {
namespace {

constexpr std::size_t max_block = 256;             // rows; registers of typical expressions then stay in the L1 cache
constexpr std::size_t chunk_rows = 4096;           // rows of one task, a multiple of every block size
constexpr std::size_t workspace_budget = 1 << 17;  // doubles, 1 MB: many registers mean smaller blocks

double undefined() { return std::numeric_limits<double>::quiet_NaN(); }

// Aligned registers of one running program.
class Workspace {
  public:
    explicit Workspace(const Program& program) : n_numbers_(program.n_number_registers) {
        const std::size_t n_blocks = std::max<std::size_t>(
            1, program.n_block_registers + program.n_adjoints + program.n_constants + program.variables.size() + 1);
        block_ = max_block;
        while (block_ > lane_count && n_blocks * block_ > workspace_budget) block_ /= 2;
        const std::size_t size = n_numbers_ * lane_count + n_blocks * block_;
        data_.reset(static_cast<double*>(::operator new[](size * sizeof(double), alignment)));
    }

    std::size_t block() const { return block_; }
    double* number(std::size_t i) { return data_.get() + i * lane_count; }
    double* register_block(std::size_t i) { return data_.get() + n_numbers_ * lane_count + i * block_; }

  private:
    static constexpr std::align_val_t alignment{64};
    struct Free {
        void operator()(double* data) const { ::operator delete[](data, alignment); }
    };
    std::size_t n_numbers_;
    std::size_t block_ = max_block;
    std::unique_ptr<double[], Free> data_;
};

// Runs a program forward over one block of rows at a time.
class Runner {
  public:
    Runner(const Program& program, const Job& job, const Matrix& matrix)
        : program_(program), job_(job), matrix_(matrix), kernels_(active_kernels()), work_(program) {
        for (std::size_t i = 0; i < program.numbers.size(); ++i) {
            const Program::Number& number = program.numbers[i];
            const double value =
                number.constant < 0 ? number.value : job.constants[static_cast<std::size_t>(number.constant)];
            std::fill_n(work_.number(i), lane_count, value - value == 0.0 ? value : undefined());
        }
        for (const Instruction& code : program.number_code) {
            if (arity(code.op) == 1) {
                kernels_.unary[index(code.op)](lane_count, work_.number(code.a), work_.number(code.out));
            } else {
                kernels_.binary[index(code.op)][0](lane_count, work_.number(code.a), work_.number(code.b),
                                                   work_.number(code.out));
            }
        }
    }

    std::size_t block() const { return work_.block(); }
    Workspace& work() { return work_; }

    // Values of rows [start, start + n), valid until the next call; up to a multiple of lane_count is written.
    const double* run(std::size_t start, std::size_t n) {
        const std::size_t padded = padded_size(n);
        for (std::size_t i = 0; i < program_.variables.size(); ++i) load(i, start, n, padded);
        for (const Instruction& code : program_.code) step(code, padded);
        if (!program_.result_is_number) return work_.register_block(program_.result);
        double* out = work_.register_block(program_.n_block_registers);  // spare register
        std::fill_n(out, padded, *work_.number(program_.result));
        return out;
    }

    static std::size_t padded_size(std::size_t n) { return (n + lane_count - 1) / lane_count * lane_count; }

    const double* operand(std::uint32_t reg, bool is_number) {
        return is_number ? work_.number(reg) : work_.register_block(reg);
    }

  private:
    void load(std::size_t variable, std::size_t start, std::size_t n, std::size_t padded) {
        const std::ptrdiff_t offset = static_cast<std::ptrdiff_t>(start) * matrix_.row_stride +
                                      static_cast<std::ptrdiff_t>(job_.columns[variable]) * matrix_.column_stride;
        double* out = work_.register_block(variable);
        if (matrix_.is_float32) {
            kernels_.load_float32(n, static_cast<const float*>(matrix_.data) + offset, matrix_.row_stride, out);
        } else {
            kernels_.load_float64(n, static_cast<const double*>(matrix_.data) + offset, matrix_.row_stride, out);
        }
        std::fill(out + n, out + padded, out[n - 1]);
    }

    void step(const Instruction& code, std::size_t padded) {
        double* out = work_.register_block(code.out);
        if (code.broadcast) {
            std::fill_n(out, padded, *work_.number(code.a));
        } else if (arity(code.op) == 1) {
            kernels_.unary[index(code.op)](padded, work_.register_block(code.a), out);
        } else {
            kernels_.binary[index(code.op)][static_cast<std::size_t>(code.shape)](
                padded, operand(code.a, code.shape == Shape::number_block),
                operand(code.b, code.shape == Shape::block_number), out);
        }
    }

    const Program& program_;
    const Job& job_;
    const Matrix& matrix_;
    const Kernels& kernels_;
    Workspace work_;
};

void store(const double* from, std::size_t n, Output to, std::size_t at) {
    if (to.is_float32) {
        std::transform(from, from + n, static_cast<float*>(to.data) + at,
                       [](double v) { return static_cast<float>(v); });
    } else {
        std::copy_n(from, n, static_cast<double*>(to.data) + at);
    }
}

void evaluate_rows(const Program& program, const Job& job, const Matrix& matrix, std::size_t start, std::size_t end,
                   Output values, bool* defined, std::size_t offset) {
    Runner runner(program, job, matrix);
    for (std::size_t at = start; at < end; at += runner.block()) {
        const std::size_t n = std::min(runner.block(), end - at);
        const double* result = runner.run(at, n);
        store(result, n, values, offset + at);
        if (defined != nullptr)
            std::transform(result, result + n, defined + offset + at, [](double v) { return v == v; });
    }
}

// The backward sweep of one block: adjoints flow from the root's 1 to constants or variables.
class Sweep {
  public:
    Sweep(const Program& program, const Job& job, const Matrix& matrix, Wrt wrt)
        : program_(program),
          runner_(program, job, matrix),
          kernels_(active_kernels()),
          kind_(wrt == Wrt::constants ? Target::Kind::constant : Target::Kind::variable),
          n_outputs_(wrt == Wrt::constants ? program.n_constants : program.variables.size()) {}

    std::size_t block() const { return runner_.block(); }
    std::size_t n_outputs() const { return n_outputs_; }
    const double* output(std::size_t k) { return output_block(k); }

    const double* run(std::size_t start, std::size_t n) {
        const double* values = runner_.run(start, n);
        const std::size_t padded = Runner::padded_size(n);
        for (std::size_t k = 0; k < n_outputs_; ++k) std::fill_n(output_block(k), padded, 0.0);
        if (program_.result_target.kind == kind_) {  // the root is a leaf
            std::fill_n(output_block(program_.result_target.index), padded, 1.0);
        } else if (program_.result_target.kind == Target::Kind::slot) {
            std::fill_n(adjoint(program_.result_target.index), padded, 1.0);
            for (auto code = program_.code.rbegin(); code != program_.code.rend(); ++code) step(*code, padded);
        }
        for (std::size_t k = 0; k < n_outputs_; ++k)
            for (std::size_t i = 0; i < n; ++i)
                if (values[i] != values[i]) output_block(k)[i] = undefined();
        return values;
    }

  private:
    double* adjoint(std::size_t slot) { return runner_.work().register_block(program_.n_block_registers + 1 + slot); }
    double* output_block(std::size_t k) { return adjoint(program_.n_adjoints + k); }

    void step(const Instruction& code, std::size_t padded) {
        if (code.broadcast) return;
        if (code.a_target.kind == Target::Kind::none && code.b_target.kind == Target::Kind::none) return;
        const double* a = runner_.operand(code.a, code.shape == Shape::number_block);
        const double* b = runner_.operand(code.b, code.shape == Shape::block_number);
        const double* v = runner_.operand(code.out, false);
        double* g = adjoint(code.adjoint);
        const std::size_t shape = static_cast<std::size_t>(code.shape);
        if (arity(code.op) == 1) {
            send(code.a_target, padded, g,
                 [&](double* out) { kernels_.unary_adjoint[index(code.op)](padded, a, v, g, out); });
            return;
        }
        if (code.a_target.kind != Target::Kind::none)
            send(code.a_target, padded, nullptr,
                 [&](double* out) { kernels_.left_adjoint[index(code.op)][shape](padded, a, b, v, g, out); });
        if (code.b_target.kind != Target::Kind::none)
            send(code.b_target, padded, g,
                 [&](double* out) { kernels_.right_adjoint[index(code.op)][shape](padded, a, b, v, g, out); });
    }

    // A slot or a constant has one parent and is assigned; a variable occurs often and is summed up. The last operand's
    // kernel may overwrite the operator's own adjoint, which nobody reads again.
    template <class Kernel>
    void send(Target target, std::size_t padded, double* reusable, const Kernel& kernel) {
        if (target.kind == Target::Kind::slot) {
            kernel(adjoint(target.index));
        } else if (target.kind == Target::Kind::constant) {
            kernel(output_block(target.index));
        } else {
            double* out = reusable;
            if (out == nullptr) {
                spare_.resize(padded);
                out = spare_.data();
            }
            kernel(out);
            double* sum = output_block(target.index);
            for (std::size_t i = 0; i < padded; ++i) sum[i] += out[i];
        }
    }

    const Program& program_;
    Runner runner_;
    const Kernels& kernels_;
    Target::Kind kind_;
    std::size_t n_outputs_;
    std::vector<double> spare_;
};

void gradient_rows(const Program& program, const Job& job, const Matrix& matrix, Wrt wrt, std::size_t start,
                   std::size_t end, Output derivatives, double* values) {
    Sweep sweep(program, job, matrix, wrt);
    const std::size_t m = sweep.n_outputs();
    std::vector<double> rows(sweep.block() * m);
    for (std::size_t at = start; at < end; at += sweep.block()) {
        const std::size_t n = std::min(sweep.block(), end - at);
        const double* result = sweep.run(at, n);
        if (values != nullptr) std::copy_n(result, n, values + at);
        for (std::size_t k = 0; k < m; ++k) {
            const double* column = sweep.output(k);
            for (std::size_t i = 0; i < n; ++i) rows[i * m + k] = column[i];
        }
        store(rows.data(), n * m, derivatives, at * m);
    }
}

std::size_t n_chunks(const Matrix& matrix) { return (matrix.n_rows + chunk_rows - 1) / chunk_rows; }

}  // namespace

Job make_job(const Tree& tree, std::vector<double> constants, std::size_t n_columns, const ColumnNames* names) {
    Job job{&tree, {}, std::move(constants)};
    for (const std::int64_t code : variable_codes(tree)) {
        const std::string name = variable_name(tree, code);
        if (names != nullptr) {
            const auto found = names->find(name);
            if (found == names->end())
                throw EvaluationError("no column for variable '" + shown(name) + "' in the data");
            job.columns.push_back(found->second);
        } else if (code < 0) {
            throw EvaluationError("variable '" + shown(name) +
                                  "' has no column number: an array binds x1, x2, ... to its columns; pass a "
                                  "DataFrame or dict with a column of that name, or rename the variable");
        } else if (static_cast<std::size_t>(code) > n_columns) {
            throw EvaluationError("variable '" + name + "' needs column " + std::to_string(code) + ", X has " +
                                  std::to_string(n_columns) + (n_columns == 1 ? " column" : " columns"));
        } else {
            job.columns.push_back(static_cast<std::size_t>(code) - 1);
        }
    }
    const std::size_t n_constants = count(tree, Op::constant);
    if (n_constants != job.constants.size())
        throw EvaluationError("the expression has " + std::to_string(n_constants) + " free constants, got " +
                              std::to_string(job.constants.size()) + " values; pass constants=[...]");
    return job;
}

void evaluate(const Job& job, const Matrix& matrix, Output values) {
    evaluate_rows(compiled(*job.tree), job, matrix, 0, matrix.n_rows, values, nullptr, 0);
}

void evaluate(std::span<const Job> jobs, const Matrix& matrix, Output values, bool* defined, std::size_t n_threads) {
    const std::size_t chunks = n_chunks(matrix);
    if (n_threads <= 1) {
        for (std::size_t i = 0; i < jobs.size(); ++i) {
            const Program program = compile(*jobs[i].tree, Program::Mode::values);
            evaluate_rows(program, jobs[i], matrix, 0, matrix.n_rows, values, defined, i * matrix.n_rows);
        }
        return;
    }
    parallel_for(jobs.size() * chunks, n_threads, [&](std::size_t task) {
        const std::size_t i = task / chunks;
        const std::size_t start = task % chunks * chunk_rows;
        const Program program = compile(*jobs[i].tree, Program::Mode::values);
        evaluate_rows(program, jobs[i], matrix, start, std::min(start + chunk_rows, matrix.n_rows), values, defined,
                      i * matrix.n_rows);
    });
}

void gradient(const Job& job, const Matrix& matrix, Wrt wrt, Output derivatives, double* values,
              std::size_t n_threads) {
    const Program program =
        compile(*job.tree, wrt == Wrt::constants ? Program::Mode::adjoint_constants : Program::Mode::adjoint_variables);
    parallel_for(n_chunks(matrix), n_threads, [&](std::size_t task) {
        const std::size_t start = task * chunk_rows;
        gradient_rows(program, job, matrix, wrt, start, std::min(start + chunk_rows, matrix.n_rows), derivatives,
                      values);
    });
}

}  // namespace simplipy
