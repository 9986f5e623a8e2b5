// A value computed on first use and kept by its owner. Copies of the owner and owners that
// are assigned to start without it; all caches compare equal.
#pragma once

#include <atomic>
#include <memory>

namespace simplipy {

template <class T>
class Cached {
  public:
    Cached() = default;
    Cached(const Cached&) {}
    Cached& operator=(const Cached&) {
        delete value_.exchange(nullptr);  // it belongs to what the owner was before
        return *this;
    }
    ~Cached() { delete value_.load(); }

    // The kept value, or make() kept from now on. Threads may race: one result stays, the others are dropped.
    template <class Make>
    const T& get(const Make& make) const {
        const T* kept = value_.load(std::memory_order_acquire);
        if (kept != nullptr) return *kept;
        auto made = std::make_unique<const T>(make());
        if (value_.compare_exchange_strong(kept, made.get())) return *made.release();
        return *kept;
    }

    friend bool operator==(const Cached&, const Cached&) { return true; }

  private:
    mutable std::atomic<const T*> value_{nullptr};
};

}  // namespace simplipy
