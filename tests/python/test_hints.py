"""Placement hints on the command line: in traces, and as handles of a run."""

import flashgc as package


def test_hints_are_counted_kept_and_lost(flashgc, small, tmp_path):
    hints = "workload.synthetic.hints={ regions = [0.25, 0.75] }"
    csv_format = "csv:time:ns, op, offset, size, hint"
    flashgc("trace", "generate", small, "hints.csv", "--format", csv_format, "--set", hints)
    about = flashgc("trace", "info", "hints.csv", "--format", csv_format, "--json").json
    none, some = about["hints"]
    assert (none["hint"], some["hint"]) == (0, 1)
    assert none["writes"] + some["writes"] == about["writes"]
    assert 2 < some["writes"] / none["writes"] < 4
    flashgc("trace", "convert", "hints.csv", "hints.fgt", "--format", csv_format)
    assert flashgc("trace", "info", "hints.fgt", "--json").json["hints"] == about["hints"]
    assert "written by hint" in flashgc("trace", "info", "hints.fgt").out
    done = flashgc("trace", "convert", "hints.fgt", "plain.csv", "--to", "csv")
    assert f"{some['writes']:,} placement hints lost" in done.err + done.out
    assert "hints" not in flashgc("trace", "info", "plain.csv", "--format", "csv", "--json").json
    settings = {"workload.synthetic.hints.regions": [0.25, 0.75]}
    assert package.workload(small, set=settings)["statistics"]["hints"] == about["hints"]
    by_hint = ("--scheme", "fdp", "--set", 'gc.placement.fdp={ by = "hint", handles = 2 }')
    report = flashgc("run", small, "--trace", "hints.fgt", *by_hint, "--json").json
    written = [handle["host_bytes"] for handle in report["placement"]["handles"]]
    assert written == [of["written_bytes"] for of in about["hints"]]
