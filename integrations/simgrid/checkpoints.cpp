// Ten hosts compute, and write a checkpoint to their own drives; the next step begins when the
// slowest is done. Beside them, each host has a store with small writes at random places.
//   checkpoints constant|SHARE COUNT [KEY=VALUE...]
// SHARE of the flash is the host's, such as 0.93; the settings are those of `flashgc run --set`.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "flashgc_disk.hpp"

namespace sg4 = simgrid::s4u;

namespace {

constexpr int HOSTS = 10;
constexpr double COMPUTE_S = 1.0;
constexpr std::uint64_t MIB = 1 << 20;
constexpr std::uint64_t CHECKPOINT = 128 * MIB;
// The checkpoint before is kept until the next one is whole.
constexpr std::uint64_t FILES = 2;
constexpr std::uint64_t SMALL = 16 << 10;
constexpr double SMALL_EACH_S = 800e-6;
// What the drive programs with all its planes: 8 planes, and 16 KiB in 600 us in each.
constexpr double BANDWIDTH = 8 * 16384 / 600e-6;

// What the disk of a host does; it returns when the write is done.
using Write = std::function<void(std::uint64_t offset, std::uint64_t bytes)>;

struct Kind {
  bool is_constant;
  std::vector<std::string> sets;
};

flashgc::Options options(const Kind& kind, int host) {
  flashgc::Options given;
  given.device = "enterprise-tlc";
  given.depth = 32;
  given.parts = false;
  given.sets = {"device.channels=2",           "device.chips_per_channel=1",
                "device.blocks_per_plane=160", "device.pages_per_block=48",
                "precondition.overwrite=2",    "seed=" + std::to_string(host + 1)};
  given.sets.insert(given.sets.end(), kind.sets.begin(), kind.sets.end());
  return given;
}

// The first host and the last one to have written a checkpoint, in s.
struct Checkpoint {
  double first = INFINITY, last = 0;
};

struct Found {
  std::vector<Checkpoint> checkpoints;
  double amplification = 0;  // the mean of the drives
};

void store(const Write& write, std::uint64_t bytes, int host) {
  std::mt19937_64 draw(host);
  std::exponential_distribution<double> gap(1 / SMALL_EACH_S);
  const std::uint64_t begin = FILES * CHECKPOINT, places = (bytes - begin) / SMALL;
  while (true) {
    sg4::this_actor::sleep_for(gap(draw));
    write(begin + draw() % places * SMALL, SMALL);
  }
}

Found run(sg4::Engine& engine, const Kind& kind, int count) {
  Found found = {std::vector<Checkpoint>(count), 0};
  // The same places for each kind: a drive with 28 % spare is a little larger.
  const std::uint64_t bytes = 680 * MIB;
  std::vector<std::shared_ptr<flashgc::Disk>> disks;
  auto barrier = sg4::Barrier::create(HOSTS);
  auto* zone = sg4::create_full_zone("cluster");
  for (int number = 0; number < HOSTS; number++) {
    auto* host = zone->create_host("host-" + std::to_string(number), 1e9);
    Write write;
    if (kind.is_constant) {
      auto* disk = host->create_disk("disk", BANDWIDTH, BANDWIDTH);
      write = [disk](std::uint64_t, std::uint64_t size) { disk->write(size); };
    } else {
      disks.push_back(flashgc::Disk::create(host, options(kind, number)));
      write = [disk = disks.back()](std::uint64_t at, std::uint64_t size) { disk->write(at, size); };
    }
    sg4::Actor::create("store", host, [=] { store(write, bytes, number); })->daemonize();
    sg4::Actor::create("job", host, [=, &found] {
      for (int step = 0; step < count; step++) {
        sg4::this_actor::execute(COMPUTE_S * 1e9);
        barrier->wait();
        const double begun = sg4::Engine::get_clock();
        write(step % FILES * CHECKPOINT, CHECKPOINT);
        const double taken = sg4::Engine::get_clock() - begun;
        Checkpoint& own = found.checkpoints[step];
        own.first = std::min(own.first, taken);
        own.last = std::max(own.last, taken);
        barrier->wait();
      }
    });
  }
  zone->seal();
  engine.run();
  for (const auto& disk : disks) found.amplification += disk->number("write_amplification") / HOSTS;
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  sg4::Engine engine(&argc, argv);
  sg4::Engine::set_config("surf/precision:1e-9");
  if (argc < 3 || std::atoi(argv[2]) < 1) {
    std::fprintf(stderr, "usage: checkpoints constant|SHARE COUNT [KEY=VALUE...]\n"
                         "SHARE of the flash is the host's, such as 0.93\n");
    return 2;
  }
  Kind kind = {std::string(argv[1]) == "constant", {std::string("device.exported=") + argv[1]}};
  kind.sets.insert(kind.sets.end(), argv + 3, argv + argc);
  try {
    const Found found = run(engine, kind, std::atoi(argv[2]));
    std::printf("checkpoint  first host, s  last host, s\n");
    int number = 0;
    for (const Checkpoint& one : found.checkpoints)
      std::printf("%10d %14.3f %13.3f\n", ++number, one.first, one.last);
    if (!kind.is_constant) std::printf("write amplification %.2f\n", found.amplification);
  } catch (const std::runtime_error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
