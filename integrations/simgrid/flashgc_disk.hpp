// A disk for SimGrid that is a simulated flash drive: flashgc::Component on SimGrid's clock.
//
// An actor of its own owns the component. It sleeps until the drive's next event, and wakes those
// that wait for a request. Requests that find the drive full wait here, in their order.
#ifndef FLASHGC_DISK_HPP
#define FLASHGC_DISK_HPP

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <flashgc.hpp>
#include <memory>
#include <mutex>
#include <simgrid/s4u.hpp>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>

namespace flashgc {

class Disk {
 public:
  // Makes the drive, and its actor on this host. SimGrid's clock is 0 then.
  // Events closer than SimGrid's precision become one: set it to 1e-9 first.
  static std::shared_ptr<Disk> create(simgrid::s4u::Host* host, const Options& options) {
    auto opened = Component::open(options);
    if (!opened) throw std::runtime_error(opened.error().text);
    std::shared_ptr<Disk> disk(new Disk(std::move(*opened)));
    simgrid::s4u::Actor::create(host->get_name() + " drive", host, [disk] { disk->serve(); })
        ->daemonize();
    return disk;
  }

  std::uint64_t bytes() const { return drive_.info().bytes; }

  // Writes or reads in pieces, and returns when all of them are done.
  void write(std::uint64_t offset, std::uint64_t bytes, std::uint64_t piece = 1 << 20) {
    ask(Op::write, offset, bytes, piece);
  }
  void read(std::uint64_t offset, std::uint64_t bytes, std::uint64_t piece = 1 << 20) {
    ask(Op::read, offset, bytes, piece);
  }

  // A number of the drive's report until now, such as "write_amplification".
  double number(const char* key) {
    must(drive_.statistics());
    auto value = drive_.number(key);
    must(value);
    return *value;
  }

 private:
  explicit Disk(Component drive) : drive_(std::move(drive)) {}

  struct Piece {
    Op op;
    std::uint64_t offset, bytes, tag;
  };
  // The pieces of one call that are not done.
  struct Call {
    std::uint64_t left;
    simgrid::s4u::SemaphorePtr done = simgrid::s4u::Semaphore::create(0);
  };

  static std::uint64_t now_ns() {
    return static_cast<std::uint64_t>(std::llround(simgrid::s4u::Engine::get_clock() * 1e9));
  }

  template <typename T>
  static void must(const Result<T>& result) {
    if (!result) throw std::runtime_error(result.error().text);
  }

  void ask(Op op, std::uint64_t offset, std::uint64_t bytes, std::uint64_t piece) {
    auto call = std::make_shared<Call>();
    call->left = (bytes + piece - 1) / piece;
    if (call->left == 0) return;
    {
      const std::unique_lock<simgrid::s4u::Mutex> lock(*mutex_);
      for (std::uint64_t at = 0; at < bytes; at += piece) {
        waiting_.push_back({op, offset + at, std::min(piece, bytes - at), next_tag_});
        calls_[next_tag_++] = call;
      }
    }
    asked_->notify_one();
    call->done->acquire();
  }

  // The actor of the drive.
  void serve() {
    std::unique_lock<simgrid::s4u::Mutex> lock(*mutex_);
    while (true) {
      catch_up(now_ns());
      submit();
      if (const auto next = drive_.next_event()) {
        if (asked_->wait_until(lock, *next / 1e9) == std::cv_status::timeout) catch_up(*next);
      } else {
        asked_->wait(lock);
      }
    }
  }

  void submit() {
    while (!waiting_.empty()) {
      const Piece& one = waiting_.front();
      auto accepted = drive_.submit(drive_.info().now_ns, one.op, one.offset, one.bytes, one.tag);
      must(accepted);
      if (!*accepted) return;
      waiting_.pop_front();
    }
  }

  void catch_up(std::uint64_t to_ns) {
    auto done = drive_.advance(std::max(to_ns, drive_.info().now_ns));
    must(done);
    for (const flashgc_completion& one : *done) {
      auto call = calls_.extract(one.tag).mapped();
      if (--call->left == 0) call->done->release();
    }
  }

  Component drive_;
  simgrid::s4u::MutexPtr mutex_ = simgrid::s4u::Mutex::create();
  simgrid::s4u::ConditionVariablePtr asked_ = simgrid::s4u::ConditionVariable::create();
  std::deque<Piece> waiting_;
  std::unordered_map<std::uint64_t, std::shared_ptr<Call>> calls_;
  std::uint64_t next_tag_ = 0;
};

}  // namespace flashgc

#endif  // FLASHGC_DISK_HPP
