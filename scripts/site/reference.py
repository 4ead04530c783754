"""The pages of the Python reference: every name that `import flashgc` offers, on one of them."""

from __future__ import annotations

import ast
from pathlib import Path

from objects import Reference

PAGES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "runs": (
        "Runs",
        "Run one configuration, the same with several seeds, or several schemes side by side.",
        ("run", "run_seeds", "compare", "plan", "RunPlan", "Progress", "Refusal"),
    ),
    "reports": (
        "Reports",
        "What a run gives: metrics by name, distributions and tables, and a page to keep.",
        ("Report", "Comparison", "Table", "report_schema", "advice_schema", "explanation_schema",
         "pts_schema", "tuning_schema", "calibration_schema"),
    ),
    "advice": (
        "Advice",
        "Measure what GC costs a workload and recommend schemes, with trade-offs.",
        ("advise", "Advice", "AdviceProgress"),
    ),
    "tuning": (
        "Tuning",
        "Search slots and parameters for the best configuration of a workload.",
        ("tune", "Tuning", "TuneProgress"),
    ),
    "calibration": (
        "Calibration",
        "Fit a device and a scheme to measurements of a real drive.",
        ("calibrate", "Calibration", "CalibrateProgress"),
    ),
    "explanation": (
        "Explanation",
        "The story of single requests, with the collections that they waited for.",
        ("explain", "Explanation"),
    ),
    "animation": (
        "Animation",
        "The drive in a part of a run, event by event.",
        ("animate", "Animation"),
    ),
    "results": (
        "Results",
        "Results that were saved, read again and shown side by side.",
        ("load",),
    ),
    "presets": (
        "Presets and workloads",
        "Which schemes, devices, slots and workloads there are.",
        ("schemes", "slots", "devices", "device_facts", "DeviceFacts", "workloads", "workload"),
    ),
    "policies": (
        "Schemes in Python",
        "Prototype a scheme: a victim, placement or pacing as a Python function.",
        ("victim", "placement", "pacing", "scheme", "Scheme", "Candidates", "Page", "NextStep"),
    ),
    "components": (
        "Components",
        "A drive in a simulator of your own, which has the clock; flashgc.simpy for SimPy.",
        ("Component", "Completion", "Completions", "Loop"),
    ),
    "pts": (
        "Performance tests",
        "Test a device by SNIA's Performance Test Specification.",
        ("pts", "Pts", "PtsProgress"),
    ),
    "drives": ("Saved drives", "Precondition a drive once, and begin runs with it.", ("drive",)),
    "traces": ("Traces", "Read, convert, cut, merge, generate and fit traces.", ("trace",)),
    "convert": (
        "Conversion",
        "Turn the files of another simulator into a configuration.",
        ("convert", "Conversion"),
    ),
    "papers": (
        "Papers",
        "Reproduce a paper, and compute its bounds and costs.",
        ("reproduce", "Reproduction", "reproduce_all", "Reproductions", "check_bundle", "Checked",
         "worst_case_wait", "WorstCase", "check_wait",
         "register_cost", "RegisterCost"),
    ),
    "sweeps": (
        "Sweeps",
        "Run a configuration at every point of some axes, and open the results as frames.",
        ("sweep", "explain_sweep", "SweepResults", "SweepProgress"),
    ),
    "errors": (
        "Errors",
        "What can go wrong. Each message is ready to be shown to a person.",
        ("FlashgcError", "ConfigError", "TraceError", "DriveError", "RunError", "OutputError",
         "InternalError"),
    ),
}  # fmt: skip
"""For each page its title, its purpose, and its names in order."""

INHERITED = {"Report", "Comparison"}
"""Names with the members of their parents. Most of a report's are those of `results.metrics`."""


def offered(package: Path) -> set[str]:
    """The names in `__all__` of the package."""
    tree = ast.parse((package / "__init__.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value))
    raise LookupError(f"{package}: no __all__")


def pages(python: Path) -> dict[str, str]:
    """All pages, by their place on the site; an error lists the names that are on none."""
    offers = offered(python / "flashgc") - {"__version__"}
    shown = {name for _, _, names in PAGES.values() for name in names}
    if offers != shown:
        raise LookupError(
            f"scripts/site/reference.py: PAGES and __all__ differ in {sorted(offers ^ shown)}"
        )
    rows = [f"| [{title}]({name}.md) | {purpose} |" for name, (title, purpose, _) in PAGES.items()]
    index = [
        "# The Python package",
        "",
        "```python",
        "import flashgc",
        "",
        'report = flashgc.run("oltp", scheme="greedy")',
        "print(report.write_amplification, report.latency_ns.all.p99_9)",
        "```",
        "",
        "| page | what for |",
        "|---|---|",
        *rows,
        "",
    ]
    written = Reference(python, {name: names for name, (_, _, names) in PAGES.items()}, INHERITED)
    made = {
        f"api/{name}.md": "\n\n".join([f"# {title}", purpose, *map(written.markdown, names)]) + "\n"
        for name, (title, purpose, names) in PAGES.items()
    }
    return {"api/index.md": "\n".join(index)} | made
