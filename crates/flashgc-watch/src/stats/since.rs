//! The counters of a part of a run.

use super::Counters;

/// The differences between fields of two structures.
macro_rules! less {
    (
        $now:ident, $before:ident, [$($sum:ident),* $(,)?], [$($kept:ident),* $(,)?]
    ) => {
        Counters {
            $($sum: $now.$sum.saturating_sub($before.$sum),)*
            $($kept: $now.$kept,)*
            requests: [0, 1, 2].map(|op| $now.requests[op] - $before.requests[op]),
            bytes: [0, 1].map(|op| $now.bytes[op] - $before.bytes[op]),
            buffer_hits: [0, 1].map(|op| $now.buffer_hits[op] - $before.buffer_hits[op]),
            cached: [0, 1].map(|op| $now.cached[op] - $before.cached[op]),
            victims_by_valid: less_each(&$now.victims_by_valid, &$before.victims_by_valid),
            retries: [0, 1].map(|who| less_each(&$now.retries[who], &$before.retries[who])),
        }
    };
}

impl Counters {
    /// The counters minus an earlier state of them. Maxima and minima are those of the whole run.
    pub fn since(&self, before: &Counters) -> Counters {
        less!(
            self,
            before,
            [
                host_read,
                host_written,
                host_trimmed,
                unwritten_read,
                rest_read,
                array_reads,
                array_programs,
                flushed,
                buffer_stalls,
                gc_moved,
                wasted_copies,
                overhead,
                padded,
                erases,
                erase_operations,
                jobs,
                idle_collections,
                read_reclaims,
                fallbacks,
                blocked,
                victim_blocks,
                victim_valid,
                neighbours_moved,
                moved_in_jobs,
                copy_steps,
                reclaimed_pages,
                selections,
                erased_pages_at_selection,
                gc_busy_ns,
                gc_elapsed_ns,
                gc_blocking_ns,
                preempted,
                suspended,
                merged_reads,
                merged_writes,
                pipelined_reads,
                pipelined_writes,
                programs_suspended,
                exhausted,
                read_steps,
                merged_programs,
                gc_extra_ns,
                background_moved,
                background_wasted,
                background_calls,
                background_victims,
                background_busy_ns,
                time_slices,
                below_floor_ns,
                unpaid_copies,
                retired_pages,
                program_failures,
                erase_failures,
            ],
            [
                gc_busy_open_ns,
                gc_wait_max_ns,
                gc_response_max_ns,
                stall_max_ns,
                copies_between_writes_max,
                free_pages_min,
            ]
        )
    }
}

fn less_each(now: &[u64], before: &[u64]) -> Vec<u64> {
    let before = before.iter().copied().chain(std::iter::repeat(0));
    now.iter().zip(before).map(|(now, before)| now - before).collect()
}
