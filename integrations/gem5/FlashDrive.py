"""The parameters of a FlashDrive in gem5; docs/gem5.md is its page."""

from m5.objects.AbstractMemory import AbstractMemory
from m5.params import Param, ResponsePort, VectorParam
from m5.SimObject import cxxMethod


class FlashDrive(AbstractMemory):
    type = "FlashDrive"
    cxx_header = "flash_drive.hh"
    cxx_class = "gem5::memory::FlashDrive"

    port = ResponsePort("Takes packets; each is a request of the drive")

    device = Param.String("", "Name of a device; empty: that of the configuration")
    scheme = Param.String("", "Name of a GC scheme; empty: that of the configuration")
    config = Param.String("", "File of a configuration of `flashgc run`")
    sets = VectorParam.String([], "Settings key.path=value over all else")
    saved = Param.String("", "File of a saved drive, in place of preconditioning one")
    depth = Param.Unsigned(0, "Most requests under way; 0: any number")
    verify = Param.Bool(False, "Check every operation of the drive, which is slower")
    record = Param.String("", "File in the output folder for the requests, as a trace (csv)")

    # A drive is not main memory: a kernel and KVM leave it alone.
    conf_table_reported = False
    kvm_map = False

    @cxxMethod
    def report(self):
        """The report until now, as JSON."""

    @cxxMethod
    def finish(self):
        """The report of `flashgc run` as JSON; no further request may come."""
