"""The keys that SSDSim reads, and why some of them have no counterpart.

Read in SSDSim 2.x (huaicheng/ssdsim f411289, its own licence): page.parameters and initialize.c.
"""

from __future__ import annotations

UNUSED = "SSDSim 2.x reads it and uses it nowhere"
NO_TIME = "SSDSim 2.x reads it, and none of its calculated times depends on it"
ENERGY = "no energy is calculated here"

ORDERS = {
    0: ("chip", "die", "plane", "channel"),
    1: ("channel", "chip", "die", "plane"),
    2: ("channel", "plane", "chip", "die"),
    3: ("channel", "die", "chip", "plane"),
    4: ("channel", "plane", "die", "chip"),
    5: ("channel", "die", "plane", "chip"),
}
"""Static allocation, the fastest first."""

REASONS = {
    **dict.fromkeys(
        ("t_CLS", "t_CLH", "t_CS", "t_CH", "t_WP", "t_ALS", "t_ALH", "t_DS", "t_DH", "t_WH",
         "t_ADL", "t_AR", "t_CLR", "t_RR", "t_RP", "t_REA", "t_CEA", "t_RHZ", "t_CHZ",
         "t_RHOH", "t_RLOH", "t_COH", "t_REH", "t_IR", "t_RHW", "t_WHR", "t_RST"),
        NO_TIME,
    ),
    "t_DBSY": "the planes of a die begin together here, without a time between their commands",
    "t_WB": "a bus is free when a command ends, without a time of its own",
    **dict.fromkeys(
        ("flash operating current", "flash supply voltage", "dram active current",
         "dram standby current", "dram refresh current", "dram voltage"),
        ENERGY,
    ),
    **dict.fromkeys(
        ("address mapping", "wear leveling", "gc", "clean in background", "buffer management",
         "scheduling algorithm", "quick table radio", "related mapping", "striping",
         "interleaving", "pipelining", "time_step", "small large write", "cpu sdram",
         "active write threshold", "threshold value"),
        UNUSED,
    ),
    "active write": "for collections that can be interrupted, which SSDSim 2.x never begins",
    "erase limit": "blocks never wear out here; the report counts the erases of each",
    "advanced command priority": "which command comes first follows from the queues here",
    "advanced command priority2": "which command comes first follows from the queues here",
    "greed MPW command": "two planes work together where both have work, and none waits for it",
}  # fmt: skip

KNOWN = (
    *REASONS, "channel number", "chip number", "die number", "plane number", "block number",
    "page number", "subpage page", "page capacity", "subpage capacity", "t_R", "t_PROG", "t_BERS",
    "t_WC", "t_RC", "overprovide", "gc threshold", "gc hard threshold", "allocation",
    "static_allocation", "dynamic_allocation", "advanced command", "greed CB command",
    "dram capacity", "aged", "aged ratio", "queue_length",
)  # fmt: skip
