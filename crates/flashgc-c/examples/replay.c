// Requests from a file on a drive, in C: replay REQUESTS DEVICE SCHEME [SETTING...]
// Each line of the file has the time in ns, the operation (0 read, 1 write, 2 trim, 3 flush), the
// first byte, the number of bytes, the placement hint and the tenant.
// cc replay.c $(python -m flashgc.native --cflags --libs)
#include <flashgc.h>
#include <inttypes.h>
#include <stdio.h>

static int failed(void) {
  fprintf(stderr, "%s\n", flashgc_error());
  return 1;
}

int main(int argc, char **argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: replay REQUESTS DEVICE SCHEME [SETTING...]\n");
    return 2;
  }
  FILE *file = fopen(argv[1], "r");
  if (file == NULL) {
    perror(argv[1]);
    return 1;
  }
  flashgc_options options = {.size = sizeof options, .device = argv[2], .scheme = argv[3]};
  options.sets = (const char *const *)argv + 4;
  options.set_count = (size_t)argc - 4;
  flashgc_component drive;
  if (flashgc_open(&options, &drive) < 0) return failed();

  flashgc_request one = {0};
  while (fscanf(file, "%" SCNu64 " %" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNu32 " %" SCNu32,
                &one.at_ns, &one.op, &one.offset, &one.bytes, &one.hint, &one.tenant) == 6) {
    // Time advances to each request, and what is done until then is counted by the drive.
    const flashgc_completion *done;
    size_t count, accepted;
    if (flashgc_advance(drive, one.at_ns, &done, &count) < 0) return failed();
    if (flashgc_submit_all(drive, &one, 1, &accepted) < 0) return failed();
    one.tag++;
  }
  fclose(file);

  const char *report, *hash;
  if (flashgc_finish(drive, &report) < 0) return failed();
  if (flashgc_text(drive, "result_hash", &hash) < 0) return failed();
  printf("%" PRIu64 " requests, result %s\n", one.tag, hash);
  return flashgc_close(drive) < 0 ? failed() : 0;
}
