#include "proof.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "boxes.hpp"
#include "core/base/threads.hpp"
#include "rounding.hpp"

namespace simplipy {
namespace {

using Point = std::vector<double>;

constexpr std::size_t n_corners = 64;          // of a box with more than six variables that are tried
constexpr std::size_t n_inside = 64;           // points inside a box that are tried
constexpr std::size_t least_boxes = 8;         // for a line that is not settled at once
constexpr std::size_t shares_of_line = 8;      // the boxes that are left, over those that one line gets
constexpr std::size_t most_bisections = 2000;  // between a point and a pole: as many as there are doubles on the way
constexpr double wide = 16.0;                  // a range of one sign with a larger ratio is cut by its logarithms
constexpr std::size_t no_variable = static_cast<std::size_t>(-1);

// The number at a share of the way between two numbers.
double between(double low, double high, double share) {
    if (high < 0.0) return -between(-high, -low, 1.0 - share);
    const bool by_logarithm = low > 0.0 && high / low > wide;
    const double found = by_logarithm ? std::exp(std::log(low) * (1.0 - share) + std::log(high) * share)
                                      : low * (1.0 - share) + high * share;
    return std::clamp(found, low, high);
}

Point middle(const Part& part) {
    Point point(part.from.size());
    for (std::size_t i = 0; i < point.size(); ++i)
        point[i] = 0.5 * std::max(part.from[i], -largest) + 0.5 * std::min(part.to[i], largest);
    return point;
}

// Corners of a box, all or some, and points spread evenly inside it, one after the other.
std::vector<double> sample(Part box) {
    const std::size_t n = box.from.size();
    for (std::size_t i = 0; i < n; ++i) {
        box.from[i] = std::max(box.from[i], -largest);
        box.to[i] = std::min(box.to[i], largest);
    }
    const bool has_few = n <= 6;
    std::vector<double> points;
    for (std::size_t k = 0; k < (has_few ? std::size_t{1} << n : n_corners); ++k)
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint64_t random = (k * n + i + 1) * 0x9e3779b97f4a7c15ULL >> 63;
            points.push_back((has_few ? k >> i & 1U : random) != 0 ? box.to[i] : box.from[i]);
        }
    // multiples of the powers of 1/root, with root^(n+1) = root + 1, fill a cube evenly
    double root = 2.0;
    for (int step = 0; step < 30; ++step) root = std::pow(1.0 + root, 1.0 / static_cast<double>(n + 1));
    for (std::size_t k = 1; k <= n_inside; ++k) {
        double turns = static_cast<double>(k);
        for (std::size_t i = 0; i < n; ++i) {
            turns /= root;
            points.push_back(between(box.from[i], box.to[i], turns - std::floor(turns)));
        }
    }
    return points;
}

// Points inside a line.
std::vector<double> sample_line(const Part& line) {
    std::vector<double> points;
    for (const double share : {0.25, 0.5, 0.75})
        for (std::size_t i = 0; i < line.from.size(); ++i)
            points.push_back(line.from[i] * (1.0 - share) + line.to[i] * share);
    return points;
}

enum class Verdict : std::uint8_t { settled, failed, open };

// Looks for a proof of one claim, or for a failure.
class Prover {
  public:
    Prover(const Job& job, const Claim& claim)
        : claim_(claim),
          job_{job.tree, std::vector<std::size_t>(job.columns.size()), job.constants},
          tree_(*job.tree),
          sides_(tree_.n_poles()),
          low_(job.columns.size()),
          high_(job.columns.size()) {
        std::iota(job_.columns.begin(), job_.columns.end(), std::size_t{0});
        finding_.low = infinite;
        finding_.high = -infinite;
    }

    Finding on_box(Part box) {
        box.n_cuts.resize(low_.size());
        is_line_ = false;
        return finish(search(std::move(box), claim_.max_boxes));
    }

    Finding on_lines(const std::vector<Part>& lines) {
        is_line_ = true;
        Verdict all = Verdict::settled;
        std::size_t n_left = claim_.max_boxes;
        for (const Part& line : lines) {
            const std::size_t n_before = n_judged_;
            const Verdict found = search(line, std::max(least_boxes, n_left / shares_of_line));
            n_left -= std::min(n_left, n_judged_ - n_before - 1);
            if (found == Verdict::failed) {
                widen_bounds({-infinite, infinite});  // nothing is known of the lines that are left
                return finish(found);
            }
            if (found == Verdict::open) all = found;
        }
        return finish(all);
    }

  private:
    struct KnownSide {
        double side = 0.0;
        Point point;  // empty while no side is known
    };

    Finding finish(Verdict verdict) {
        constexpr Proof proofs[] = {Proof::proved, Proof::disproved, Proof::unknown};
        finding_.low += 0.0;  // no -0
        finding_.high += 0.0;
        finding_.proof = proofs[static_cast<std::size_t>(verdict)];
        return std::move(finding_);
    }

    Verdict fail(Failure failure, Point point) {
        finding_.failure = failure;
        finding_.point = std::move(point);
        return Verdict::failed;
    }

    // ---- points, in doubles

    // Whether the formula fails at one of these points, one after the other.
    bool fails_at(const std::vector<double>& points) {
        const std::size_t n = low_.size();
        if (n == 0 || points.empty()) return false;
        const std::size_t n_rows = points.size() / n;
        std::vector<double> values(n_rows);
        evaluate(job_, {points.data(), false, n_rows, n, static_cast<std::ptrdiff_t>(n), 1}, {values.data(), false});
        for (std::size_t k = 0; k < n_rows; ++k) {
            const bool is_outside = values[k] < claim_.low || values[k] > claim_.high;
            if (std::isfinite(values[k]) && !is_outside) continue;
            const auto first = points.begin() + static_cast<std::ptrdiff_t>(k * n);
            const Point point(first, first + static_cast<std::ptrdiff_t>(n));
            Part here{point, point};
            // a finite double may lie outside the range where the number does not
            if (!std::isfinite(values[k]))
                fail(std::isnan(values[k]) ? Failure::undefined : Failure::overflow, point);
            else if (judge(here) != Verdict::failed)
                continue;
            return true;
        }
        return false;
    }

    // ---- parts, in intervals

    void run(const Point& from, const Point& to) {
        for (std::size_t i = 0; i < low_.size(); ++i) {
            low_[i] = std::min(from[i], to[i]);
            high_[i] = std::max(from[i], to[i]);
        }
        tree_.run({low_, high_});
        ++n_judged_;
    }

    Verdict judge(Part& part) {
        run(part.from, part.to);
        const Interval root = tree_.root();
        if (root.defined == Defined::nowhere) return fail(Failure::undefined, middle(part));
        if (root.low >= largest || root.high <= -largest) return fail(Failure::overflow, middle(part));
        if (root.low > claim_.high || root.high < claim_.low) return fail(Failure::outside, middle(part));
        part.cut = is_line_ ? 0 : variable_to_cut(part);
        if (crosses_a_pole(part)) return Verdict::failed;
        const bool is_settled = root.defined == Defined::everywhere && root.is_bounded() && root.low >= claim_.low &&
                                root.high <= claim_.high;
        return is_settled ? Verdict::settled : Verdict::open;
    }

    // Whether the part lies on another side of a pole than one before it.
    bool crosses_a_pole(const Part& part) {
        for (std::size_t pole = 0; pole < sides_.size(); ++pole) {
            const double side = tree_.side(pole);
            if (side != side) continue;
            KnownSide& known = sides_[pole];
            if (known.point.empty()) {
                known = {side, middle(part)};
            } else if (known.side != side) {
                fail(Failure::pole, pole_between(pole, known, middle(part)));
                return true;
            }
        }
        return false;
    }

    // The first double on the way to a point beyond the pole where the known side is left.
    Point pole_between(std::size_t pole, const KnownSide& known, Point beyond) {
        Point near = known.point;
        for (std::size_t i = 0; i < most_bisections; ++i) {
            Point point = middle({near, beyond});
            if (point == near || point == beyond) break;
            run(point, point);
            (tree_.side(pole) == known.side ? near : beyond) = std::move(point);
        }
        return beyond;
    }

    // Of the variables that keep the part from being settled, the one that was cut least; they may all be numbers.
    std::size_t variable_to_cut(const Part& part) const {
        std::size_t best = no_variable;
        for (const std::size_t i : tree_.suspects())
            if (part.from[i] < part.to[i] && (best == no_variable || part.n_cuts[i] < part.n_cuts[best])) best = i;
        return best;
    }

    bool cut(const Part& part, Part& first, Part& second) const {
        if (part.cut == no_variable) return false;
        first = second = part;
        if (is_line_) {
            first.to = second.from = middle(part);
            return first.to != part.from && first.to != part.to;
        }
        const double at = between(std::max(part.from[part.cut], -largest), std::min(part.to[part.cut], largest), 0.5);
        first.to[part.cut] = second.from[part.cut] = at;
        ++first.n_cuts[part.cut];
        ++second.n_cuts[part.cut];
        return part.from[part.cut] < at && at < part.to[part.cut];
    }

    void widen_bounds(const Interval& values) {
        finding_.low = std::min(finding_.low, values.low);
        finding_.high = std::max(finding_.high, values.high);
    }

    // The claim on the whole, looking at so many of its parts at most.
    Verdict search(Part whole, std::size_t limit) {
        for (KnownSide& known : sides_) known.point.clear();
        const std::size_t last = n_judged_ + limit;
        Verdict verdict = judge(whole);
        const Interval bounds = tree_.root();
        if (verdict == Verdict::open && fails_at(is_line_ ? sample_line(whole) : sample(whole)))
            verdict = Verdict::failed;
        Interval settled{infinite, -infinite};
        const bool is_cut = verdict == Verdict::open;
        if (is_cut) verdict = search_parts(std::move(whole), settled, last);
        widen_bounds(is_cut && verdict == Verdict::settled ? settled : bounds);
        return verdict;
    }

    Verdict search_parts(Part whole, Interval& settled, std::size_t last) {
        std::vector<Part> open = {std::move(whole)};
        std::vector<double> left_open;  // middles of parts that stay so
        for (std::size_t next = 0; next < open.size(); ++next) {
            Part halves[2];
            if (n_judged_ + 2 > last || !cut(open[next], halves[0], halves[1])) {
                const Point point = middle(open[next]);
                left_open.insert(left_open.end(), point.begin(), point.end());
                continue;
            }
            for (Part& half : halves) {
                const Verdict found = judge(half);
                if (found == Verdict::failed) return found;
                if (found == Verdict::settled)
                    settled = {std::min(settled.low, tree_.root().low), std::max(settled.high, tree_.root().high)};
                else
                    open.push_back(std::move(half));
            }
        }
        if (left_open.empty() && low_.size() > 0) return Verdict::settled;
        return fails_at(left_open) ? Verdict::failed : Verdict::open;
    }

    Claim claim_;
    Job job_;  // of matrices that have the formula's variables as columns, in their order
    TreeOnBoxes tree_;
    bool is_line_ = false;
    std::vector<KnownSide> sides_;  // by pole
    Point low_;                     // of the last part
    Point high_;
    std::size_t n_judged_ = 0;
    Finding finding_;
};

std::vector<Part> lines_of(const Job& job, const Matrix& starts, const Matrix& ends) {
    const auto row_of = [&](const Matrix& matrix, std::size_t row) {
        Point point;
        for (const std::size_t column : job.columns)
            point.push_back(
                static_cast<const double*>(matrix.data)[static_cast<std::ptrdiff_t>(row) * matrix.row_stride +
                                                        static_cast<std::ptrdiff_t>(column) * matrix.column_stride]);
        return point;
    };
    std::vector<Part> lines;
    for (std::size_t row = 0; row < starts.n_rows; ++row) lines.push_back({row_of(starts, row), row_of(ends, row)});
    return lines;
}

}  // namespace

std::vector<Finding> prove_on_box(std::span<const Job> jobs, std::span<const double> low, std::span<const double> high,
                                  const Claim& claim, std::size_t n_threads) {
    std::vector<Finding> findings(jobs.size());
    parallel_for(jobs.size(), n_threads, [&](std::size_t i) {
        Part box;
        for (const std::size_t column : jobs[i].columns) {
            box.from.push_back(low[column]);
            box.to.push_back(high[column]);
        }
        findings[i] = Prover(jobs[i], claim).on_box(std::move(box));
    });
    return findings;
}

std::vector<Finding> prove_on_lines(std::span<const Job> jobs, const Matrix& starts, const Matrix& ends,
                                    const Claim& claim, std::size_t n_threads) {
    std::vector<Finding> findings(jobs.size());
    parallel_for(jobs.size(), n_threads, [&](std::size_t i) {
        findings[i] = Prover(jobs[i], claim).on_lines(lines_of(jobs[i], starts, ends));
    });
    return findings;
}

}  // namespace simplipy
