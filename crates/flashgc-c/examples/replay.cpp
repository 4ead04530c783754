// Requests from a file on a drive, in C++: replay REQUESTS DEVICE SCHEME [SETTING...]
// Each line of the file has the time in ns, the operation (0 read, 1 write, 2 trim, 3 flush), the
// first byte, the number of bytes, the placement hint and the tenant.
// c++ -std=c++17 replay.cpp $(python -m flashgc.native --cflags --libs)
#include <cstdio>
#include <flashgc.hpp>
#include <fstream>
#include <string>
#include <vector>

namespace {

std::vector<flashgc_request> read(std::ifstream& file) {
  std::vector<flashgc_request> requests;
  flashgc_request one = {};
  while (file >> one.at_ns >> one.op >> one.offset >> one.bytes >> one.hint >> one.tenant) {
    requests.push_back(one);
    one.tag++;
  }
  return requests;
}

// The result of the run.
flashgc::Result<std::string> run(const flashgc::Options& options, std::ifstream& file) {
  auto opened = flashgc::Component::open(options);
  if (!opened) return opened.error();
  flashgc::Component drive = std::move(*opened);

  std::size_t done = 0;
  drive.when_done([&](const flashgc_completion&) { done++; });
  const std::vector<flashgc_request> requests = read(file);
  if (auto accepted = drive.submit(requests); !accepted) return accepted.error();
  while (const auto next = drive.next_event()) {
    if (auto advanced = drive.advance(*next); !advanced) return advanced.error();
  }
  if (auto report = drive.finish(); !report) return report.error();
  auto hash = drive.text("result_hash");
  if (!hash) return hash.error();
  return std::to_string(done) + " requests, result " + *hash;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: replay REQUESTS DEVICE SCHEME [SETTING...]\n");
    return 2;
  }
  std::ifstream file(argv[1]);
  if (!file) {
    std::perror(argv[1]);
    return 1;
  }
  flashgc::Options options;
  options.device = argv[2];
  options.scheme = argv[3];
  options.sets.assign(argv + 4, argv + argc);
  const auto result = run(options, file);
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().text.c_str());
    return 1;
  }
  std::printf("%s\n", result.value().c_str());
  return 0;
}
