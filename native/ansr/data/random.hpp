// Random numbers that depend on (seed, index, attempt) only: a generator is made for each problem and each attempt,
// so that a stream is the same for any number of threads, workers and batch sizes.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace flash_ansr {

// xoshiro256++ (Blackman and Vigna), seeded through splitmix64.
class Random {
  public:
    Random(std::uint64_t seed, std::uint64_t index, std::uint64_t attempt) {
        std::uint64_t mixed = splitmix(seed);
        mixed = splitmix(mixed ^ index);
        mixed = splitmix(mixed ^ attempt);
        for (std::uint64_t& word : state_) word = mixed = splitmix(mixed);
    }

    std::uint64_t bits() {
        const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
        const std::uint64_t shifted = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= shifted;
        state_[3] = std::rotl(state_[3], 45);
        return result;
    }

    // In [0, 1).
    double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
    double uniform(double low, double high) { return low + (high - low) * uniform(); }

    // In [0, n), for n far below 2^53, so that the bias of the multiplication is none that counts.
    std::size_t below(std::size_t n) { return static_cast<std::size_t>(uniform() * static_cast<double>(n)); }

    // Standard normal, in pairs by Box and Muller.
    double normal() {
        if (has_spare_) {
            has_spare_ = false;
            return spare_;
        }
        const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
        const double angle = 6.283185307179586 * uniform();
        spare_ = radius * std::sin(angle);
        has_spare_ = true;
        return radius * std::cos(angle);
    }

  private:
    static std::uint64_t splitmix(std::uint64_t x) {
        x += 0x9e3779b97f4a7c15ULL;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
        return x ^ (x >> 31);
    }

    std::array<std::uint64_t, 4> state_;
    double spare_ = 0.0;
    bool has_spare_ = false;
};

}  // namespace flash_ansr
