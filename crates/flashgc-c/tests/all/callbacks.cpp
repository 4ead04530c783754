// A callback that submits, one that lets time advance, and one that throws.
#include <cstdio>
#include <flashgc.hpp>

int main() {
  flashgc::Options options;
  options.device = "slc-msr";
  options.sets = {"device.blocks_per_plane=64", "precondition.overwrite=1"};
  auto opened = flashgc::Component::open(options);
  if (!opened) return std::puts(opened.error().text.c_str()), 1;
  flashgc::Component drive = std::move(*opened);
  for (std::uint64_t tag = 0; tag < 2; tag++) drive.submit(0, flashgc::Op::read, 0, 4096, tag);
  drive.when_done([&](const flashgc_completion& done) {
    const auto advanced = drive.advance(drive.info().now_ns + 1000000);
    const auto sent = drive.submit(drive.info().now_ns, flashgc::Op::read, 0, 4096, done.tag + 2);
    std::printf("%d %d %.64s\n", advanced.has_value(), sent.has_value(),
                advanced ? "" : advanced.error().text.c_str());
  });
  if (drive.advance(1000000)->size() != 2) return 1;
  drive.when_done([](const flashgc_completion&) { throw 1; });
  try {
    drive.drain();
    return 1;
  } catch (int) {
  }
  drive.when_done(nullptr);
  return drive.drain() ? 0 : 1;
}
