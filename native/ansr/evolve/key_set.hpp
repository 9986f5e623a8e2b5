// The forms that a search has met, as 64-bit hashes in one open-addressing table: 11 to 22 bytes a form, so that ten
// minutes of search stay far below a gigabyte. Two forms share a hash once in some million searches; the second is then
// taken for the first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace flash_ansr {

class KeySet {
  public:
    KeySet() : slots_(1024, empty) {}

    std::size_t size() const { return size_; }

    bool contains(std::uint64_t key) const {
        if (key == empty) key = 1;
        const std::size_t mask = slots_.size() - 1;
        for (std::size_t at = static_cast<std::size_t>(key) & mask; slots_[at] != empty; at = (at + 1) & mask)
            if (slots_[at] == key) return true;
        return false;
    }

    std::vector<std::uint64_t> keys() const {
        std::vector<std::uint64_t> all;
        all.reserve(size_);
        for (const std::uint64_t key : slots_)
            if (key != empty) all.push_back(key);
        return all;
    }

    // Whether the key is new; it is known from now on.
    bool insert(std::uint64_t key) {
        if (key == empty) key = 1;
        if (4 * (size_ + 1) > 3 * slots_.size()) grow();
        if (!place(key)) return false;
        ++size_;
        return true;
    }

  private:
    static constexpr std::uint64_t empty = 0;

    bool place(std::uint64_t key) {
        const std::size_t mask = slots_.size() - 1;
        for (std::size_t at = static_cast<std::size_t>(key) & mask;; at = (at + 1) & mask) {
            if (slots_[at] == key) return false;
            if (slots_[at] == empty) {
                slots_[at] = key;
                return true;
            }
        }
    }

    void grow() {
        std::vector<std::uint64_t> old(2 * slots_.size(), empty);
        old.swap(slots_);
        for (const std::uint64_t key : old)
            if (key != empty) place(key);
    }

    std::vector<std::uint64_t> slots_;
    std::size_t size_ = 0;
};

// Key of a form by its ids; all bits depend on all ids.
inline std::uint64_t hash_form(std::span<const std::int16_t> ids) {
    std::uint64_t key = ids.size() + 0x9e3779b97f4a7c15ULL;
    for (const std::int16_t id : ids) {
        key = (key ^ static_cast<std::uint16_t>(id)) * 0xff51afd7ed558ccdULL;
        key ^= key >> 32;
    }
    key *= 0xc4ceb9fe1a85ec53ULL;
    return key ^ (key >> 29);
}

}  // namespace flash_ansr
