"""The tuner: legal points alone, results without chance, and a check on unseen samples."""

import json
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import time
import tomllib

import pytest

import flashgc
from conftest import COMMAND, LONG, REPLAY, SHARED, SMALL
from flashgc import charts
from flashgc.axes.choice import Range
from flashgc.results.metrics import RunResults
from flashgc.running import building, inputs
from flashgc.tuning import builtin, figure, metrics, ranking, read, samples, words
from flashgc.tuning.ranking import Candidate, Score
from in_process import apart
from test_schema import mistakes

optuna = pytest.importorskip("optuna", reason="Optuna is not installed: pip install flashgc[tune]")

from flashgc.tuning import sampler, search  # noqa: E402 - they need Optuna

LOAD = SMALL.replace("20_000", "24_000")
SPACE = """
[base]
config = "small.toml"

[space]
scheme = ["greedy", "pgc-both", "cost-benefit"]
"gc.trigger.watermark.soft" = { from = 2, to = 5, unit = " blocks" }

[search]
trials = 8
batch = 3
"""
ONE_POINT = """
[space]
soft = { key = "gc.trigger.watermark.soft", values = ["4 blocks", "5 blocks"] }
[search]
trials = 1
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a small configuration and a small space."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(LOAD)
    (tmp_path / "space.toml").write_text(SPACE)
    return tmp_path


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The result of the small space, searched at once by one worker."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "small.toml").write_text(LOAD)
    (folder / "space.toml").write_text(SPACE)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return flashgc.tune("space.toml", store="all", jobs=1).to_dict()


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """A search over the built-in space."""
    folder = tmp_path_factory.mktemp("found")
    return flashgc.tune(LOAD, trials=36, store=folder, jobs=2)


def space_of(config, **settings):
    request = building.bare_request(config, None, None, None, settings or None, None)
    return builtin.space(request)


def test_what_the_device_lacks_is_not_in_the_space():
    space, starts = space_of("oltp")
    uses = {one.slot: set(one.of) for one in space.parameters.values() if one.slot}
    assert "suspend" not in uses["preemption"]
    assert "sub-blocks" not in uses["erase"]
    assert "instant" not in uses["copy"]
    assert "random" not in uses["victim"]
    assert not any(".suspend." in name or "hotness" in name for name in space.parameters)
    assert {"greedy", "pgc", "on-demand", "parallel", "pregc", "gftl"} <= set(starts)
    assert not {"fpgc", "speedup", "ideal"} & set(starts)


def test_a_device_with_sub_blocks_and_suspension_has_more():
    load = {"synthetic": {"queue_depth": 1, "requests": 10}}
    space, starts = space_of({"device": {"preset": "speedup-gc-tlc"}, "workload": load})
    assert "sub-blocks" in space.parameters["gc.erase.use"].of
    assert "speedup" in starts
    space, _ = space_of({"device": {"preset": "preemptible-gc-slc"}, "workload": load})
    assert "suspend" in space.parameters["gc.preemption.use"].of


def test_thresholds_are_drawn_up_to_the_spare_space_of_planes_that_work_in_step():
    load = {"synthetic": {"queue_depth": 1, "requests": 10}}
    gc = {"scheme": "greedy", "copy": {"use": "bus"}}
    for preset, most in [("wd-960gb", 50), ("solidigm-d7-p5520", 64)]:
        space, _ = space_of({"device": {"preset": preset}, "gc": gc, "workload": load})
        assert space.parameters["gc.trigger.watermark.soft"].of.high == most


@pytest.mark.parametrize("method", sampler.METHODS)
def test_no_illegal_point_becomes_a_trial(method):
    """The engine refuses about half of the random points, and none of those that are drawn."""
    space, starts = space_of("oltp")
    stream = random.Random(1)
    drawn = [sampler.drawn(space, stream) for _ in range(200)]
    assert 20 < sum(space.problem(one) is not None for one in drawn) < 180
    legal = sampler.Legal(space, method, 1, list(starts.values())[:3])
    study = optuna.create_study(sampler=legal, directions=["minimize"] * 2)
    of = sampler.distributions(space)
    for at in range(25):
        trial = study.ask()
        for name in trial.relative_params:
            if isinstance(space.parameters[name].of, Range):
                low, high, log = of[name].low, of[name].high, of[name].log
                (trial.suggest_int if space.parameters[name].of.is_whole else
                 trial.suggest_float)(name, low, high, log=log)  # fmt: skip
            else:
                trial.suggest_categorical(name, of[name].choices)
        request = space.request(trial.params)
        assert json.loads(flashgc._engine.problems(request)) == []
        assert sorted(trial.params) == sorted(space.active(trial.params))
        study.tell(trial, [stream.random() + 0.1 * at, stream.random()])
    points = [sampler.identity(one.params) for one in study.trials]
    assert len(set(points)) == len(points)


@pytest.mark.parametrize("method", sampler.METHODS)
def test_an_illegal_scheme_of_a_list_is_drawn_again(here, method):
    """The device cannot suspend, so `fpgc` is refused on it, and never becomes a trial."""
    text = SPACE.replace("pgc-both", "fpgc").replace(
        "trials = 8", f'trials = 6\nmethod = "{method}"'
    )
    (here / "space.toml").write_text(text)
    found = flashgc.tune("space.toml")
    assert (found.trials, found.failed) == (6, 0)
    schemes = [
        one.changes.get("gc.scheme", "greedy") for one in found.points if one.trial is not None
    ]
    assert set(schemes) <= {"greedy", "cost-benefit"}


def test_presets_are_points_of_the_space():
    base = building.bare_request("oltp", None, None, None, None, None)
    layers = read.Layers("oltp", None, None, [], [], None, None)
    asked = read.asked(None, "oltp", layers, base, read.Options())
    assert {"greedy", "pgc-both", "on-demand", "bbgc", "parallel-ippbe", "pregc"} <= asked.exact


def test_parameters_without_effect_are_not_set():
    space, starts = space_of("oltp")
    assert "gc.background.pre-migration.distance" in space.active(starts["pregc"])
    assert "gc.background.pre-migration.distance" not in space.active(starts["pgc"])
    assert not any("time-slices" in key for key in space.settings(starts["pregc"]))


def test_a_search_finds_what_schemes_gain(found):
    assert (found.trials, found.failed) == (36, 0)
    assert found.check.rivals[0].name == "greedy (own)"
    changes = found.check.rivals[0].changes
    assert changes["write"].high < -0.3
    assert changes["read"].high < -0.7
    assert changes["write_amplification_bytes"].high < 0
    # The chosen point is the best by latency; others of the search spare copies.
    amplifications = [one.metrics["write_amplification_bytes"] for one in found.points]
    assert min(amplifications) < 0.9 * amplifications[0]
    assert found.check.rivals[0].verdict in {"better", "mixed"}
    assert mistakes(found.to_dict(), flashgc.tuning_schema(), "", DEFINED) == []
    ran = {one.name: one for one in found.points}
    assert ran[found.chosen.name].rung == max(one.rung for one in found.points)
    assert sum(one.rung >= 1 for one in found.points) < 0.6 * len(found.points)


DEFINED = flashgc.tuning_schema()["$defs"]


def test_the_chosen_configuration_is_a_file_that_runs(found, tmp_path):
    file = found.save(tmp_path / "tuned.toml")
    sets = found.check.settings[0]
    report = flashgc.run(file, set=sets)
    wanted = flashgc.run(LOAD, scheme=None if found.chosen.preset else "greedy",
                         set=[*sets, *(f"{key}={value}" for key, value in
                                       found.chosen.settings.items())])  # fmt: skip
    assert report.result_hash == wanted.result_hash
    assert report.config_hash == wanted.config_hash


@apart
def test_the_text_the_page_and_the_figure_show_the_choice(found, tmp_path):
    values = found.to_dict()
    page = found.save(tmp_path / "tune.html").read_text()
    assert words.verdict(values) in page
    assert "Parameters that mattered" in page
    [chart] = figure.charts(values)
    assert sum("write p99.9" in told for told in chart.columns["told"]) == len(chart.rows())
    assert len(chart.rows()) >= found.trials - found.failed
    [chosen] = [row for row in chart.rows() if row["kind"] == "chosen"]
    assert chosen["name"] == found.chosen.name
    front = {row["name"] for row in chart.rows() if row["on_front"]}
    assert front == {one["name"] for one in values["points"] if one["on_front"]}
    [path] = charts.save([chart], tmp_path, ("svg",))
    assert path.name == "front.svg"
    assert "write p99.9" in path.read_text()


def test_no_result_depends_on_the_number_of_workers(here, whole):
    assert flashgc.tune("space.toml", store="two", jobs=2).to_dict() == whole


class StopError(Exception):
    """Ends a search in its middle."""


@pytest.mark.parametrize("at", [0, 3, 6])
def test_an_interrupted_search_goes_on(here, whole, at):
    def stop(step):
        if step.phase == "search" and step.done > at:
            raise StopError

    with pytest.raises(StopError):
        flashgc.tune("space.toml", store="all", jobs=1, progress=stop)
    assert flashgc.tune("space.toml", store="all", jobs=1).to_dict() == whole


def test_a_killed_search_goes_on(here):
    """SIGKILL in the middle; then the same command, even if the journal's last line is cut."""
    typed = [COMMAND, "tune", "slow.toml", "--jobs", "2", "--store", "all", "--json"]
    (here / "small.toml").write_text(SMALL.replace("20_000", "60_000"))
    (here / "slow.toml").write_text(SPACE)
    with subprocess.Popen(typed, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        journals = []
        end = time.monotonic() + 60
        while not journals and time.monotonic() < end:
            journals = list((here / "all/tunes").glob("*/journal-*.log"))
            time.sleep(0.05)
        time.sleep(0.5)
        child.send_signal(signal.SIGKILL)
    with open(journals[0], "ab") as file:
        file.write(b'{"op_code": 4, "wor')
    # A file of results that the kill has cut.
    (here / "all/results/.1f.parquet.part").write_bytes(b"PAR1")
    done = subprocess.run(typed, capture_output=True, text=True, check=True)
    other = subprocess.run([*typed[:-3], "--store", "other", "--json"], capture_output=True,
                           text=True, check=True)  # fmt: skip
    assert json.loads(done.stdout) == json.loads(other.stdout)
    assert not list((here / "all").rglob("*.part"))


def test_a_second_call_computes_nothing(here):
    first = flashgc.tune("space.toml", store="all")
    began = sorted((here / "all/results").iterdir())
    assert flashgc.tune("space.toml", store="all").to_dict() == first.to_dict()
    assert sorted((here / "all/results").iterdir()) == began


def test_a_small_space_is_searched_in_full(here):
    space = SPACE.replace("trials = 8", "trials = 500")
    done = flashgc.tune(space.replace("to = 5", "to = 3"), store="all")
    assert (done.trials, done.refused_points) == (6, 0)


def test_no_result_depends_on_searches_with_other_numbers_of_trials(here):
    """A longer one continued where another had ended a batch; a shorter one counted its trials."""
    space = SPACE.replace("to = 5", "to = 15")
    few, more = (space.replace("trials = 8", f"trials = {trials}") for trials in (4, 14))
    first = flashgc.tune(few, store="all").to_dict()
    second = flashgc.tune(more, store="all").to_dict()
    assert flashgc.tune(few, store="all").to_dict() == first
    assert second == flashgc.tune(more, store="alone").to_dict()


def test_one_trial_says_nothing_about_parameters(here):
    """Each of them mattered by the same share."""
    done = flashgc.tune(SPACE.replace("trials = 8", "trials = 1"), store="all")
    assert done.trials == 1
    assert {share for one in done["parameters"] for share in one["importance"].values()} == {0.0}
    assert "parameters that mattered" not in done.save("one.html").read_text()


def test_ray_gives_the_same_result(here):
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'flashgc[ray]'")
    over = flashgc.tune("space.toml", store="ray", on="ray", jobs=2)
    assert over.to_dict() == flashgc.tune("space.toml", store="here", jobs=1).to_dict()


def test_the_names_of_the_package_need_no_optuna():
    code = (
        "import sys; sys.modules['optuna'] = None; import flashgc; "
        "flashgc.tune, flashgc.Tuning, flashgc.TuneProgress"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@apart
@pytest.mark.parametrize("method", ["nsga-ii", "random"])
def test_one_objective_and_other_methods(here, method):
    done = flashgc.tune("space.toml", objectives=["write"], constraints=["read <= 200%"],
                        method=method, trials=6, store="all")  # fmt: skip
    assert done.chosen.metrics["write"] > 0
    assert done.check.feasible
    [chart] = figure.charts(done.to_dict())
    assert "by trial" in chart.title
    assert charts.save([chart], here, ("svg",))


def test_more_can_be_better(here):
    done = flashgc.tune("space.toml", objectives=["max:throughput.bytes_per_s", "erases"],
                        constraints=[], trials=4, store="all")  # fmt: skip
    assert done.objectives[0].maximised


def test_the_check_sees_other_seeds_and_another_part_of_the_trace():
    reference = RunResults({"requests": {"read": 20_000, "write": 30_000, "trim": 0},
                            "pages": {"host_read": 20_000, "host_written": 30_000}})  # fmt: skip
    plan = samples.planned({"trace": {}}, 100, 7, reference)
    seen, seeds = set(), set()
    for rung in plan.rungs:
        for sets in rung:
            first, rows, seed = (int(text.partition("=")[2]) for text in sets)
            seen |= {first, first + rows - 1}
            seeds.add(seed)
    assert (min(seen), max(seen)) == (100, 100 + 29_999)
    for sets in plan.check:
        first, rows, seed = (int(text.partition("=")[2]) for text in sets)
        assert first > max(seen)
        assert first + rows == 100 + 50_000
        assert seed not in seeds
    assert len(plan.check) == samples.CHECK_SEEDS


def test_a_configuration_that_breaks_a_constraint_is_not_called_the_best(whole):
    own = [one for one in whole["points"] if one["name"].endswith("(own)")]
    told = {**whole, "chosen": {**whole["chosen"], "name": own[0]["name"], "settings": {}}}
    assert words.chosen(told) == [("settings", "none: the configuration itself is the best")]
    broken = {**told, "points": [{**own[0], "feasible": False}]}
    assert "no point of the longest runs meets the constraints" in words.chosen(broken)[0][1]


def test_a_point_that_fails_on_unseen_samples_is_not_chosen(here, monkeypatch):
    before, failed = search.Search.check, []

    def check(self, those):
        before(self, those)
        if not failed:
            failed.append(those[1].label)
            those[1].results[search.CHECK] = []

    monkeypatch.setattr(search.Search, "check", check)
    done = flashgc.tune("space.toml", trials=4, store="all", jobs=1).to_dict()
    assert failed != [done["chosen"]["name"]]
    assert [text for text in done["warnings"] if text.startswith(failed[0])]
    assert failed[0] not in [one["name"] for one in done["points"] if one["on_front"]]


@pytest.mark.skipif(not LONG, reason="in make long")
@pytest.mark.skipif(not SHARED.is_dir(), reason="there are no traces")
def test_a_trace_sizes_one_drive_for_all(here):
    trace = SHARED / "traces/Financial1.rows3-50002.flashsim.trace.zst"
    done = flashgc.tune("replay", trace, set={"workload.trace.format": "flashsim"}, trials=26,
                        store="all", jobs=2)  # fmt: skip
    assert "rows from row 30,000" in done.check.samples
    assert any("device.blocks_per_plane" in text for text in done.check.settings[0])
    report = flashgc.run(done.save("tuned.toml"), trace, set=done.check.settings[0])
    assert report.latency_ns.write.p99_9 < 16e6


def candidate(name, *objectives, excess=0.0, preset=None):
    own = Candidate(name, name, preset=preset)
    own.results[0], own.scores[0] = [{}], Score(objectives, (excess,))
    return own


def test_feasible_points_come_first_then_fronts():
    points = [candidate("far", 3, 3), candidate("over", 0, 0, excess=1.0), candidate("a", 1, 2),
              candidate("b", 2, 1), candidate("little", 9, 9, excess=0.1)]  # fmt: skip
    assert [one.name for one in ranking.ordered(points, 0)] == ["a", "b", "far", "little", "over"]


def test_the_choice_costs_nothing_where_it_can():
    preset = candidate("preset", 1.0, 0.5, preset="p")
    points = [candidate("dear", -5.0, 0.6), candidate("free", -1.0, 0.5), preset]
    assert ranking.chosen(points, 0).name == "free"
    assert ranking.chosen([points[0], preset], 0).name == "preset"
    assert ranking.chosen([candidate("x", 0, 0, excess=1.0)], 0) is None


@pytest.mark.parametrize(
    ("text", "relative", "limit"),
    [("read <= 110%", True, 1.1), ("read<=2 ms", False, 2e6), ("wear <= 5", False, 5.0),
     ("throughput.bytes_per_s >= 90%", True, 0.9), ("write <= 105% of presets", True, 1.05)],
)  # fmt: skip
def test_constraints(text, relative, limit):
    found = metrics.constraint(text)
    assert (found.relative, found.limit) == (relative, pytest.approx(limit))
    assert found.of_presets == ("presets" in text)


def test_a_count_of_0_keeps_a_limit_of_0():
    for sense in ("<=", ">="):
        assert metrics.constraint(f"erases {sense} 0").excess(0.0, 0.0, 0.0) == 0.0
    assert metrics.constraint("erases <= 0").excess(0.0, 3.0, 0.0) > 0


UNTIMED = ("--set", "engine.timing=none", "--set", "device.blocks_per_plane=64",
           "--set", "workload.synthetic.requests=2000")  # fmt: skip
WRONG = [
    (["oltp", "--objectives", "reed"], "'reed' is not a metric", "`read`"),
    (["oltp", "--objectives", "read,read"], "'read' is there twice", ""),
    (["oltp", "--constraint", "read < 5"], "cannot be read", "METRIC <= LIMIT"),
    (["oltp", "--constraint", "read <= 0 ms"], "must be above 0", "that no run has"),
    (["oltp", "--constraint", "read <= 0%"], "must be above 0", "that no run has"),
    (["oltp", "--constraint", "read <= 5"], "has no unit", "read <= 5 ms"),
    (["oltp", "--constraint", "wear <= 5 ms"], "not a time", "a number or a share"),
    (["oltp", "--method", "gp"], "'gp' is not known", "tpe, nsga-ii, random"),
    (["oltp", "--on", "spark"], "cannot run on 'spark'", "ray"),
    (["oltp", "--scheme", "ideal"], "own scheme, ideal, take no time", "gc.scheme"),
    (["space.toml", "--scheme", "nosuch"], 'there is no scheme "nosuch"', ""),
    (["no.toml"], "there is no such file", ""),
    (["key.toml"], "`trails` is not a valid key", "did you mean `trials`"),
    (["layer.toml"], "`device` cannot differ", "[base]"),
    (["count.toml"], "`trials` must be a whole number from 1, got 0", ""),
    (["none.toml"], "`space` must be a table with one key or more", ""),
    (["illegal.toml"], "no point of the space is legal", "widen [space]"),
    (["reads.toml", "--constraint", "read <= 2 ms"], "read p99.9 is undefined", "--objectives"),
    (["oltp", *UNTIMED], "the run has no clock", 'remove engine.timing = "none"; or give a trace'),
]  # fmt: skip


@pytest.mark.parametrize(("typed", "what", "help_"), WRONG, ids=lambda one: str(one)[:40])
def test_each_mistake_says_what_is_wrong_and_what_to_type(flashgc, here, typed, what, help_):
    base = '[base]\nconfig = "small.toml"\n'
    (here / "key.toml").write_text(base + "[search]\ntrails = 3\n")
    (here / "layer.toml").write_text(base + '[space]\nd = { key = "device", values = ["x"] }\n')
    (here / "count.toml").write_text(base + "[search]\ntrials = 0\n")
    (here / "none.toml").write_text(base + "[space]\n")
    (here / "illegal.toml").write_text(base + '[space]\n"gc.placement.use" = ["hotness-groups"]\n')
    writes = LOAD.replace("[workload.synthetic]", "[workload.synthetic]\nread_share = 0.0", 1)
    (here / "writes.toml").write_text(_once(writes))
    (here / "reads.toml").write_text('[base]\nconfig = "writes.toml"\n[search]\ntrials = 1\n')
    done = flashgc("tune", *typed, code=2)
    message = " ".join(done.err.split())
    assert message.startswith("error: ")
    assert what in message
    assert help_ in message


@pytest.mark.parametrize(
    ("line", "what", "help_"),
    [
        ('"gc.victim.use" = ["greedy", "gredy"]', 'valid values: "gredy"', 'mean "greedy"?'),
        ('"gc.victim.use" = ["greedy", 5]', "valid values: 5", "second-chance"),
        ('"gc.victim.use" = ["greedy", "greedy"]', '"greedy" is there twice', ""),
        ('scheme = ["greedy", "gredy"]', 'no scheme "gredy"', 'mean "greedy"?'),
        ('"gc.trigger.watermark.soft" = ["4 blocks", "fuor blocks"]', "fuor blocks", "4 blocks"),
        ('"gc.trigger.watermrk.soft" = { from = 2, to = 5, unit = " blocks" }',
         "unknown key `watermrk`", "`watermark`?"),
        ("seed = [1, 2]", "cannot be a parameter", "[search]"),
        ('"gc.scheme" = ["pgc"]\nscheme = ["fifo"]', "both set `scheme`", "merge their values"),
        ('a.x = { scheme = "fifo", set = { "gc.scheme" = "pgc" } }', "two schemes",
         "`scheme` alone"),
        ('a.x.scheme = "fifo"\n"gc.scheme" = ["pgc"]', "`a` and `gc.scheme` both name",
         "merge their choices"),
    ],
)  # fmt: skip
def test_a_choice_that_is_wrong_by_itself_is_refused_where_it_is(here, line, what, help_):
    """It was left out in silence: the search was one of the other choices."""
    with pytest.raises(flashgc.ConfigError) as error:
        flashgc.tune(f'[base]\nconfig = "small.toml"\n[space]\n{line}\n', store="all")
    assert what in str(error.value)
    assert help_ in str(error.value)
    assert re.search(r" --> \(text\):[45]:", str(error.value))
    assert not (here / "all").exists()


def test_a_scheme_of_the_configuration_is_replaced_by_the_word_alone(here):
    """With `gc.scheme` all points were runs of the configuration's own scheme."""
    text = '[base]\nconfig = "small.toml"\nscheme = "fifo"\n[space]\n"gc.scheme" = ["pgc"]\n'
    with pytest.raises(flashgc.ConfigError, match="with `scheme` alone"):
        flashgc.tune(text, store="all")


def test_the_default_constraint_is_left_out_where_nothing_reads(flashgc, here):
    writes = LOAD.replace("[workload.synthetic]", "[workload.synthetic]\nread_share = 0.0", 1)
    (here / "writes.toml").write_text(_once(writes))
    (here / "one.toml").write_text('[base]\nconfig = "writes.toml"\n' + ONE_POINT)
    found = json.loads(flashgc("tune", "one.toml", "--json").out)
    assert (found["constraints"], found["trials"]) == ([], 1)


def test_a_trace_with_reads_in_one_part_alone_is_searched(flashgc, here):
    rows = (f"0,{8 * (row * 7 % 4000)},4096,{'r' if row < 20 else 'w'},{row / 1000}\n"
            for row in range(12_000))  # fmt: skip
    (here / "late.spc").write_text("".join(rows))
    (here / "replay.toml").write_text(REPLAY)
    (here / "one.toml").write_text(
        '[base]\nconfig = "replay.toml"\ntrace = "late.spc"\n' + ONE_POINT
    )
    found = json.loads(flashgc("tune", "one.toml", "--json").out)
    assert (found["constraints"], found["trials"]) == ([], 1)
    done = flashgc("tune", "one.toml", "--constraint", "read <= 2 ms", code=2)
    assert "read p99.9 is undefined in a part of the workload" in " ".join(done.err.split())


def test_built_in_traces_are_known_by_name():
    form, _, folder = read.form_of({"base": {"config": "real-programs", "trace": "sqlite"},
                                    "space": {"scheme": ["greedy"]}})  # fmt: skip
    given = read.layers_of(form, folder, read.Layers({}, None, None, [], [], None, None))
    assert given.trace == inputs.captures()["sqlite"]


def test_a_preset_that_cannot_take_the_drive_over_is_no_error():
    """The blocks of its own that `gftl` adds are not a parameter of the space."""
    given = read.Layers(LOAD, None, None, ['precondition.scheme="greedy"'], [], None, None)
    asked = read.asked(None, "one", given, read.bare(given, None), read.Options())
    assert "gftl" not in asked.exact


def _once(text):
    """A configuration without a second `read_share`."""
    first, rest = text.split("read_share = 0.0", 1)
    kept = [line for line in rest.splitlines() if not line.startswith("read_share")]
    text = first + "read_share = 0.0" + "\n".join(kept)
    tomllib.loads(text)
    return text


def test_without_optuna_the_message_says_what_to_install(here, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(flashgc.ConfigError, match=r"pip install 'flashgc\[tune\]'"):
        flashgc.tune("small.toml", store="all")


def test_without_the_package_of_figures_the_command_ends_before_the_search(
    flashgc, here, monkeypatch
):
    # In a copy of this process the first one hides the package, in a process of its own the other.
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    (here / "hidden").mkdir()
    (here / "hidden/vl_convert.py").write_text("raise ImportError\n")
    env = {"PYTHONPATH": str(here / "hidden")}
    done = flashgc("tune", "small.toml", "--store", "all", "--out", "out", code=2, env=env)
    assert "pip install 'flashgc[figures]'" in done.err
    assert not os.path.exists("out")


def test_the_command_saves_its_files(flashgc, here):
    done = flashgc("tune", "space.toml", "--store", "all", "--out", "out")
    assert sorted(os.listdir("out")) == ["front.svg", "tune.html", "tune.json", "tuned.toml"]
    assert "saved out/tune.html, out/tune.json, out/tuned.toml and out/front.svg" in done.err
    assert "is confirmed on" in " ".join(done.out.split())
    command = json.loads((here / "out/tune.json").read_text())["commands"][0]
    typed = flashgc(*shlex.split(command)[1:], "--json").json
    assert typed["result_hash"] == flashgc("run", "out/tuned.toml", "--json").json["result_hash"]


def test_the_configuration_of_a_search_is_not_replaced_by_the_chosen_one(flashgc, small, tmp_path):
    small.rename(tmp_path / "tuned.toml")
    said = flashgc("tune", "tuned.toml", "--store", "all", "--out", ".", code=2).err
    assert "tuned.toml is read, and would be replaced by the result" in said
    assert not (tmp_path / "all").exists()
