"""The commands."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flashgc.cli import advise as advising
from flashgc.cli import animate as animating
from flashgc.cli import calibrate as calibrating
from flashgc.cli import complete, help_texts, options, presets, reproduce, workloads
from flashgc.cli import convert as conversion
from flashgc.cli import drive as drives
from flashgc.cli import explain as explaining
from flashgc.cli import fio as job_files
from flashgc.cli import pts as performance
from flashgc.cli import report as reporting
from flashgc.cli import serve as serving
from flashgc.cli import sweep as sweeps
from flashgc.cli import top as watching
from flashgc.cli import trace as traces
from flashgc.cli import tune as tuning
from flashgc.cli import version as version_text
from flashgc.cli.guard import guarded, say
from flashgc.cli.options import example, typed
from flashgc.files import arguments

if TYPE_CHECKING:
    from flashgc.reports.report import Report

app = help_texts.App(
    name="flashgc",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=example("flashgc run oltp", "flashgc compare oltp --schemes greedy,cost-benefit"),
)


def _version(wanted: bool) -> None:
    if wanted:
        version_text.say()
        raise typer.Exit


@app.callback()
def about(
    version: Annotated[
        bool,
        typer.Option(
            *version_text.OPTIONS, help="Print the version.", callback=_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Compare garbage-collection schemes for flash storage on equal devices and equal requests."""


RUN_EXAMPLES = (
    "flashgc run oltp",
    "flashgc run job.fio --scheme cost-benefit",
    "flashgc run replay --trace my-trace.csv.zst --scheme cost-benefit",
    'flashgc run oltp --set gc.trigger.watermark.soft="8 blocks" --json',
)


@app.command(epilog=example(*RUN_EXAMPLES))
@guarded
def run(
    config: options.Config,
    trace: options.Trace = None,
    scheme: options.Scheme = None,
    device: options.Device = None,
    sets: options.Sets = None,
    unsets: options.Unsets = None,
    seed: options.Seed = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            "--seeds",
            min=1,
            callback=options.up_to(1, arguments.SEEDS_MAX),
            metavar="N",
            show_default=False,
            help="Repeat with N seeds and report means and 95 % intervals.",
        ),
    ] = None,
    verify: options.Verify = False,
    check_wait: Annotated[
        bool,
        typer.Option(
            "--check-wait",
            help="Fail if a page request waited longer for a collection than the worst case of its "
            "scheme allows (four real-time schemes).",
        ),
    ] = False,
    drive: options.Drive = None,
    fit: options.Fit = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Print what the run would do, without running it.")
    ] = False,
    json: options.Json = False,
    out: options.Out = None,
    untimed: options.Untimed = False,
    blame: options.Blame = False,
    over_time: options.OverTime = False,
    no_over_time: options.NoOverTime = False,
    gc_log: Annotated[
        Path | None,
        typer.Option(
            "--gc-log",
            metavar="FILE",
            show_default=False,
            help="Write a CSV row for each collection.",
        ),
    ] = None,
    series: Annotated[
        Path | None,
        typer.Option(
            "--series",
            metavar="FILE",
            show_default=False,
            help="Write a CSV row for each interval of simulated time.",
        ),
    ] = None,
    series_interval: Annotated[
        str | None,
        typer.Option(
            "--series-interval",
            metavar="TIME",
            callback=options.DURATION,
            show_default=False,
            help='Length of the --series intervals, such as "10 ms"; by default the run has a '
            "few thousand.",
        ),
    ] = None,
    request_log: options.RequestLog = None,
    timeline: options.Timeline = None,
    timeline_window: options.TimelineWindow = None,
    timeline_units: options.TimelineUnits = None,
    format: options.Format = None,
    on_bad_line: options.BadLine = None,
    sort_window: options.SortWindow = None,
    jobs: options.Jobs = 2,
) -> None:
    """Run one configuration and report latencies, write amplification, GC and wear."""
    from flashgc.cli import progress
    from flashgc.files import output
    from flashgc.pages import provenance
    from flashgc.running import clock, runs

    if untimed:
        _check_untimed({
            "--blame splits latencies": blame, "--check-wait checks waits": check_wait,
            "--over-time shows times": over_time, "--gc-log records times": gc_log,
            "--series records times": series or series_interval,
            "--request-log records latencies": request_log,
            "--timeline records times": timeline or timeline_window or timeline_units,
        })  # fmt: skip
    options.refuse_standard_output(json, {
        "--gc-log": gc_log, "--series": series, "--request-log": request_log,
        "--timeline": timeline,
    })  # fmt: skip
    set_ = options.settings(sets, format, on_bad_line, sort_window)
    if plan:
        options.refuse_with("--plan runs nothing", {
            "--out": out, "--drive": drive, "--seeds": seeds, "--gc-log": gc_log,
            "--series": series or series_interval, "--request-log": request_log,
            "--timeline": timeline or timeline_window or timeline_units,
            "--check-wait": check_wait, "--verify": verify, "--blame": blame,
            "--untimed": untimed, "--over-time": over_time,
        })  # fmt: skip
        presets.run_plan(config, trace, json, scheme=scheme, device=device, set=set_, seed=seed,
                         fit=fit, unset=unsets)  # fmt: skip
        return
    if check_wait and drive is None:
        from flashgc.estimates import worst_case

        worst_case.refuse_unless_covered(config, scheme=scheme, device=device, set=set_, seed=seed,
                                         fit=fit, unset=unsets)  # fmt: skip
    watched = _watched(over_time, no_over_time, out, seeds, gc_log, series)
    if over_time:
        clock.refuse_over_time(config, scheme=scheme, device=device, set=set_, seed=seed, fit=fit,
                               unset=unsets)  # fmt: skip
    folder = None if out is None else output.folder(out)
    names = ["" if seeds is None else f"run {index + 1}" for index in range(seeds or 1)]
    with progress.bars(names, quiet=json) as shown:
        if seeds is None:
            told = None if shown is None else lambda step: shown(0, step)
            report = runs.run(
                config, trace, scheme=scheme, device=device, set=set_, unset=unsets, seed=seed,
                verify=verify, blame=blame, drive=drive, fit=fit, gc_log=gc_log, series=series,
                series_interval=series_interval, request_log=request_log, timeline=timeline,
                timeline_window=timeline_window, timeline_units=timeline_units,
                over_time=watched, untimed=untimed, progress=told,
            )  # fmt: skip
        else:
            _check_single({
                "--check-wait checks": check_wait, "--gc-log records": gc_log,
                "--series records": series or series_interval, "--request-log records": request_log,
                "--timeline records": timeline or timeline_window or timeline_units,
            })  # fmt: skip
            report = runs.run_seeds(
                config, seeds, trace, scheme=scheme, device=device, set=set_, unset=unsets,
                seed=seed, verify=verify, blame=blame, drive=drive, fit=fit,
                untimed=untimed, jobs=jobs, progress=shown,
            )  # fmt: skip
    provenance.by_command([report], typed())
    from flashgc.cli import show

    def in_words() -> None:
        show.report(report)
        options.say_checked(verify)

    logs = gc_log, series, request_log, timeline
    options.finish(
        lambda: [*([] if folder is None else report.save_folder(folder)), *logs],
        in_words,
        report.to_json if json else None,
    )
    if check_wait:
        _check_wait(report)


def _check_untimed(given: dict[str, object]) -> None:
    """Refuses with --untimed the options that need a clock."""
    for what, value in given.items():
        if value:
            raise typer.BadParameter(f"{what} and cannot be combined with --untimed")


def _check_single(given: dict[str, object]) -> None:
    """Refuses with --seeds the options of a single run."""
    for what, value in given.items():
        if value:
            raise typer.BadParameter(f"{what} one run and cannot be combined with --seeds")


def _check_wait(report: Report) -> None:
    """Compares the run with the worst case of its scheme; the status is 1 where it is exceeded."""
    from flashgc._engine import ConfigError
    from flashgc.estimates import worst_case

    try:
        complaint = worst_case.check_wait(report.to_dict())
    except ValueError as error:
        raise ConfigError(f"error: {error}") from None
    if complaint is not None:
        say(f"error: {complaint}")
        raise typer.Exit(1)


COMPARE_EXAMPLES = (
    "flashgc compare oltp --schemes greedy,fifo,cost-benefit",
    "flashgc compare oltp --schemes greedy,fifo --seeds 5",
    "flashgc compare replay --trace my-trace.csv.zst --schemes greedy,wear-aware --out runs/both",
)


@app.command(epilog=example(*COMPARE_EXAMPLES))
@guarded
def compare(
    config: options.Config,
    schemes: Annotated[
        str,
        typer.Option(
            "--schemes",
            metavar="A,B,C",
            autocompletion=complete.scheme_lists,
            help="Comma-separated schemes, by name or as TOML files.",
            show_default=False,
        ),
    ],
    trace: options.Trace = None,
    device: options.Device = None,
    sets: options.Sets = None,
    unsets: options.Unsets = None,
    seed: options.Seed = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            "--seeds",
            min=1,
            callback=options.up_to(1, arguments.SEEDS_MAX),
            metavar="N",
            show_default=False,
            help="Repeat each scheme with the same N seeds; report means, 95 % intervals and "
            "differences to the first scheme.",
        ),
    ] = None,
    cost: Annotated[
        bool,
        typer.Option(
            "--cost/--no-cost",
            help="Also run each scheme without GC cost, and show what its collections cost.",
        ),
    ] = True,
    verify: options.Verify = False,
    drive: options.Drive = None,
    fit: options.Fit = None,
    json: options.Json = False,
    out: options.Out = None,
    blame: options.Blame = False,
    over_time: options.OverTime = False,
    no_over_time: options.NoOverTime = False,
    format: options.Format = None,
    on_bad_line: options.BadLine = None,
    sort_window: options.SortWindow = None,
    jobs: options.Jobs = 2,
) -> None:
    """Run several schemes on the same drive with the same requests and compare them."""
    from flashgc.cli import progress
    from flashgc.files import output
    from flashgc.pages import provenance
    from flashgc.results import gc_cost
    from flashgc.running import clock, comparing

    watched = _watched(over_time, no_over_time, out, seeds)
    set_ = options.settings(sets, format, on_bad_line, sort_window)
    if over_time:
        clock.refuse_over_time(config, scheme=None, device=device, set=set_, seed=seed, fit=fit,
                               unset=unsets)  # fmt: skip
    folder = None if out is None else output.folder(out)
    names = options.scheme_names(schemes)
    shown_names = [f"{name}{more}" for more in ("", f" {gc_cost.WITHOUT}")[: 1 + cost]
                   for name in names]  # fmt: skip
    with progress.bars(shown_names, quiet=json) as shown:
        reports = comparing.compare(
            config, names, trace, device=device, set=set_, unset=unsets, seed=seed,
            verify=verify, blame=blame, drive=drive, fit=fit, jobs=jobs,
            over_time=watched, seeds=seeds, cost=cost, progress=shown,
        )  # fmt: skip
    provenance.by_command(reports, typed())
    from flashgc.cli import show

    def in_words() -> None:
        show.comparison(reports)
        options.say_checked(verify)

    options.finish(
        lambda: [] if folder is None else reports.save_folder(folder),
        in_words,
        reports.to_json if json else None,
    )


def _watched(
    wanted: bool, unwanted: bool, out: Path | None, seeds: int | None, *logs: Path | None
) -> bool | None:
    """Whether runs are watched over time: for a page of one seed, from logs that can be read.

    None where they are if they have a clock.
    """
    if wanted and unwanted:
        raise typer.BadParameter("--over-time and --no-over-time exclude each other")
    if wanted and out is None:
        raise typer.BadParameter("--over-time adds charts to the page; name its folder with --out")
    if wanted and seeds is not None:
        raise typer.BadParameter("--over-time shows one run and cannot be combined with --seeds")
    readable = all(log is None or not log.exists() or log.is_file() for log in logs)
    if wanted:
        return True
    return None if out is not None and seeds is None and readable and not unwanted else False


app.command(
    "fio", epilog=example(*job_files.EXAMPLES), context_settings={"ignore_unknown_options": True}
)(job_files.fio)
app.command("serve", epilog=serving.EPILOG)(serving.serve)
app.command("top", epilog=watching.EPILOG)(watching.top)
app.command("report", epilog=reporting.EPILOG)(reporting.report)
app.command("advise", epilog=advising.EPILOG)(advising.advise)
app.command("tune", epilog=tuning.EPILOG)(tuning.tune)
app.command("calibrate", epilog=calibrating.EPILOG)(calibrating.calibrate)
app.command("explain", epilog=explaining.EPILOG)(explaining.explain)
app.command("animate", epilog=animating.EPILOG)(animating.animate)
app.command("pts", epilog=performance.EPILOG)(performance.pts)


class Schema(StrEnum):
    """Something that is printed as JSON."""

    report = "report"
    advice = "advice"
    explanation = "explanation"
    pts = "pts"
    tuning = "tuning"
    calibration = "calibration"


@app.command(epilog=example("flashgc schema", "flashgc schema advice > advice.schema.json"))
@guarded
def schema(
    of: Annotated[
        Schema,
        typer.Argument(
            metavar="OF",
            help="The output: report (of `flashgc run`), advice (advise), explanation (explain), "
            "pts, tuning (tune) or calibration (calibrate).",
        ),
    ] = Schema.report,
) -> None:
    """Print the JSON Schema of the output of run, advise, explain, pts, tune or calibrate."""
    import json

    from flashgc.schema import json_schema

    schemas = {
        Schema.report: json_schema.report_schema,
        Schema.advice: json_schema.advice_schema,
        Schema.explanation: json_schema.explanation_schema,
        Schema.pts: json_schema.pts_schema,
        Schema.tuning: json_schema.tuning_schema,
        Schema.calibration: json_schema.calibration_schema,
    }
    print(json.dumps(schemas[of](), indent=2))


app.add_typer(drives.app, name="drive")
app.add_typer(traces.app, name="trace")
app.add_typer(sweeps.app, name="sweep")
app.command("schemes", epilog=example("flashgc schemes greedy"))(presets.schemes)
app.command("devices", epilog=example("flashgc devices slc-msr"))(presets.devices)
app.command("workloads", epilog=example("flashgc workloads", "flashgc workloads financial-like"))(
    workloads.workloads
)
app.command(
    "convert",
    epilog=example(
        "flashgc convert ssdconfig.xml --workload workload.xml --out mine.toml",
        "flashgc convert page.parameters > mine.toml",
    ),
)(conversion.convert)
app.command(
    "reproduce",
    epilog=example(
        "flashgc reproduce",
        "flashgc reproduce parallel-gc --traces my-traces",
        "flashgc reproduce parallel-gc/5a,table-3 --quick",
        "flashgc reproduce --all --traces my-traces --bundle all.zip",
        "flashgc reproduce --check all.zip --traces my-traces",
    ),
)(reproduce.reproduce)
