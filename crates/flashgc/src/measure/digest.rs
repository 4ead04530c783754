//! The result hash: over the results of the simulation, and not over names or sums of them.
//!
//! Each metric is hashed with its own number, and a metric of zero is not hashed. So a new counter
//! changes no hash of a run in which it stays at zero, and neither the name of a key, nor a note,
//! nor a metric that is derived from others is part of it. A number is never reused for another
//! metric.

use super::{Results, Seen};
use crate::device::Spent;
use crate::plan::Stage;
use crate::stats::{Counters, Latency};
use sha2::{Digest as _, Sha256};

/// Metrics with their numbers.
struct Figures(Sha256);

impl Figures {
    fn add(&mut self, number: u32, figure: u64) {
        self.add_all(number, [figure]);
    }

    /// A row of metrics under one number; a row of only zeros is not hashed.
    fn add_all(&mut self, number: u32, figures: impl IntoIterator<Item = u64>) {
        let row: Vec<u64> = figures.into_iter().collect();
        if row.iter().all(|&figure| figure == 0) {
            return;
        }
        self.0.update(number.to_le_bytes());
        self.0.update((row.len() as u64).to_le_bytes());
        for figure in row {
            self.0.update(figure.to_le_bytes());
        }
    }

    /// The entries of a table, given as their complements, without their number.
    fn add_complements(&mut self, table: &[u32]) {
        let mut bytes = [[0; size_of::<u32>()]; 1024];
        for part in table.chunks(bytes.len()) {
            for (room, entry) in bytes.iter_mut().zip(part) {
                *room = (!entry).to_le_bytes();
            }
            self.0.update(bytes[..part.len()].as_flattened());
        }
    }

    /// A sum that may need 128 bits.
    fn add_sum(&mut self, number: u32, sum: u128) {
        self.add_all(number, [sum as u64, (sum >> 64) as u64]);
    }

    /// A whole distribution, with its exact moments and extremes.
    fn add_latency(&mut self, number: u32, latency: &Latency) {
        let exact = latency.exact();
        self.add_sum(number, exact.sum);
        self.add_sum(number + 1, exact.squares);
        self.add_all(number + 2, [exact.min, exact.max]);
        let buckets = latency.distribution();
        self.add_all(number + 3, buckets.into_iter().flat_map(|(end, count)| [end, count]));
    }

    /// The work of units or buses, one after the other.
    fn add_spent(&mut self, number: u32, spent: impl Iterator<Item = Spent>) {
        self.add_all(number, spent.flat_map(|spent| [spent.host_ns, spent.gc_ns]));
    }

    fn finish(self) -> String {
        let digest = self.0.finalize();
        digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }
}

impl Seen<'_> {
    /// The hash that two runs share if the same happened in both, whatever their names are.
    pub fn result_hash(&self, results: &Results) -> String {
        let mut figures = Figures(Sha256::new());
        figures.add(1, results.simulated_ns);
        figures.add_latency(10, &results.read);
        figures.add_latency(20, &results.write);
        if results.flush.count() > 0 {
            figures.add_latency(36, &results.flush);
        }
        add_counters(&mut figures, &results.counters);
        figures.add(30, results.jobs_open);
        figures.add(31, results.gc_transfer_ns);
        figures.add(32, results.buffer_dirty_pages.unwrap_or(0));
        figures.add(33, results.flushes_open);
        figures.add(34, results.ahead_open);
        if let Some(hotness) = results.hotness {
            let counts =
                [hotness.updates, hotness.hot_updates, hotness.decays, hotness.groups_formed];
            figures.add_all(35, counts);
        }
        figures.add_spent(40, results.units.iter().copied());
        figures.add_spent(41, results.buses.iter().copied());
        let spent_ns =
            |stage| self.host.stage_use(stage, self.now_ns).map_or(0, |used| used.spent_ns);
        figures.add(42, spent_ns(Stage::Link));
        figures.add_all(43, [Stage::LinkIn, Stage::LinkOut].map(spent_ns));
        figures.add_all(50, self.store.ftl.blocks.measured_erases().map(u64::from));
        figures.add_complements(self.store.ftl.map.complements());
        figures.finish()
    }
}

/// Each counter of the run. A new one takes the next number that is free.
fn add_counters(figures: &mut Figures, counters: &Counters) {
    // Every field is named, so that a new counter is an error here until it has a number.
    #[rustfmt::skip]
    let Counters {
        requests, bytes, host_read, host_written, host_trimmed, unwritten_read, rest_read,
        array_reads, array_programs, flushed, buffer_hits, buffer_stalls, gc_moved, wasted_copies,
        overhead, erases, erase_operations, jobs, idle_collections, fallbacks, blocked,
        victim_blocks, victim_valid, victims_by_valid, neighbours_moved, moved_in_jobs, copy_steps,
        reclaimed_pages, selections, erased_pages_at_selection, gc_busy_ns, gc_busy_open_ns,
        gc_elapsed_ns, gc_blocking_ns, preempted, suspended, merged_reads, merged_writes,
        pipelined_reads, pipelined_writes, exhausted, gc_wait_max_ns, gc_response_max_ns,
        read_steps, merged_programs, gc_extra_ns, background_moved, background_wasted,
        background_calls, background_victims, background_busy_ns, time_slices, stall_max_ns,
        below_floor_ns, free_pages_min, unpaid_copies, copies_between_writes_max, cached,
        programs_suspended, retries, padded, program_failures, erase_failures, read_reclaims,
        retired_pages: _,
    } = counters;
    figures.add_all(100, *requests);
    figures.add_all(101, *bytes);
    figures.add_all(102, *buffer_hits);
    figures.add_all(103, victims_by_valid.iter().copied());
    #[rustfmt::skip]
    let single = [
        host_read, host_written, host_trimmed, unwritten_read, rest_read, array_reads,
        array_programs, flushed, buffer_stalls, gc_moved, wasted_copies, overhead, erases,
        erase_operations, jobs, idle_collections, fallbacks, blocked, victim_blocks, victim_valid,
        neighbours_moved, moved_in_jobs, copy_steps, reclaimed_pages, selections,
        erased_pages_at_selection, gc_busy_ns, gc_busy_open_ns, gc_elapsed_ns, gc_blocking_ns,
        preempted, suspended, merged_reads, merged_writes, pipelined_reads, pipelined_writes,
        exhausted, gc_wait_max_ns, gc_response_max_ns, read_steps, merged_programs, gc_extra_ns,
        background_moved, background_wasted, background_calls, background_victims,
        background_busy_ns, time_slices, stall_max_ns, below_floor_ns, free_pages_min,
    ];
    for (at, &figure) in single.into_iter().enumerate() {
        figures.add(200 + at as u32, figure);
    }
    // Only where the scheme has them, so that the hashes of others stay as they are.
    if (*unpaid_copies, *copies_between_writes_max) != (0, 0) {
        figures.add_all(299, [*unpaid_copies, *copies_between_writes_max]);
    }
    if *cached != [0, 0] {
        figures.add_all(298, *cached);
    }
    if *programs_suspended != 0 {
        figures.add(295, *programs_suspended);
    }
    if *read_reclaims != 0 {
        figures.add(289, *read_reclaims);
    }
    if (*program_failures, *erase_failures) != (0, 0) {
        figures.add_all(296, [*program_failures, *erase_failures]);
    }
    figures.add(297, *padded);
    for (at, row) in retries.iter().enumerate() {
        figures.add_all(290 + at as u32, row.iter().copied());
    }
}
