"""Random reads and writes on a drive, or on a memory of constant latency, in gem5.

gem5.opt drive.py [--constant LATENCY] [--device NAME] [--scheme NAME] [--set KEY=VALUE]...
"""

import argparse
import json

import m5
from m5.objects import (
    FlashDrive,
    IOXBar,
    PyTrafficGen,
    Root,
    SimpleMemory,
    SrcClockDomain,
    System,
    VoltageDomain,
)
from m5.params import AddrRange
from m5.ticks import fromSeconds
from m5.util.convert import toLatency, toMemorySize

parser = argparse.ArgumentParser()
parser.add_argument("--constant", help="a memory of this latency in place of a drive, as 100us")
parser.add_argument("--device", default="enterprise-tlc")
parser.add_argument("--scheme", default="greedy")
parser.add_argument(
    "--set", action="append", default=[], help="a setting key.path=value; repeatable"
)
parser.add_argument("--depth", type=int, default=0, help="most requests under way; 0: any number")
parser.add_argument("--bytes", default="680MiB", help="the part of the drive that has requests")
parser.add_argument("--block", type=int, default=4096, help="bytes of a request")
parser.add_argument("--requests", type=int, default=20000)
parser.add_argument("--gap", default="800us", help="mean time between requests")
parser.add_argument("--reads", type=int, default=70, help="percentage of reads")
parser.add_argument("--record", default="", help="file in the output folder for the requests")
options = parser.parse_args()

place = AddrRange(0, size=options.bytes)
system = System(mem_mode="timing", cache_line_size=options.block, mem_ranges=[place])
system.clk_domain = SrcClockDomain(clock="1GHz", voltage_domain=VoltageDomain())
system.bus = IOXBar()
system.system_port = system.bus.cpu_side_ports
system.generator = PyTrafficGen(progress_check="1000s")
system.generator.port = system.bus.cpu_side_ports
if options.constant:
    system.drive = SimpleMemory(range=place, latency=options.constant, bandwidth="0GiB/s")
else:
    system.drive = FlashDrive(
        range=place,
        device=options.device,
        scheme=options.scheme,
        sets=options.set,
        depth=options.depth,
        record=options.record,
    )
system.drive.port = system.bus.mem_side_ports
root = Root(full_system=False, system=system)


def requests():
    """What the generator does: random requests with gaps of 0.5 to 1.5 times the mean."""
    gap = fromSeconds(toLatency(options.gap))
    end, total = toMemorySize(options.bytes), options.requests * options.block
    create = system.generator.createRandom
    yield create(0, 0, end, options.block, gap // 2, gap + gap // 2, options.reads, total)
    yield system.generator.createExit(0)


m5.instantiate()
system.generator.start(requests())
m5.simulate()
m5.drain()  # until the requests that are under way are done
m5.stats.dump()
if not options.constant:
    report = json.loads(system.drive.finish())
    reads = report["latency_ns"]["read"]
    print(f"reads: p50 {reads['p50'] / 1000:.0f} us, p99 {reads['p99'] / 1000:.0f} us")
    print(f"write amplification {report['write_amplification']:.2f}")
    print(f"result hash {report['result_hash']}")
