// When to stop: a deadline, and an interruption that the caller's own thread asks about from time to time.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

namespace simplipy {

class Watch {
  public:
    using Clock = std::chrono::steady_clock;

    // seconds < 0, or longer than anyone waits: no deadline. `interrupted` is called on the thread that makes the
    // watch.
    Watch(double seconds, std::function<bool()> interrupted)
        : has_deadline_(seconds >= 0.0 && seconds <= longest),
          deadline_(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                       std::chrono::duration<double>(has_deadline_ ? seconds : 0.0))),
          interrupted_(std::move(interrupted)),
          next_question_(Clock::now() + question_interval) {}

    // Whether to stop now. Once true, always true.
    bool over() {
        if (stopped_.load(std::memory_order_relaxed)) return true;
        const Clock::time_point now = Clock::now();
        if (has_deadline_ && now >= deadline_) stopped_ = true;
        if (interrupted_ && std::this_thread::get_id() == owner_ && now >= next_question_) {
            next_question_ = now + question_interval;
            if (interrupted_()) {
                was_interrupted_ = true;
                stopped_ = true;
            }
        }
        return stopped_;
    }

    bool was_interrupted() const { return was_interrupted_; }

  private:
    static constexpr std::chrono::milliseconds question_interval{50};
    static constexpr double longest = 1e9;  // seconds; in nanoseconds far more leave the range of the clock
    bool has_deadline_;
    Clock::time_point deadline_;
    std::function<bool()> interrupted_;
    Clock::time_point next_question_;
    std::thread::id owner_ = std::this_thread::get_id();
    std::atomic<bool> stopped_{false};
    std::atomic<bool> was_interrupted_{false};
};

}  // namespace simplipy
