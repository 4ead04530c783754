// flashgc: the drive as a component of another simulator. The manual is docs/component.md.
// Made by scripts/c_header from crates/flashgc-c: do not edit it.

#ifndef FLASHGC_H
#define FLASHGC_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// The version of the interface. A library of another one does not fit this header.
#define FLASHGC_ABI_VERSION 1

// The number of the parts of a latency.
#define FLASHGC_PARTS 9

// The request is of high priority (`flashgc_request.marks`).
#define FLASHGC_HIGH 1

// The write is done only when its data survives a loss of power (`flashgc_request.marks`).
#define FLASHGC_FUA 2

// What a function has done. Errors are below zero, and `flashgc_error` has their text.
enum flashgc_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Done.
  FLASHGC_OK = 0,
  // The drive has as many requests as it takes: submit it again after the next completion.
  FLASHGC_FULL = 1,
  // There is no such thing at present.
  FLASHGC_NONE = 2,
  // A pointer is null, a size is wrong, or a number names nothing.
  FLASHGC_BAD_ARGUMENT = -1,
  // The handle names nothing: it was closed, or never given.
  FLASHGC_BAD_HANDLE = -2,
  // The component has been finished, and takes no further request.
  FLASHGC_FINISHED = -3,
  // The configuration has errors.
  FLASHGC_CONFIGURATION = -4,
  // The configuration is right, and cannot have its requests from outside.
  FLASHGC_NOT_LIVE = -5,
  // A request or an advance lies before the present.
  FLASHGC_BEFORE_THE_PRESENT = -6,
  // A time lies after the latest instant that can be simulated.
  FLASHGC_TOO_LATE = -7,
  // A request ends beyond the end of the drive.
  FLASHGC_BEYOND_THE_END = -8,
  // A read, a write or a trim of no bytes.
  FLASHGC_NO_BYTES = -9,
  // A write or a trim, and the drive takes none any more.
  FLASHGC_READ_ONLY = -10,
  // No request is under way that could be done.
  FLASHGC_NOTHING_UNDER_WAY = -11,
  // The drive cannot be copied.
  FLASHGC_NO_SNAPSHOT = -12,
  // A snapshot of another component.
  FLASHGC_ANOTHER_COMPONENT = -13,
  // The drive has stopped, or could not be made.
  FLASHGC_STOPPED = -14,
  // Another thread uses the component at this moment.
  FLASHGC_BUSY = -15,
  // A fault of flashgc itself; please report it.
  FLASHGC_FAILED = -16,
  // A request of a tenant that the configuration does not have.
  FLASHGC_NO_TENANT = -17,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum flashgc_status flashgc_status;
#else
typedef int32_t flashgc_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The operation of a request.
enum flashgc_op
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Reads data.
  FLASHGC_READ = 0,
  // Writes data.
  FLASHGC_WRITE = 1,
  // Discards data.
  FLASHGC_TRIM = 2,
  // Asks that the writes that are done survive a loss of power; without offset and bytes.
  FLASHGC_FLUSH = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum flashgc_op flashgc_op;
#else
typedef uint32_t flashgc_op;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What a component is made of. Texts may be null, and stay the caller's.
typedef struct {
  // sizeof(flashgc_options).
  size_t size;
  // The configuration, as TOML; its workload is ignored.
  const char *config;
  // Its name in messages.
  const char *name;
  // The name of a device preset, which replaces the configuration's whole device.
  const char *device;
  // The name of a scheme preset, which replaces the configuration's.
  const char *scheme;
  // Settings `key.path=value` over all else.
  const char *const *sets;
  // Their number.
  size_t set_count;
  // The file of a saved drive (`flashgc drive save`) in place of preconditioning.
  const char *drive;
  // The most requests that it has at a time; 0 for any number.
  uint32_t depth;
  // Not 0: latencies are split into their parts.
  uint32_t parts;
  // Not 0: the checkers watch every operation, which is slower.
  uint32_t verify;
} flashgc_options;

// A component. 0 names none.
typedef struct {
  // For the library alone.
  uint64_t id;
} flashgc_component;

// What a component is at present.
typedef struct {
  // The present, in ns.
  uint64_t now_ns;
  // Requests that were submitted and are not done.
  uint64_t under_way;
  // The bytes that the drive has for its host.
  uint64_t bytes;
  // The bytes of the unit that it maps: smaller writes read the rest of theirs first.
  uint64_t page_bytes;
  // Not 0: it takes no further write, since too many of its blocks are bad.
  uint32_t is_read_only;
  // 0.
  uint32_t reserved;
} flashgc_info;

// A request.
typedef struct {
  // When it comes, in ns: not before the present.
  uint64_t at_ns;
  // The first byte.
  uint64_t offset;
  // The number of bytes.
  uint64_t bytes;
  // It comes back with the completion.
  uint64_t tag;
  // A `flashgc_op`.
  uint32_t op;
  // `FLASHGC_HIGH` and `FLASHGC_FUA`, or 0.
  uint32_t marks;
  // The placement hint of a write, to 255; 0 is none.
  uint32_t hint;
  // The number of its tenant, in the order of `[[workload.tenants]]`; 0 without tenants.
  uint32_t tenant;
} flashgc_request;

// A request that is done.
typedef struct {
  // That of the request.
  uint64_t tag;
  // When it was done, in ns.
  uint64_t at_ns;
  // From its arrival until then, in ns.
  uint64_t latency_ns;
  // What the latency consists of, in ns, by the order of `flashgc_part_name`; zeros where it is
  // not split.
  uint64_t parts_ns[FLASHGC_PARTS];
  // A `flashgc_op`.
  uint32_t op;
  // Not 0: a write or a trim that came when the drive was read-only.
  uint32_t is_refused;
} flashgc_completion;

// A state of a component. 0 names none.
typedef struct {
  // For the library alone.
  uint64_t id;
} flashgc_snapshot;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the interface of this library: FLASHGC_ABI_VERSION of the header that fits it.
uint32_t flashgc_abi_version(void);

// The version of flashgc, such as "0.2.0". It is never freed.
const char *flashgc_version(void);

// The error of the last function that failed in this thread: its text, its place, and the
// remedy, as the command line has them. It lives until the next function fails in this thread.
const char *flashgc_error(void);

// Opens a component: its drive is preconditioned, which may take a while. Close it with
// flashgc_close.
//
// # Safety
// `options` points to options whose texts are C strings, and whose `sets` are `set_count` of them;
// `component` can be written. Null for either is FLASHGC_BAD_ARGUMENT.
flashgc_status flashgc_open(const flashgc_options *options, flashgc_component *component);

// Closes a component: its handle names nothing from then on, and what its calls gave is gone.
flashgc_status flashgc_close(flashgc_component component);

// What a component is at present.
//
// # Safety
// `info` can be written; null is FLASHGC_BAD_ARGUMENT.
flashgc_status flashgc_get_info(flashgc_component component, flashgc_info *info);

// Submits a request for an instant that is not before the present: FLASHGC_OK or FLASHGC_FULL, or
// an error. Nothing happens by that. `op` is a flashgc_op; a flush has neither offset nor bytes.
flashgc_status flashgc_submit(flashgc_component component,
                              uint64_t at_ns,
                              uint32_t op,
                              uint64_t offset,
                              uint64_t bytes,
                              uint64_t tag);

// Submits many requests, in their order, until one is wrong or finds the drive full. `accepted` is
// the number of those before it.
//
// # Safety
// `requests` points to `count` requests, and may be null for a count of 0; `accepted` can be
// written. Any other null is FLASHGC_BAD_ARGUMENT.
flashgc_status flashgc_submit_all(flashgc_component component,
                                  const flashgc_request *requests,
                                  size_t count,
                                  size_t *accepted);

// The next instant at which a request may be done: let time advance to it at the latest.
// FLASHGC_NONE while no request is under way or to come.
//
// # Safety
// `at_ns` can be written; null is FLASHGC_BAD_ARGUMENT.
flashgc_status flashgc_next_event(flashgc_component component, uint64_t *at_ns);

// Lets time advance to this instant, which is the present from then on. `done` are the `count`
// requests that were done, in their order; they live until time advances again, or the component
// is closed.
//
// # Safety
// `done` and `count` can be written; null for either is FLASHGC_BAD_ARGUMENT.
flashgc_status flashgc_advance(flashgc_component component,
                               uint64_t to_ns,
                               const flashgc_completion **done,
                               size_t *count);

// Lets time advance until a request is done, and at most to `limit_ns`. Requests that are
// submitted for this very instant come before anything else that happens at it, as those of a
// closed loop.
//
// # Safety
// As flashgc_advance.
flashgc_status flashgc_advance_to_completion(flashgc_component component,
                                             uint64_t limit_ns,
                                             const flashgc_completion **done,
                                             size_t *count);

// Lets time advance until every request that was submitted is done.
//
// # Safety
// As flashgc_advance.
flashgc_status flashgc_drain(flashgc_component component,
                             const flashgc_completion **done,
                             size_t *count);

// Lets the drive do now what it does until the present while it is idle. The result is no longer
// that of a run, which ends with its last request.
flashgc_status flashgc_rest(flashgc_component component);

// Copies the present state, with the requests under way and to come. Close it with
// flashgc_close_snapshot.
//
// # Safety
// `snapshot` can be written; null is FLASHGC_BAD_ARGUMENT.
flashgc_status flashgc_take_snapshot(flashgc_component component, flashgc_snapshot *snapshot);

// Goes back, or forward, to a snapshot of this component, any number of times.
flashgc_status flashgc_restore(flashgc_component component, flashgc_snapshot snapshot);

// Closes a snapshot: its handle names nothing from then on.
flashgc_status flashgc_close_snapshot(flashgc_snapshot snapshot);

// The report on everything until now, as JSON, whose `result_hash` is empty: that is of a whole
// run. It lives until the next report of this component, or until it is closed.
//
// # Safety
// `json` can be written; null is FLASHGC_BAD_ARGUMENT.
flashgc_status flashgc_statistics(flashgc_component component, const char **json);

// No further request comes: those that were submitted are served, and the report is that of
// `flashgc run` with the same requests in a trace. The component takes nothing more; its report
// lives until it is closed.
//
// # Safety
// `json` can be written; null is FLASHGC_BAD_ARGUMENT.
flashgc_status flashgc_finish(flashgc_component component, const char **json);

// A number of the last report of a component, by its key, such as "latency_ns.read.p99". One that
// is null in the report is FLASHGC_BAD_ARGUMENT, such as this one where nothing was read.
//
// # Safety
// `key` is a C string, and `value` can be written; null for either is FLASHGC_BAD_ARGUMENT.
flashgc_status flashgc_number(flashgc_component component, const char *key, double *value);

// A text of the last report of a component, by its key, such as "result_hash". It lives until the
// next text of this component is asked for, or until it is closed.
//
// # Safety
// As flashgc_number.
flashgc_status flashgc_text(flashgc_component component, const char *key, const char **text);

// The name of a part of a latency, from 0 to FLASHGC_PARTS - 1, such as "service_ns"; null for any
// other number. It is never freed.
const char *flashgc_part_name(uint32_t part);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* FLASHGC_H */
