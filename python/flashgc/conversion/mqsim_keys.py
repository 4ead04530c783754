"""The keys that MQSim reads, and why some of them have no counterpart.

Read in MQSim 7ec40e3 (5 October 2022): README.md, and the readers in src/exec.
"""

from __future__ import annotations

LOGGING = "an option of a run here: `flashgc run --series FILE`"
QUEUES = "the host's queues have no bound here; see workload.synthetic.queue_depth"
MAPPING = "the whole map is in memory here, so that no request waits for a part of it"
WEAR = "no choice of blocks to write by wear here; see the schemes wear-aware and wear-pgc"
STATIC = "MQSim 7ec40e3 never passes this setting on; see the scheme levelling"
WORTH = (
    "an operation is suspended for any request that may enter; "
    "gc.preemption.suspend.worth_it spares those about to end"
)

HOST = {
    "SATA_Processing_Delay": "no SATA host here",
    "Enable_ResponseTime_Logging": LOGGING,
    "ResponseTime_Logging_Period_Length": LOGGING,
}

DEVICE = {
    "HostInterface_Type": "no protocol of the host here, neither NVMe nor SATA",
    "IO_Queue_Depth": QUEUES,
    "Queue_Fetch_Size": QUEUES,
    "Data_Cache_Sharing_Mode": "one workload here, which has the whole buffer",
    "CMT_Capacity": MAPPING,
    "CMT_Sharing_Mode": MAPPING,
    "Dynamic_Wearleveling_Enabled": WEAR,
    "Static_Wearleveling_Enabled": STATIC,
    "Static_Wearleveling_Threshold": STATIC,
    "Prefered_suspend_erase_time_for_read": WORTH,
    "Preferred_suspend_erase_time_for_read": f"{WORTH}; MQSim 7ec40e3 reads this key only in the "
    "spelling `Prefered_...`",
    "Preferred_suspend_erase_time_for_write": WORTH,
    "Preferred_suspend_write_time_for_read": f"{WORTH}, and device.suspend.host_min_left such "
    "programs of the host",
}

FLASH = {
    "Block_PE_Cycles_Limit": "blocks never wear out here; the report counts the erases of each",
    "Page_Metadat_Capacity": "no bytes except the data cross the bus, neither here nor in MQSim; "
    "device.transfer_bytes adds them",
}

ORDERS = {"C": "channel", "W": "chip", "D": "die", "P": "plane"}

SECTIONS = {
    "Host_Parameter_Set": (*HOST, "PCIe_Lane_Bandwidth", "PCIe_Lane_Count"),
    "Device_Parameter_Set": (
        *DEVICE, "Seed", "Enabled_Preconditioning", "Memory_Type", "Caching_Mechanism",
        "Data_Cache_Capacity", "Data_Cache_DRAM_Row_Size", "Data_Cache_DRAM_Data_Rate",
        "Data_Cache_DRAM_Data_Busrt_Size", "Data_Cache_DRAM_tRCD", "Data_Cache_DRAM_tCL",
        "Data_Cache_DRAM_tRP", "Address_Mapping", "Ideal_Mapping_Table", "Plane_Allocation_Scheme",
        "Transaction_Scheduling_Policy", "Overprovisioning_Ratio", "GC_Exec_Threshold",
        "GC_Block_Selection_Policy", "Use_Copyback_for_GC", "Preemptible_GC_Enabled",
        "GC_Hard_Threshold", "Flash_Channel_Count", "Flash_Channel_Width", "Channel_Transfer_Rate",
        "Chip_No_Per_Channel", "Flash_Comm_Protocol",
    ),
    "Flash_Parameter_Set": (
        *FLASH, "Flash_Technology", "CMD_Suspension_Support", "Page_Read_Latency_LSB",
        "Page_Read_Latency_CSB", "Page_Read_Latency_MSB", "Page_Program_Latency_LSB",
        "Page_Program_Latency_CSB", "Page_Program_Latency_MSB", "Block_Erase_Latency",
        "Suspend_Erase_Time", "Suspend_Program_Time", "Die_No_Per_Chip", "Plane_No_Per_Die",
        "Block_No_Per_Plane", "Page_No_Per_Block", "Page_Capacity",
    ),
}  # fmt: skip
"""The keys of each section; a key in another section than its own is not read by MQSim."""
