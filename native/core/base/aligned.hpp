// A buffer of doubles on a 64-byte boundary that only grows, so that its owner can work on many problems in turn.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace simplipy {

class AlignedBuffer {
  public:
    // At least n doubles; contents are lost where it has to grow.
    void reserve(std::size_t n) {
        if (n <= size_) return;
        data_.reset();
        data_.reset(static_cast<double*>(::operator new[](n * sizeof(double), alignment)));
        size_ = n;
    }

    double* data() { return data_.get(); }
    const double* data() const { return data_.get(); }

  private:
    static constexpr std::align_val_t alignment{64};
    struct Free {
        void operator()(double* data) const { ::operator delete[](data, alignment); }
    };
    std::unique_ptr<double[], Free> data_;
    std::size_t size_ = 0;
};

}  // namespace simplipy
