/* A closed loop of eight writes on a small drive, in C: the end of one is answered with the next.
 * cc closed_loop.c $(pkg-config --cflags --libs flashgc) */
#include <flashgc.h>
#include <inttypes.h>
#include <stdio.h>

#define DEPTH 8
#define COUNT 20000

static int failed(const char *what) {
  fprintf(stderr, "%s: %s\n", what, flashgc_error());
  return 1;
}

/* The place of a write: any page of the drive, the same ones in each run. */
static uint64_t place(uint64_t number, const flashgc_info *info) {
  const uint64_t mixed = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
  return (mixed >> 20) % (info->bytes / info->page_bytes) * info->page_bytes;
}

int main(void) {
  const char *sets[] = {"device.blocks_per_plane=64", "precondition.overwrite=1"};
  const flashgc_options options = {.size = sizeof options, .device = "slc-msr", .scheme = "greedy",
                                   .sets = sets, .set_count = 2, .depth = DEPTH, .parts = 1};
  if (flashgc_abi_version() != FLASHGC_ABI_VERSION) return 2;
  flashgc_component drive;
  if (flashgc_open(&options, &drive) < 0) return failed("open");
  flashgc_info info;
  if (flashgc_get_info(drive, &info) < 0) return failed("info");

  uint64_t submitted = 0, done = 0, longest_ns = 0, copies_ns = 0;
  while (done < COUNT) {
    flashgc_status status = FLASHGC_OK;
    while (submitted < COUNT && status == FLASHGC_OK) {
      if (flashgc_get_info(drive, &info) < 0) return failed("info");
      const uint64_t at = place(submitted, &info);
      status = flashgc_submit(drive, info.now_ns, FLASHGC_WRITE, at, info.page_bytes, submitted);
      if (status < 0) return failed("submit");
      if (status == FLASHGC_OK) submitted++;
    }
    const flashgc_completion *found;
    size_t count;
    if (flashgc_advance_to_completion(drive, UINT64_MAX, &found, &count) < 0)
      return failed("advance");
    for (size_t at = 0; at < count; at++) {
      if (found[at].latency_ns <= longest_ns) continue;
      longest_ns = found[at].latency_ns;
      copies_ns = found[at].parts_ns[2];
    }
    done += count;
  }

  const char *json, *hash;
  double amplification;
  if (flashgc_finish(drive, &json) < 0) return failed("finish");
  if (flashgc_text(drive, "result_hash", &hash) < 0) return failed("text");
  if (flashgc_number(drive, "write_amplification", &amplification) < 0)
    return failed("number");
  printf("%" PRIu64 " writes, the longest %" PRIu64 " us, of which %" PRIu64 " us behind copies\n",
         done, longest_ns / 1000, copies_ns / 1000);
  printf("write amplification %.3f, result %s\n", amplification, hash);
  return flashgc_close(drive) < 0 ? failed("close") : 0;
}
