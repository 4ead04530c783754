#include "flash_drive.hh"

#include <cmath>
#include <flashgc.hpp>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/logging.hh"
#include "sim/core.hh"
#include "sim/system.hh"

namespace gem5 {
namespace memory {

namespace {

std::string contents(const std::string& file) {
  if (file.empty()) return "";
  std::ifstream stream(file);
  fatal_if(!stream, "cannot read the configuration `%s` of a FlashDrive", file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

flashgc::Component opened(const FlashDriveParams& params) {
  flashgc::Options options;
  options.config = contents(params.config);
  options.device = params.device;
  options.scheme = params.scheme;
  options.sets = params.sets;
  options.drive = params.saved;
  options.depth = params.depth;
  options.verify = params.verify;
  auto drive = flashgc::Component::open(options);
  fatal_if(!drive, "%s: %s", params.name, drive.error().text);
  return std::move(*drive);
}

template <typename T>
void must(const FlashDrive& drive, const flashgc::Result<T>& result) {
  fatal_if(!result, "%s: %s", drive.name(), result.error().text);
}

double in_ticks(double ns) { return ns * static_cast<double>(sim_clock::as_int::ns); }

}  // namespace

FlashDrive::FlashDrive(const Params& params)
    : AbstractMemory(params),
      drive_(std::make_unique<flashgc::Component>(opened(params))),
      port_(name() + ".port", *this),
      event_([this] { wake(); }, name()),
      statistics_(*this) {
  fatal_if(sim_clock::as_int::ns == 0,
           "%s: a tick is longer than 1 ns; a drive needs m5.ticks of 1 ns or less", name());
  const std::uint64_t bytes = drive_->info().bytes;
  fatal_if(size() > bytes,
           "%s: range has %d bytes, and the drive has %d; use AddrRange(0, size=%d) at most",
           name(), size(), bytes, bytes);
  if (params.record != "") record_ = simout.create(params.record);
  registerExitCallback([this] { close(); });
}

FlashDrive::~FlashDrive() = default;

void FlashDrive::init() {
  AbstractMemory::init();
  fatal_if(!port_.isConnected(), "%s: nothing is connected to port", name());
  port_.sendRangeChange();
}

Port& FlashDrive::getPort(const std::string& name, PortID index) {
  return name == "port" ? port_ : AbstractMemory::getPort(name, index);
}

Tick FlashDrive::DrivePort::recvAtomic(PacketPtr) {
  fatal("%s: an atomic access takes no time, so a drive has none; use mem_mode = \"timing\"",
        drive_.name());
}

void FlashDrive::DrivePort::recvFunctional(PacketPtr packet) {
  packet->pushLabel(drive_.name());
  if (!queue_.trySatisfyFunctional(packet)) drive_.functionalAccess(packet);
  packet->popLabel();
}

// A packet has arrived when its last byte has. Packets of a port do not overtake each other.
std::uint64_t FlashDrive::arrival(PacketPtr packet) {
  const Tick at = curTick() + packet->headerDelay + packet->payloadDelay;
  const std::uint64_t at_ns = divCeil(at, sim_clock::as_int::ns);
  return std::max(latest_ns_, at_ns - origin_ns_.value_or(at_ns));
}

bool FlashDrive::take(PacketPtr packet) {
  panic_if(packet->cacheResponding(), "%s: a cache answers this packet", name());
  panic_if(!packet->isRead() && !packet->isWrite(), "%s: %s is neither a read nor a write", name(),
           packet->cmdString());
  fatal_if(is_finished_, "%s: a request comes after finish()", name());
  if (owes_retry_) return false;
  const std::uint64_t at_ns = arrival(packet), bytes = packet->getSize();
  const std::uint64_t offset = getAddrRange().getOffset(packet->getAddr());
  const flashgc::Op op = packet->isRead() ? flashgc::Op::read : flashgc::Op::write;
  auto accepted = drive_->submit(at_ns, op, offset, bytes, next_tag_);
  must(*this, accepted);
  if (!*accepted) {
    owes_retry_ = true;
    statistics_.retries++;
    return false;
  }
  if (!origin_ns_) {
    const Tick at = curTick() + packet->headerDelay + packet->payloadDelay;
    origin_ns_ = divCeil(at, sim_clock::as_int::ns);
  }
  if (record_ != nullptr)
    *record_->stream() << at_ns << ",0," << (packet->isRead() ? 'R' : 'W') << ',' << offset << ','
                       << bytes << '\n';
  latest_ns_ = at_ns;
  packet->headerDelay = packet->payloadDelay = 0;
  const bool is_answered = packet->needsResponse();
  access(packet);
  under_way_[next_tag_++] = is_answered ? packet : nullptr;
  if (!is_answered) answered_.reset(packet);
  wait();
  return true;
}

void FlashDrive::wait() {
  const auto next_ns = drive_->next_event();
  if (!next_ns) return;
  const Tick at = (*origin_ns_ + *next_ns) * sim_clock::as_int::ns;
  reschedule(event_, std::max(at, curTick()), true);
}

void FlashDrive::wake() {
  auto done = drive_->advance(curTick() / sim_clock::as_int::ns - *origin_ns_);
  must(*this, done);
  for (const flashgc_completion& one : *done) {
    fatal_if(one.is_refused, "%s: too many blocks are bad, so a write was refused", name());
    Kind& kind = one.op == FLASHGC_READ ? statistics_.reads : statistics_.writes;
    kind.add(one.latency_ns, one.parts_ns);
    respond(one.tag);
  }
  wait();
  if (done->size() > 0 && owes_retry_) {
    owes_retry_ = false;
    port_.sendRetryReq();
  }
  if (under_way_.empty()) signalDrainDone();
}

void FlashDrive::respond(std::uint64_t tag) {
  const PacketPtr packet = under_way_.extract(tag).mapped();
  if (packet != nullptr) port_.schedTimingResp(packet, curTick());
}

DrainState FlashDrive::drain() {
  return under_way_.empty() ? DrainState::Drained : DrainState::Draining;
}

void FlashDrive::serialize(CheckpointOut&) const {
  fatal("%s: a checkpoint cannot hold a drive; begin with a saved one (`saved`), made by "
        "`flashgc drive save`", name());
}

std::string FlashDrive::report() {
  fatal_if(is_finished_, "%s: report() after finish(), which gave the last report", name());
  auto json = drive_->statistics();
  must(*this, json);
  return *json;
}

std::string FlashDrive::finish() {
  fatal_if(!under_way_.empty(), "%s: finish() with %d requests under way; call m5.drain() first",
           name(), under_way_.size());
  fatal_if(is_finished_, "%s: finish() for the second time", name());
  return end();
}

// Requests that are under way when gem5 ends are in the report, and get no response.
void FlashDrive::close() {
  if (!is_finished_) end();
}

std::string FlashDrive::end() {
  counts();
  auto json = drive_->finish();
  must(*this, json);
  is_finished_ = true;
  if (record_ != nullptr) simout.close(std::exchange(record_, nullptr));
  OutputStream* file = simout.create(name() + ".json");
  *file->stream() << *json;
  simout.close(file);
  return *json;
}

FlashDrive::Counts FlashDrive::counts() {
  if (is_finished_) return last_;
  must(*this, drive_->statistics());
  const auto number = [this](const char* key) {
    auto value = drive_->number(key);
    return value ? *value : 0;  // a report without writes has no write amplification
  };
  last_.collections = number("gc.count");
  last_.erases = number("erases");
  last_.moved = number("pages.gc_moved") + number("pages.background_moved");
  last_.written = number("pages.host_written");
  last_.programmed = number("write_amplification") * last_.written;
  return last_;
}

FlashDrive::Kind::Kind(statistics::Group& group, const std::string& name)
    : count(&group, (name + "s").c_str(), statistics::units::Count::get(),
            ("Requests that were done: " + name + "s").c_str()),
      latency(&group, (name + "Latency").c_str(), statistics::units::Tick::get(),
              "From arrival to completion"),
      p50(&group, (name + "LatencyP50").c_str(), statistics::units::Tick::get(),
          "The percentile 50 of latencies, within 0.1 %"),
      p99(&group, (name + "LatencyP99").c_str(), statistics::units::Tick::get(),
          "The percentile 99 of latencies, within 0.1 %"),
      p99_9(&group, (name + "LatencyP99_9").c_str(), statistics::units::Tick::get(),
            "The percentile 99.9 of latencies, within 0.1 %"),
      parts(&group, (name + "LatencyParts").c_str(), statistics::units::Tick::get(),
            "Sums of what latencies consist of") {
  latency.init(16);
  p50.functor([this] { return in_ticks(latencies.percentile(0.5)); });
  p99.functor([this] { return in_ticks(latencies.percentile(0.99)); });
  p99_9.functor([this] { return in_ticks(latencies.percentile(0.999)); });
  parts.init(FLASHGC_PARTS).flags(statistics::total);
  for (std::uint32_t part = 0; part < FLASHGC_PARTS; part++) {
    const std::string full = flashgc_part_name(part);
    parts.subname(part, full.substr(0, full.rfind("_ns")));
  }
}

void FlashDrive::Kind::add(std::uint64_t latency_ns, const std::uint64_t* parts_ns) {
  count++;
  latency.sample(in_ticks(latency_ns));
  latencies.add(latency_ns);
  for (std::uint32_t part = 0; part < FLASHGC_PARTS; part++)
    parts[part] += in_ticks(parts_ns[part]);
}

FlashDrive::Statistics::Statistics(FlashDrive& drive)
    : statistics::Group(&drive),
      drive(drive),
      reads(*this, "read"),
      writes(*this, "write"),
      ADD_STAT(retries, statistics::units::Count::get(), "Packets that found the drive full"),
      ADD_STAT(collections, statistics::units::Count::get(), "Collections"),
      ADD_STAT(erases, statistics::units::Count::get(), "Blocks that were erased"),
      ADD_STAT(moved, statistics::units::Count::get(), "Pages that the drive copied"),
      ADD_STAT(written, statistics::units::Count::get(), "Pages that requests wrote"),
      ADD_STAT(programmed, statistics::units::Count::get(), "Pages that were programmed"),
      ADD_STAT(amplification, statistics::units::Ratio::get(), "Write amplification",
               programmed / written) {}

void FlashDrive::Statistics::resetStats() {
  statistics::Group::resetStats();
  reads.latencies.clear();
  writes.latencies.clear();
  at_reset = drive.counts();
}

void FlashDrive::Statistics::preDumpStats() {
  statistics::Group::preDumpStats();
  const Counts now = drive.counts();
  collections = now.collections - at_reset.collections;
  erases = now.erases - at_reset.erases;
  moved = now.moved - at_reset.moved;
  written = now.written - at_reset.written;
  programmed = now.programmed - at_reset.programmed;
}

}  // namespace memory
}  // namespace gem5
