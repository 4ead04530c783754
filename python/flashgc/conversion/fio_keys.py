"""The options of fio, by their outcome here: with a counterpart, without meaning, or refused.

Meanings were read in fio's manual (HOWTO.rst, version 3); its source was not read.
"""

from __future__ import annotations

ALIASES = {
    "readwrite": "rw", "blocksize": "bs", "blocksize_range": "bsrange", "blockalign": "ba",
    "io_limit": "io_size", "allrandrepeat": "randrepeat", "start_delay": "startdelay",
    "wait_for_previous": "stonewall", "timeout": "runtime",
    "bs_unaligned": "blocksize_unaligned", "iomem": "mem", "fill_fs": "fill_device",
    "iodepth_batch_submit": "iodepth_batch",
    "iodepth_batch_complete": "iodepth_batch_complete_min", "nr_files": "nrfiles",
    "fdp_pli": "plids", "fdp_pli_select": "plid_select", "ratemin": "rate_min",
    "ratecycle": "rate_cycle", "fileoffset": "offset", "threads": "thread",
}  # fmt: skip
"""Second names of options."""

MAPPED = (
    "rw", "bs", "bsrange", "bssplit", "ba", "rwmixread", "rwmixwrite", "random_distribution",
    "percentage_random", "norandommap", "iodepth", "rate_iops", "rate", "rate_process", "size",
    "filesize", "offset", "offset_increment", "io_size", "filename", "time_based", "runtime",
    "numjobs", "loops", "number_ios", "randseed", "startdelay", "stonewall", "thinktime",
    "thinktime_blocks", "kb_base", "name", "ioengine", "direct", "buffered", "nrfiles",
    "fsync", "fdatasync", "sync", "writefua", "fdp", "dataplacement", "plids", "plid_select",
    "write_hint", "randrepeat", "rw_sequencer", "file_service_type", "openfiles",
    "rate_ignore_thinktime", "zonemode", "zonesize", "zonerange", "zoneskip", "ramp_time", "flow",
    "flow_id", "sprandom", "spr_op", "spr_num_regions", "spr_cs",
)  # fmt: skip
"""Options that the converter reads."""

_NOTHING = "no meaning for a simulated drive"
_OUTPUT = "it changes what fio prints or logs, not its requests"
_REPORT = "`flashgc fio` prints and logs by it, and no request depends on it"
_FILES = "files are ranges of the simulated drive, which exist from the start"
_HOST = "the host's processors, memory and system calls are not simulated"
_DATA = "the content of data is not simulated"
_CHECK = "it ends fio in case of an error, which the simulated drive does not have"
_ENGINE = "it belongs to one of fio's engines, and requests go to the simulated drive"
_SEED = "random numbers are those of flashgc, from one seed"

IGNORED: dict[str, str] = {
    **dict.fromkeys(("description", "ioscheduler", "lockfile", "lockmem"), _NOTHING),
    **dict.fromkeys((
        "group_reporting", "new_group", "unified_rw_reporting", "write_bw_log", "write_lat_log",
        "write_iops_log", "write_hist_log", "log_avg_msec", "log_hist_msec", "log_hist_coarseness",
        "log_max_value", "log_offset", "per_job_logs", "bwavgtime", "clat_percentiles",
        "lat_percentiles", "percentile_list",
    ), _REPORT),
    **dict.fromkeys((
        "log_compression", "log_store_compressed", "log_unix_epoch",
        "log_alternate_epoch", "log_entries", "log_issue_time", "log_prio",
        "block_error_percentiles", "iopsavgtime", "disk_util", "disable_lat",
        "disable_clat", "disable_slat", "disable_bw", "disable_bw_measurement",
        "slat_percentiles", "significant_figures",
        "unit_base", "stats", "profile", "write_iolog", "json_output", "eta",
    ), _OUTPUT),
    **dict.fromkeys((
        "directory", "create_serialize", "create_fsync",
        "create_on_open", "allow_file_create", "allow_mounted_write", "unlink",
        "unlink_each_loop", "unique_filename", "fallocate", "fadvise_hint", "overwrite",
        "invalidate", "pre_read", "size_is_exact", "end_fsync", "fsync_on_close",
    ), _FILES),
    **dict.fromkeys((
        "mem", "iomem_align", "mem_align", "hugepage-size", "thread", "cpumask", "cpus_allowed",
        "cpus_allowed_policy", "numa_cpu_nodes", "numa_mem_policy", "nice", "prio", "prioclass",
        "priohint", "uid", "gid", "cgroup", "cgroup_weight", "cgroup_nodelete", "exec_prerun",
        "exec_postrun", "clocksource", "gtod_reduce", "gtod_cpu", "thinktime_spin",
        "hipri", "registerfiles", "fixedbufs", "sqthread_poll", "sqthread_poll_cpu", "nonvectored",
        "uncached", "nowait", "force_async", "userspace_reap", "cmd_type", "md_per_io_size",
        "readfua", "sg_write_mode", "atomic", "cuda_io", "ignore_error",
        "serialize_overlap", "write_barrier", "comm",
    ), _HOST),
    **dict.fromkeys((
        "zero_buffers", "refill_buffers", "scramble_buffers", "buffer_compress_percentage",
        "buffer_compress_chunk", "buffer_pattern", "dedupe_percentage", "dedupe_mode",
        "dedupe_working_set_percentage", "dedupe_global",
    ), _DATA),
    **dict.fromkeys((
        "continue_on_error", "error_dump", "max_latency", "rate_min", "rate_iops_min",
        "rate_cycle", "exitall_on_error", "verify_fatal", "verify_dump", "verify_pattern",
        "verify_interval", "verify_offset", "verify_state_load", "verify_state_save",
        "verify_async", "verify_async_cpus", "verifysort", "verify_backlog_batch",
        "experimental_verify", "verify_write_sequence", "verify_header_seed",
        "verify_pattern_interval",
    ), _CHECK),
    **dict.fromkeys((
        "apptag", "apptag_mask", "block", "busy_poll", "cdb_len", "chunk_size", "clientname",
        "clustername", "cmdprio_hint", "conf", "cont", "cpuchunks", "cpuload", "cpumode",
        "donorname", "exit_on_io_done", "gpu_dev_ids", "hdfsdirectory", "hipri_percentage",
        "hostname", "http_host", "http_mode", "http_object_mode", "http_pass", "http_s3_key",
        "http_s3_keyid", "http_s3_region", "http_s3_security_token",
        "http_s3_sse_customer_algorithm", "http_s3_sse_customer_key", "http_s3_storage_class",
        "http_swift_auth_token", "http_user", "http_verbose", "https", "inplace", "interface",
        "libaio_vectored", "libblkio_driver", "libblkio_force_enable_completion_eventfd",
        "libblkio_num_entries", "libblkio_path", "libblkio_pre_connect_props",
        "libblkio_pre_start_props", "libblkio_queue_size", "libblkio_vectored",
        "libblkio_wait_mode", "libblkio_write_zeroes_on_trim", "listen", "mss", "namenode",
        "nfs_url", "no_completion_thread", "nodelay", "object_class", "pi_act", "pi_chk",
        "pingpong", "pool", "port", "prep", "program", "arguments", "std_redirect", "grace_time",
        "proto", "protocol", "bindname", "rbd_encryption_format", "rbd_encryption_passphrase",
        "rbdname", "rocm_io", "skip_bad", "stat_type", "touch_objects", "ttl", "uri", "verb",
        "verify_bytchk", "xnvme_admin", "xnvme_async", "xnvme_dev_nsid", "xnvme_dev_subnqn",
        "xnvme_iovec", "xnvme_mem", "xnvme_sync", "read_mode",
    ), _ENGINE),
    **dict.fromkeys(("filetype", "end_syncfs"), _FILES),
    **dict.fromkeys(("verify_mode", "verify_policy"), _CHECK),
    **dict.fromkeys((
        "job_start_clock_id", "log_alternate_epoch_clock_id", "log_window_value",
        "log_compression_cpus",
    ), _OUTPUT),
    "random_generator": _SEED,
    "thinktime_blocks_type": "a pause begins when the requests before it are done",
    "softrandommap": "passes need no memory here",
}  # fmt: skip
"""Options without effect on the requests, each with the reason."""

LOUD: dict[str, str] = {
    "sync_file_range": "a flush does nothing: a write is on flash, or in the device's write "
    "buffer, when it is done",
    "verify": "the reads by which fio verifies data after its writes are not made",
    "do_verify": "the reads by which fio verifies data after its writes are not made",
    "verify_backlog": "the reads by which fio verifies data after its writes are not made",
    "trim_percentage": "the trims of verified blocks are not made",
    "trim_verify_zero": "the trims of verified blocks are not made",
    "trim_backlog": "the trims of verified blocks are not made",
    "trim_backlog_batch": "the trims of verified blocks are not made",
    "iodepth_batch": "requests are issued one by one, as soon as the depth allows",
    "iodepth_batch_complete_min": "each request that is done makes room for the next at once",
    "iodepth_batch_complete_max": "each request that is done makes room for the next at once",
    "iodepth_low": "the queue is refilled as soon as a request is done, not below a threshold",
    "io_submit_mode": "requests are issued in line: a full queue delays the next one",
    "cmdprio_percentage": "all requests have the same priority",
    "cmdprio_class": "all requests have the same priority",
    "cmdprio": "all requests have the same priority",
    "cmdprio_split": "all requests have the same priority",
    "cmdprio_bssplit": "all requests have the same priority",
    "flow_sleep": "a job continues as soon as its share of the flow allows",
    "ramp_size": "requests of this part are measured, too",
    "offset_align": "offsets in percent are aligned to the smallest request",
}
"""Options that change requests a little and are not modelled: reported in each run."""

REFUSED: dict[str, str] = {
    **dict.fromkeys(
        ("zonecapacity", "max_open_zones", "job_max_open_zones", "read_beyond_wp",
         "ignore_zone_limits", "zone_reset_threshold", "zone_reset_frequency"),
        "zones of a zoned device are not modelled",
    ),
    **dict.fromkeys(
        ("read_iolog", "read_iolog_chunked", "merge_blktrace_file", "merge_blktrace_scalars",
         "merge_blktrace_iters", "replay_no_stall", "replay_time_scale", "replay_redirect",
         "replay_scale", "replay_align", "replay_skip"),
        "a log is a trace: run it with `flashgc run replay --trace FILE`",
    ),
    **dict.fromkeys(
        ("latency_target", "latency_window", "latency_percentile", "latency_run"),
        "the search for a depth is not modelled; give `iodepth`",
    ),
    **dict.fromkeys(
        ("steadystate", "ss", "steadystate_duration", "ss_dur", "steadystate_ramp_time", "ss_ramp",
         "steadystate_check_interval", "ss_interval"),
        "an end at a steady state is not modelled; the report tells whether the run has reached it",
    ),
    "flow_watermark": "fio has it no longer: a job waits while it is above its share",
    **dict.fromkeys(("wait_for", "exitall", "exit_what"),
                    "the end of one job does not act on others here, apart from `stonewall`"),
    **dict.fromkeys(("recover_zbd_write_error", "write_zone_remainder", "write_zone_remainders"),
                    "zones of a zoned device are not modelled"),
    "create_only": "a drive has no files to create; remove it to run the job",
    "verify_only": "the reads by which fio verifies data are not made; give rw=read",
    "random_sequence_stride": "sequences that repeat are not modelled",
    "num_range": "a trim has one range here",
    "write_mode": "writes of zeroes, and those that mark errors, are not modelled",
    "thinkcycles": "cycles of a processor are not simulated; give `thinktime`",
    "window_size": "reads behind writes are not modelled; give a job of its own",
    "blocksize_unaligned": "requests are multiples of 512 bytes",
    "bs_is_seq_rand": "sizes differ by reads, writes and trims, not by the kind of address",
    "filename_format": "give `filename` to jobs that share a file",
    "opendir": "there is no directory to read; give `filename` and `size`",
    "file_append": "give `offset`",
    "fill_device": "give `size`, or `filename` of a device, which is the whole drive",
    "dp_scheme": "a file of regions with their identifiers is not modelled; parts of the drive are "
    "given by gc.placement.fdp.shares",
    "stream_id": "streams of SCSI are not modelled; give dataplacement=streams and plids",
    "thinktime_iotime": "pauses after a time are not modelled; give `thinktime_blocks`",
}  # fmt: skip
"""Options that change requests in a way that is not modelled, each with a remedy."""

SYNCHRONOUS = frozenset({"sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice"})
"""Engines that have one request in flight, whatever the depth."""

WITHOUT_REQUESTS = frozenset({
    "null", "net", "netsplice", "cpuio", "falloc", "ftruncate", "e4defrag", "filecreate",
    "filestat", "filedelete", "dircreate", "dirstat", "dirdelete", "exec",
})  # fmt: skip
"""Engines that send no request to a drive."""

KNOWN = (*ALIASES, *MAPPED, *IGNORED, *LOUD, *REFUSED)
