// Two drives in two threads, and a detour that is taken back, in C++.
// c++ -std=c++17 two_drives.cpp $(pkg-config --cflags --libs flashgc) -pthread
#include <cstdio>
#include <flashgc.hpp>
#include <string>
#include <thread>

namespace {

// Writes the drive once at random, and returns the result of the run, or an error.
std::string run(const char* scheme) {
  flashgc::Options options;
  options.device = "slc-msr";
  options.scheme = scheme;
  options.sets = {"device.blocks_per_plane=64", "precondition.overwrite=1"};
  auto opened = flashgc::Component::open(options);
  if (!opened) return opened.error().text;
  flashgc::Component drive = std::move(*opened);

  std::size_t done = 0;
  drive.when_done([&](const flashgc_completion&) { done++; });
  const flashgc_info info = drive.info();
  const std::uint64_t pages = info.bytes / info.page_bytes;
  std::vector<flashgc_request> requests;
  for (std::uint64_t number = 0; number < 5000; number++) {
    flashgc_request one = {};
    one.at_ns = number * 200000;
    one.op = FLASHGC_WRITE;
    one.offset = ((number + 1) * 0x9e3779b97f4a7c15ULL >> 20) % pages * info.page_bytes;
    one.bytes = info.page_bytes;
    one.tag = number;
    requests.push_back(one);
  }
  const auto accepted = drive.submit(requests);
  if (!accepted) return accepted.error().text;
  if (auto advanced = drive.advance(400000000); !advanced) return advanced.error().text;

  // What would happen with a trim of everything now? It is taken back.
  auto before = drive.snapshot();
  if (!before) return before.error().text;
  const std::size_t done_before = done;
  const std::uint64_t now_ns = drive.info().now_ns;
  if (auto sent = drive.submit(now_ns, flashgc::Op::trim, 0, info.bytes, 9999); !sent)
    return sent.error().text;
  if (auto drained = drive.drain(); !drained) return drained.error().text;
  if (auto restored = drive.restore(*before); !restored) return restored.error().text;
  done = done_before;

  if (auto drained = drive.drain(); !drained) return drained.error().text;
  if (auto wrong = drive.submit(0, flashgc::Op::read, 0, 4096, 0); wrong) return "no error";
  if (auto report = drive.finish(); !report) return report.error().text;
  auto hash = drive.text("result_hash");
  return std::to_string(done) + " done, result " + (hash ? *hash : hash.error().text);
}

}  // namespace

int main() {
  std::string results[2];
  std::thread first([&] { results[0] = run("greedy"); });
  std::thread second([&] { results[1] = run("pgc"); });
  first.join();
  second.join();
  for (const std::string& result : results) std::printf("%s\n", result.c_str());
  return 0;
}
