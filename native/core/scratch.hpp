// Short-lived lists of one simplification: taken from a buffer of the thread that is emptied as a whole between
// rounds, so that the thousands of small lists of a call cost no malloc. Nothing may outlive its round.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace simplipy {

class ScratchBuffer {
  public:
    static ScratchBuffer& of_thread() {
        // a plain pointer needs no initialisation guard, and this model no call for its address
        [[gnu::tls_model("initial-exec")]] static thread_local ScratchBuffer* cached = nullptr;
        if (cached == nullptr) [[unlikely]] {
            thread_local ScratchBuffer buffer;
            cached = &buffer;
        }
        return *cached;
    }

    void* take(std::size_t n_bytes) {
        n_bytes = (n_bytes + alignment - 1) / alignment * alignment;
        if (at_ + n_bytes > size_) grow(n_bytes);
        void* place = block_ + at_;
        at_ += n_bytes;
        return place;
    }

    void reset() {
        if (blocks_.size() > 1) blocks_.resize(1);  // one huge input must not keep its memory
        if (blocks_.empty()) return;
        block_ = blocks_[0].get();
        size_ = first_block;
        at_ = 0;
    }

  private:
    static constexpr std::size_t alignment = 16;
    static constexpr std::size_t first_block = std::size_t{1} << 18;

    void grow(std::size_t n_bytes) {
        const std::size_t wanted = blocks_.empty() ? first_block : std::max(n_bytes, 2 * size_);
        blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(std::max(wanted, n_bytes)));
        block_ = blocks_.back().get();
        size_ = std::max(wanted, n_bytes);
        at_ = 0;
    }

    std::vector<std::unique_ptr<std::byte[]>> blocks_;
    std::byte* block_ = nullptr;
    std::size_t size_ = 0;
    std::size_t at_ = 0;
};

template <class T>
struct ScratchAllocator {
    using value_type = T;
    ScratchAllocator() = default;
    template <class U>
    ScratchAllocator(const ScratchAllocator<U>&) {}
    T* allocate(std::size_t n) { return static_cast<T*>(ScratchBuffer::of_thread().take(n * sizeof(T))); }
    void deallocate(T*, std::size_t) {}
    friend bool operator==(const ScratchAllocator&, const ScratchAllocator&) { return true; }
};

template <class T>
using Scratch = std::vector<T, ScratchAllocator<T>>;

}  // namespace simplipy
