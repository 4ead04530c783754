// A drive for gem5 whose requests are those of a flashgc component, on gem5's clock.
//
// It is a memory of gem5: packets read and write its data, and each is a request of the drive. The
// response leaves when the request is done.
#ifndef FLASHGC_GEM5_FLASH_DRIVE_HH
#define FLASHGC_GEM5_FLASH_DRIVE_HH

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/output.hh"
#include "base/statistics.hh"
#include "latencies.hh"
#include "mem/abstract_mem.hh"
#include "mem/packet_queue.hh"
#include "mem/qport.hh"
#include "params/FlashDrive.hh"

namespace flashgc {
class Component;
}

namespace gem5 {
namespace memory {

class FlashDrive : public AbstractMemory {
 public:
  PARAMS(FlashDrive);
  explicit FlashDrive(const Params& params);
  ~FlashDrive() override;

  void init() override;
  Port& getPort(const std::string& name, PortID index = InvalidPortID) override;
  DrainState drain() override;
  void serialize(CheckpointOut& checkpoint) const override;

  // Reports as JSON: until now, and of everything.
  std::string report();
  std::string finish();

 private:
  class DrivePort : public QueuedResponsePort {
   public:
    DrivePort(const std::string& name, FlashDrive& drive)
        : QueuedResponsePort(name, queue_), drive_(drive), queue_(drive, *this) {
      queue_.disableSanityCheck();  // a drive may have any number of requests
    }
    AddrRangeList getAddrRanges() const override { return {drive_.getAddrRange()}; }
    bool recvTimingReq(PacketPtr packet) override { return drive_.take(packet); }
    Tick recvAtomic(PacketPtr packet) override;
    void recvFunctional(PacketPtr packet) override;

   private:
    FlashDrive& drive_;
    RespPacketQueue queue_;
  };

  // What happens to requests of a kind.
  struct Kind {
    statistics::Scalar count;
    statistics::Histogram latency;
    statistics::Value p50, p99, p99_9;
    statistics::Vector parts;
    flashgc::Latencies latencies;

    Kind(statistics::Group& group, const std::string& name);
    void add(std::uint64_t latency_ns, const std::uint64_t* parts_ns);
  };

  // Counts of a drive from its beginning.
  struct Counts {
    double collections = 0, erases = 0, moved = 0, written = 0, programmed = 0;
  };

  struct Statistics : public statistics::Group {
    explicit Statistics(FlashDrive& drive);
    void resetStats() override;
    void preDumpStats() override;

    FlashDrive& drive;
    Kind reads, writes;
    statistics::Scalar retries, collections, erases, moved, written, programmed;
    statistics::Formula amplification;
    Counts at_reset;
  };

  bool take(PacketPtr packet);
  void wake();
  void wait();
  void respond(std::uint64_t tag);
  std::uint64_t arrival(PacketPtr packet);
  Counts counts();
  void close();
  std::string end();

  std::unique_ptr<flashgc::Component> drive_;
  DrivePort port_;
  EventFunctionWrapper event_;
  // The instants of the drive count from its first request, as those of a trace.
  std::optional<std::uint64_t> origin_ns_;
  std::uint64_t latest_ns_ = 0, next_tag_ = 0;
  // The packets whose requests are not done; null where no response is due.
  std::unordered_map<std::uint64_t, PacketPtr> under_way_;
  std::unique_ptr<Packet> answered_;
  OutputStream* record_ = nullptr;
  bool owes_retry_ = false, is_finished_ = false;
  Counts last_;
  Statistics statistics_;
};

}  // namespace memory
}  // namespace gem5

#endif  // FLASHGC_GEM5_FLASH_DRIVE_HH
