// Short-lived lists of one simplification: taken from a buffer of the thread that is emptied as a whole between
// rounds, so that the thousands of small lists of a call cost no malloc. Nothing may outlive its round.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace simplipy {

class ScratchBuffer {
  public:
    static ScratchBuffer& of_thread() {
        // a plain pointer needs no initialisation guard, and this model no call for its address
        [[gnu::tls_model("initial-exec")]] static thread_local ScratchBuffer* cached = nullptr;
        if (cached == nullptr) [[unlikely]] {
            thread_local const auto buffer = std::make_unique<ScratchBuffer>();
            cached = buffer.get();
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

    // A place of n_bytes with a copy of what was there.
    [[gnu::noinline]] static void* moved(const void* old, std::size_t n_used, std::size_t n_bytes) {
        void* place = of_thread().take(n_bytes);
        if (n_used > 0) std::memcpy(place, old, n_used);
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

    [[gnu::noinline]] void grow(std::size_t n_bytes) {
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

// The part of std::vector that the simplifier needs. Growing is one call that copies bytes, where a vector puts its own
// loop into every caller; its elements need no destructor and may be moved as bytes.
template <class T>
class Scratch {
  public:
    using value_type = T;

    Scratch() = default;
    Scratch(std::size_t n, const T& value) { resize(n, value); }
    Scratch(std::initializer_list<T> values) { assign(values.begin(), values.end()); }
    template <std::input_iterator It>
    Scratch(It first, It last) {
        assign(first, last);
    }
    Scratch(const Scratch& other) { assign(other.begin(), other.end()); }
    Scratch(Scratch&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)),
          size_(std::exchange(other.size_, 0)),
          capacity_(std::exchange(other.capacity_, 0)) {}
    Scratch& operator=(const Scratch& other) {
        if (this != &other) assign(other.begin(), other.end());
        return *this;
    }
    Scratch& operator=(Scratch&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
        other.size_ = 0;
        return *this;
    }

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T* data() { return data_; }
    const T* data() const { return data_; }
    T* begin() { return data_; }
    T* end() { return data_ + size_; }
    const T* begin() const { return data_; }
    const T* end() const { return data_ + size_; }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }
    T& back() { return data_[size_ - 1]; }
    const T& back() const { return data_[size_ - 1]; }

    void clear() { size_ = 0; }
    void pop_back() { --size_; }
    void reserve(std::size_t n) {
        if (n > capacity_) grow(n);
    }
    void resize(std::size_t n, const T& value = T()) {
        reserve(n);
        for (std::size_t i = size_; i < n; ++i) new (data_ + i) T(value);
        size_ = static_cast<std::uint32_t>(n);
    }
    void push_back(const T& value) {
        if (size_ == capacity_) [[unlikely]] {
            const T kept = value;  // it may stand in this list
            grow(size_ + 1U);
            new (data_ + size_++) T(kept);
            return;
        }
        new (data_ + size_++) T(value);
    }
    void push_back(T&& value) {
        if (size_ == capacity_) [[unlikely]]
            grow(size_ + 1U);
        new (data_ + size_++) T(std::move(value));
    }
    template <class It>
    void assign(It first, It last) {
        clear();
        insert(end(), first, last);
    }
    // Inserts elements that do not stand in this list.
    template <class It>
    void insert(T* at, It first, It last) {
        const auto n = static_cast<std::size_t>(last - first);
        const auto i = static_cast<std::size_t>(at - data_);
        reserve(size_ + n);
        if (i < size_) std::memmove(static_cast<void*>(data_ + i + n), data_ + i, (size_ - i) * sizeof(T));
        for (T* to = data_ + i; first != last; ++first, ++to) new (to) T(*first);
        size_ += static_cast<std::uint32_t>(n);
    }
    void insert(T* at, const T& value) {
        const T kept = value;
        insert(at, &kept, &kept + 1);
    }
    T* erase(T* at) { return erase(at, at + 1); }
    T* erase(T* first, T* last) {
        std::move(last, end(), first);
        size_ -= static_cast<std::uint32_t>(last - first);
        return first;
    }
    template <class Predicate>
    friend void erase_if(Scratch& list, const Predicate& predicate) {
        list.erase(std::remove_if(list.begin(), list.end(), predicate), list.end());
    }
    friend bool operator==(const Scratch& a, const Scratch& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }
    friend bool operator<(const Scratch& a, const Scratch& b) {
        return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
    }

  private:
    void grow(std::size_t n) {
        static_assert(std::is_trivially_destructible_v<T>);
        const std::size_t capacity = std::max(n, capacity_ == 0 ? std::size_t{4} : std::size_t{2} * capacity_);
        data_ = static_cast<T*>(ScratchBuffer::moved(data_, size_ * sizeof(T), capacity * sizeof(T)));
        capacity_ = static_cast<std::uint32_t>(capacity);
    }

    T* data_ = nullptr;
    std::uint32_t size_ = 0;
    std::uint32_t capacity_ = 0;
};

}  // namespace simplipy
