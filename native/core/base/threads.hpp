// Fork-join over independent tasks. No thread outlives the call; the first exception is rethrown in the caller.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace simplipy {

// Calls body(task) for every task in [0, n_tasks) on up to n_threads threads, the caller's own among them.
template <class Body>
void parallel_for(std::size_t n_tasks, std::size_t n_threads, const Body& body) {
    if (n_threads > n_tasks) n_threads = n_tasks;
    if (n_threads <= 1) {
        for (std::size_t task = 0; task < n_tasks; ++task) body(task);
        return;
    }
    std::atomic<std::size_t> next{0};
    std::exception_ptr error;
    std::mutex error_mutex;
    const auto work = [&] {
        try {
            for (std::size_t task = next++; task < n_tasks; task = next++) body(task);
        } catch (...) {
            const std::lock_guard lock(error_mutex);
            if (!error) error = std::current_exception();
            next = n_tasks;
        }
    };
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 1; i < n_threads; ++i) threads.emplace_back(work);
        work();
    }
    if (error) std::rethrow_exception(error);
}

}  // namespace simplipy
