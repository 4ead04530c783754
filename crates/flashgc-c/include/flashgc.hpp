// flashgc for C++: components that close themselves, and results without exceptions. One header over
// flashgc.h, for C++17 and later. The manual is docs/component.md.
#ifndef FLASHGC_HPP
#define FLASHGC_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "flashgc.h"

namespace flashgc {

// What was wrong: its status, and the message of the command line.
struct Error {
  flashgc_status status;
  std::string text;
};

// A value, or what was wrong.
template <typename T>
class Result {
 public:
  Result(T value) : held_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : held_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return held_.index() == 0; }
  bool has_value() const { return held_.index() == 0; }
  T& value() { return *std::get_if<0>(&held_); }
  const T& value() const { return *std::get_if<0>(&held_); }
  T& operator*() { return value(); }
  T* operator->() { return &value(); }
  const Error& error() const { return *std::get_if<1>(&held_); }

 private:
  std::variant<T, Error> held_;
};

// Nothing, or what was wrong.
struct Done {};
using Outcome = Result<Done>;

inline Outcome outcome(flashgc_status status) {
  if (status >= 0) return Done{};
  return Error{status, flashgc_error()};
}

enum class Op : std::uint32_t {
  read = FLASHGC_READ,
  write = FLASHGC_WRITE,
  trim = FLASHGC_TRIM,
  flush = FLASHGC_FLUSH,
};

// What a component is made of. Everything may be left out that a configuration may leave out.
struct Options {
  std::string config;
  std::string device;
  std::string scheme;
  std::vector<std::string> sets;
  std::string drive;
  std::uint32_t depth = 0;
  bool parts = true;
  bool verify = false;
};

// The requests that were done: they live until time advances again.
class Completions {
 public:
  Completions(const flashgc_completion* first, std::size_t count) : first_(first), count_(count) {}
  const flashgc_completion* begin() const { return first_; }
  const flashgc_completion* end() const { return first_ + count_; }
  std::size_t size() const { return count_; }
  const flashgc_completion& operator[](std::size_t at) const { return first_[at]; }

 private:
  const flashgc_completion* first_;
  std::size_t count_;
};

// A state of a component, which closes itself.
class Snapshot {
 public:
  explicit Snapshot(flashgc_snapshot own) : own_(own) {}
  Snapshot(Snapshot&& other) noexcept : own_(std::exchange(other.own_, {0})) {}
  Snapshot& operator=(Snapshot&& other) noexcept {
    std::swap(own_, other.own_);
    return *this;
  }
  ~Snapshot() {
    if (own_.id != 0) flashgc_close_snapshot(own_);
  }
  flashgc_snapshot handle() const { return own_; }

 private:
  flashgc_snapshot own_;
};

// A drive on the clock of another simulator, which closes itself.
class Component {
 public:
  // Preconditions a drive, which may take a while.
  static Result<Component> open(const Options& options) {
    if (flashgc_abi_version() != FLASHGC_ABI_VERSION) {
      return Error{FLASHGC_BAD_ARGUMENT, "error: libflashgc has another version than flashgc.h"};
    }
    std::vector<const char*> sets;
    for (const std::string& set : options.sets) sets.push_back(set.c_str());
    flashgc_options given = {};
    given.size = sizeof given;
    given.config = text(options.config);
    given.device = text(options.device);
    given.scheme = text(options.scheme);
    given.sets = sets.data();
    given.set_count = sets.size();
    given.drive = text(options.drive);
    given.depth = options.depth;
    given.parts = options.parts;
    given.verify = options.verify;
    flashgc_component own = {0};
    const flashgc_status status = flashgc_open(&given, &own);
    if (status < 0) return Error{status, flashgc_error()};
    return Component(own);
  }

  Component(Component&& other) noexcept
      : own_(std::exchange(other.own_, {0})), when_done_(std::move(other.when_done_)) {}
  Component& operator=(Component&& other) noexcept {
    std::swap(own_, other.own_);
    std::swap(when_done_, other.when_done_);
    return *this;
  }
  ~Component() {
    if (own_.id != 0) flashgc_close(own_);
  }

  flashgc_component handle() const { return own_; }

  // Zeros where the component is finished or has failed.
  flashgc_info info() const {
    flashgc_info info = {};
    flashgc_get_info(own_, &info);
    return info;
  }

  // Whether the request was accepted; false: the drive is full until the next completion.
  Result<bool> submit(std::uint64_t at_ns, Op op, std::uint64_t offset, std::uint64_t bytes,
                      std::uint64_t tag) {
    const auto number = static_cast<std::uint32_t>(op);
    return accepted(flashgc_submit(own_, at_ns, number, offset, bytes, tag));
  }

  // The number of requests that were accepted.
  Result<std::size_t> submit(const std::vector<flashgc_request>& requests) {
    std::size_t count = 0;
    const auto status = flashgc_submit_all(own_, requests.data(), requests.size(), &count);
    if (status < 0) return Error{status, flashgc_error()};
    return count;
  }

  // The next instant at which a request may be done, in ns; none while there is none, and where
  // the component is finished or has failed: any other call has the error then.
  std::optional<std::uint64_t> next_event() const {
    std::uint64_t at_ns = 0;
    if (flashgc_next_event(own_, &at_ns) != FLASHGC_OK) return std::nullopt;
    return at_ns;
  }

  // From now on this is called with each request that is done, after time has advanced and before
  // the call that let it advance returns. It may submit requests, and may not let time advance.
  void when_done(std::function<void(const flashgc_completion&)> call) {
    when_done_ = std::move(call);
  }

  Result<Completions> advance(std::uint64_t to_ns) {
    return handed_out([&](auto done, auto count) {
      return flashgc_advance(own_, to_ns, done, count);
    });
  }
  Result<Completions> advance_to_completion(std::uint64_t limit_ns = UINT64_MAX) {
    return handed_out([&](auto done, auto count) {
      return flashgc_advance_to_completion(own_, limit_ns, done, count);
    });
  }
  Result<Completions> drain() {
    return handed_out([&](auto done, auto count) { return flashgc_drain(own_, done, count); });
  }
  Outcome rest() { return outcome(flashgc_rest(own_)); }

  Result<Snapshot> snapshot() const {
    flashgc_snapshot own = {0};
    const flashgc_status status = flashgc_take_snapshot(own_, &own);
    if (status < 0) return Error{status, flashgc_error()};
    return Snapshot(own);
  }
  Outcome restore(const Snapshot& snapshot) {
    return outcome(flashgc_restore(own_, snapshot.handle()));
  }

  // The reports, as JSON.
  Result<std::string> statistics() {
    return report([&](auto json) { return flashgc_statistics(own_, json); });
  }
  Result<std::string> finish() {
    return report([&](auto json) { return flashgc_finish(own_, json); });
  }

  // Values of the last report, by keys such as "latency_ns.read.p99".
  Result<double> number(const char* key) const {
    double value = 0;
    const flashgc_status status = flashgc_number(own_, key, &value);
    if (status < 0) return Error{status, flashgc_error()};
    return value;
  }
  Result<std::string> text(const char* key) const {
    return report([&](auto found) { return flashgc_text(own_, key, found); });
  }

 private:
  explicit Component(flashgc_component own) : own_(own) {}

  static const char* text(const std::string& given) {
    return given.empty() ? nullptr : given.c_str();
  }

  static Result<bool> accepted(flashgc_status status) {
    if (status < 0) return Error{status, flashgc_error()};
    return status == FLASHGC_OK;
  }

  template <typename How>
  Result<Completions> handed_out(How how) {
    if (is_in_callback_) {
      return Error{FLASHGC_BUSY,
                   "error: a callback of when_done lets time advance, and other completions of the "
                   "same advance are not delivered yet\n  = help: submit requests in the callback, and "
                   "let time advance after it"};
    }
    const flashgc_completion* done = nullptr;
    std::size_t count = 0;
    const flashgc_status status = how(&done, &count);
    if (status < 0) return Error{status, flashgc_error()};
    const Completions all(done, count);
    if (when_done_) {
      const InCallback now(is_in_callback_);
      for (const flashgc_completion& one : all) when_done_(one);
    }
    return all;
  }

  template <typename How>
  static Result<std::string> report(How how) {
    const char* found = nullptr;
    const flashgc_status status = how(&found);
    if (status < 0) return Error{status, flashgc_error()};
    return std::string(found);
  }

  // Notes that callbacks are called, also where one of them ends with an exception.
  struct InCallback {
    explicit InCallback(bool& flag) : is_in_callback_(flag) { is_in_callback_ = true; }
    ~InCallback() { is_in_callback_ = false; }
    InCallback(const InCallback&) = delete;
    InCallback& operator=(const InCallback&) = delete;
    bool& is_in_callback_;
  };

  flashgc_component own_;
  std::function<void(const flashgc_completion&)> when_done_;
  bool is_in_callback_ = false;
};

}  // namespace flashgc

#endif  // FLASHGC_HPP
