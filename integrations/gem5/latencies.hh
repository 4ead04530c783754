// The latencies of many requests in little memory: percentiles within 0.1 %.
#ifndef FLASHGC_GEM5_LATENCIES_HH
#define FLASHGC_GEM5_LATENCIES_HH

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>

namespace flashgc {

// A histogram whose buckets are 1/1024 of the power of two below them, as in reports of flashgc.
class Latencies {
 public:
  void add(std::uint64_t ns) {
    counts_[bucket(ns)]++;
    least_ns_ = count_ == 0 ? ns : std::min(least_ns_, ns);
    most_ns_ = std::max(most_ns_, ns);
    count_++;
  }
  void clear() { *this = {}; }

  // The percentile by nearest rank, in ns; NaN without requests.
  double percentile(double share) const {
    if (count_ == 0) return NAN;
    const auto rank = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_)));
    std::uint64_t seen = 0;
    for (const auto& [first_ns, own] : counts_) {
      seen += own;
      if (seen >= rank)
        return static_cast<double>(std::clamp(first_ns + width(first_ns) / 2, least_ns_, most_ns_));
    }
    return static_cast<double>(most_ns_);
  }

 private:
  static std::uint64_t width(std::uint64_t ns) {
    std::uint64_t width = 1;
    while (ns / width >= 2048) width *= 2;
    return width;
  }
  static std::uint64_t bucket(std::uint64_t ns) { return ns - ns % width(ns); }

  std::map<std::uint64_t, std::uint64_t> counts_;  // by the first ns of each bucket
  std::uint64_t count_ = 0, least_ns_ = 0, most_ns_ = 0;
};

}  // namespace flashgc

#endif  // FLASHGC_GEM5_LATENCIES_HH
