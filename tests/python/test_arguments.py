"""Arguments in Python that are of another type: each is named, and nothing runs before."""

import pickle
import re

import numpy as np
import pytest

import flashgc
from conftest import SMALL
from flashgc import watching

AXES = {"base": {"config": "oltp"}, "axes": {"seed": [1]}}
SHORT = {"workload.synthetic.requests": 500}


def first(candidates):
    return candidates.block[0]


@pytest.mark.parametrize("name", ["verify", "blame", "over_time", "untimed"])
def test_a_switch_is_true_or_false(name):
    for wrong in ("no", 1, [], np.array([True, False])):
        with pytest.raises(flashgc.ConfigError, match=f"error: {name} must be True or False, got"):
            flashgc.run(SMALL, **{name: wrong})
    assert flashgc.run(SMALL, set=SHORT, **{name: np.bool_(False)}).requests.read


def test_switches_of_numpy_are_in_the_call_of_a_page():
    report = flashgc.run(SMALL, set=SHORT, blame=np.bool_(True), over_time=np.bool_(True))
    assert "blame=True, over_time=True" in report._origin.again
    both = flashgc.compare(SMALL, ["greedy"], set=SHORT, cost=np.bool_(True))
    assert both[0].without_gc_cost is not None


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: flashgc.run(SMALL, trace=5), "trace must be a name or a path, got 5"),
        (lambda: flashgc.run(SMALL, trace=b"a"), "trace must be a name or a path, got b'a'"),
        (lambda: flashgc.run(SMALL, trace="a\0b"), r"trace is 'a\x00b', and no name of a file has"),
        (lambda: flashgc.run(SMALL, scheme=first), "becomes a scheme with @flashgc.victim"),
        (lambda: flashgc.compare(SMALL, ["greedy", first]), "a scheme with @flashgc.victim"),
        (lambda: flashgc.run(SMALL, device={}), 'as in set={"device": {...}}'),
        (lambda: flashgc.run(SMALL, drive=5), "drive must be a name or a path, got 5"),
        (lambda: flashgc.compare(SMALL, ["fifo"], drive=5), "drive must be a name or a path"),
        (lambda: flashgc.run_seeds(SMALL, 2, drive=5), "drive must be a name or a path"),
        (lambda: flashgc.explain(SMALL, drive=5), "drive must be a name or a path"),
        (lambda: flashgc.animate(SMALL, drive=5), "drive must be a name or a path"),
        (lambda: flashgc.run(SMALL, drive=""), "the name given for drive is empty"),
        (lambda: flashgc.run(SMALL, gc_log=""), "the name given for gc_log is empty"),
        (lambda: flashgc.drive.save(SMALL, ""), "the name given for file is empty"),
        (lambda: flashgc.run(SMALL, trace=""), "the name of the trace is empty"),
        (lambda: flashgc.run(SMALL, gc_log=5), "gc_log must be a name or a path"),
        (lambda: flashgc.run(SMALL, request_log=b"a.csv"), "request_log must be a name or a path"),
        (lambda: flashgc.drive.save(SMALL, None), "file must be a name or a path, got None"),
        (lambda: flashgc.drive.info(5), "file must be a name or a path, got 5"),
        (lambda: flashgc.compare(SMALL, 5), "schemes must be a list of names or paths, got 5"),
        (lambda: flashgc.compare(SMALL, np.array([])), "there is no scheme to compare"),
        (lambda: flashgc.run(SMALL, set=5), "set must be a list of texts, got 5"),
        (lambda: flashgc.run(SMALL, set=[("seed", 3)]), "give a dictionary: {'seed': 3}"),
        (lambda: flashgc.run(SMALL, unset=[5]), "unset must be a list of texts, got 5"),
        (lambda: flashgc.run(SMALL, seed=np.array([1])), "seed must be a whole number from 0 to"),
        (lambda: flashgc.Component("slc-msr", parts="no"), "parts must be True or False, got 'no'"),
        (lambda: flashgc.Component("slc-msr", drive=5), "drive must be a name or a path, got 5"),
        (
            lambda: flashgc.advise(SMALL, schemes=[flashgc.victim(first)]),
            "advise cannot run the scheme in Python `first`",
        ),
        (
            lambda: flashgc.tune(SMALL, scheme=flashgc.victim(first)),
            "tune cannot search around the scheme in Python `first`",
        ),
    ],
)
def test_an_argument_of_another_type_is_named(call, words):
    with pytest.raises((flashgc.ConfigError, flashgc.TraceError), match=re.escape(words)):
        call()


def test_schemes_may_be_an_array():
    both = flashgc.compare(SMALL, np.array(["greedy", "fifo"]), set=SHORT)
    assert both.keys() == ["greedy", "fifo"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda report: report.save(None), "the file must be a name or a path, got None"),
        (lambda report: report.save("a\0.json"), r"the file is 'a\x00.json', and no name"),
        (
            lambda report: report.save_folder(""),
            "the name given for the folder for results is empty",
        ),
        (lambda report: report.save_folder(None), "the folder for results must be a name or a"),
        (lambda report: report.save_figures("f", None), "formats must be a word or a list of some"),
        (lambda report: report.save_figures("f", []), "formats must be a word or a list of some"),
        (lambda _: flashgc.load(None), "a result must be a name or a path, got None"),
        (lambda _: flashgc.load(["a"]), "a result must be a name or a path, got ['a']"),
        (lambda _: flashgc.sweep(None), "a sweep must be a name or a path, got None"),
        (lambda _: flashgc.tune(None), "a configuration must be a path, a built-in name"),
        (lambda _: flashgc.convert(5), "file must be a name or a path, got 5"),
        (lambda _: flashgc.reproduce(5), "paper must be a name or a path, got 5"),
        (lambda _: flashgc.check_bundle(5), "bundle must be a name or a path, got 5"),
    ],
)
def test_a_place_of_results_of_another_type_is_named(call, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    report = flashgc.run(SMALL, set=SHORT)
    with pytest.raises(flashgc.ConfigError, match=re.escape(words)):
        call(report)
    assert list(tmp_path.iterdir()) == []


def test_a_format_of_figures_may_be_one_word(tmp_path):
    pytest.importorskip("vl_convert")
    saved = flashgc.run(SMALL, set=SHORT).save_figures(tmp_path, "svg")
    assert saved
    assert {path.suffix for path in saved} == {".svg"}


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: flashgc.pts("enterprise-tlc", short="no"),
            "short must be True or False, got 'no'",
        ),
        (lambda: flashgc.pts("enterprise-tlc", tests=5), "tests must be a list with one name or"),
        (lambda: flashgc.calibrate(None, "slc-msr"), "results must be a name or a path, got None"),
        (lambda: flashgc.calibrate([None], "slc-msr"), "a result must be a name or a path, got"),
        (lambda: flashgc.sweep({"axes": {"seed": [1]}}, on=5), "a sweep cannot run on 5"),
        (lambda: flashgc.tune(SMALL, constraints=5), "the constraint '5' cannot be read"),
        (lambda: flashgc.trace.merge(5, "out.spc"), "a trace must be a name or a path, got 5"),
        (
            lambda: flashgc.trace.check_fit("a.spc", None),
            "fitted must be a result of flashgc.trace",
        ),
        (lambda: flashgc.trace.generate(SMALL, None), "target must be a name or a path, got None"),
        (lambda: flashgc.explain(SMALL, request="7"), "request must be a whole number from 0, got"),
        (lambda: flashgc.trace.info("sqlite", rows=2**64), "rows must be a whole number from 1 to"),
        (lambda: flashgc.trace.info("sqlite", rows=0), "rows must be a whole number from 1 to"),
        (lambda: flashgc.trace.cut("sqlite", "o", rows=0), "rows must be a whole number from 1 to"),
        (lambda: flashgc.trace.fit("sqlite", rows=10**30), "rows must be a whole number from 1 to"),
        (lambda: flashgc.sweep(AXES, jobs=5000), "jobs must be a whole number from 1 to 1024, got"),
        (lambda: flashgc.tune(SMALL, jobs=10**20), "jobs must be a whole number from 1 to 1024"),
        (lambda: flashgc.trace.merge(["a"], "o.fgt", align="no"), "align must be True or False"),
        (lambda: flashgc.trace.merge(["a"], "o.fgt", renumber=1), "renumber must be True or"),
        (lambda: flashgc.sweep(AXES, retry="no"), "retry must be True or False, got 'no'"),
        (lambda: flashgc.sweep(AXES, quick="no"), "quick must be True or False, got 'no'"),
        (lambda: flashgc.explain_sweep(AXES, retry=0), "retry must be True or False, got 0"),
        (lambda: flashgc.sweep(AXES, traces=5), "traces must be a name or a path, got 5"),
        (lambda: flashgc.sweep(flashgc.run(SMALL, set=SHORT)), "a report is the result of a run"),
    ],
)
def test_an_argument_of_other_functions_is_named(call, words):
    with pytest.raises(flashgc.ConfigError, match=re.escape(words)):
        call()


@pytest.mark.parametrize("given", [(5,), ("slc-msr", "x"), ("slc-msr", float("nan"))])
def test_arguments_of_a_worst_case(given):
    device, *more = given
    with pytest.raises(
        ValueError, match=r"must be a (name or a table|whole number of ns from 0), got"
    ):
        flashgc.worst_case_wait(device, suspend_ns=more[0] if more else None)


@pytest.mark.parametrize("given", [5, None, "slc-msr", [], {}, {"config": 3, "gc": None}])
def test_a_wait_is_checked_of_a_report(given):
    with pytest.raises(ValueError, match="report must be the report of a run, got "):
        flashgc.check_wait(given)


@pytest.mark.parametrize("given", [5, None, "", b"x", ["x"]])
@pytest.mark.parametrize("kind", ["Animation", "Calibration", "Tuning", "Explanation", "Advice"])
def test_a_result_is_saved_under_a_path(kind, given):
    result = getattr(flashgc, kind)
    with pytest.raises(flashgc.ConfigError, match="the file"):
        result.save(object.__new__(result), given)


@pytest.mark.parametrize("given", [5, None, "", b"x", ["x"]])
def test_the_socket_of_a_drive_is_a_path(given):
    with pytest.raises(flashgc.ConfigError, match="the socket of the drive"):
        watching.status(given)


def test_numbers_of_numpy_are_in_the_call_of_a_page():
    for number in (np.int64(7), np.array([7])):
        told = flashgc.explain(SMALL, request=number, set=SHORT)
        assert [one.request for one in told.stories] == [7]
    assert "request=[7]" in told.report._origin.again
    drawn = flashgc.animate(SMALL, requests=np.int64(5), set=SHORT)
    assert "requests=5" in drawn.report._origin.again


def test_traces_to_merge_may_come_one_by_one(tmp_path):
    path = tmp_path / "a.spc"
    path.write_text("0,8,8192,W,0.5\n0,8,8192,W,0.6\n")
    merged = flashgc.trace.merge((path for _ in range(2)), tmp_path / "b.spc")
    assert (merged["traces"], merged["rows"]) == (2, 4)


@pytest.mark.parametrize(
    ("kind", "more", "remedy"),
    [
        ("Report", [], "`flashgc.run` makes a report"),
        ("Tuning", [], "`flashgc.tune` makes a tuning"),
        ("Calibration", [], "`flashgc.calibrate` makes a calibration"),
        ("Advice", [None], "`flashgc.advise` makes advice"),
        ("Explanation", [None], "`flashgc.explain` makes an explanation"),
        ("Pts", [{}, None, ""], "`flashgc.pts` makes it"),
    ],
)
def test_a_result_is_not_made_from_other_values(kind, more, remedy):
    for values in ({}, {"a": 1}):
        with pytest.raises(flashgc.ConfigError) as error:
            getattr(flashgc, kind)(values, *more)
        assert re.search(r" needs the key `\w+`, which is missing\n", str(error.value))
        assert remedy in str(error.value)
    with pytest.raises(flashgc.ConfigError, match="is made from a dictionary of results, not list"):
        getattr(flashgc, kind)([1], *more)


def test_a_report_has_all_its_keys():
    """With a scheme alone it was accepted, and each attribute of it was missing."""
    whole = flashgc.run(SMALL, set=SHORT).to_dict()
    assert flashgc.Report(whole).to_dict() == whole
    for key in ("steady", "config", "gc"):
        less = {name: value for name, value in whole.items() if name != key}
        with pytest.raises(flashgc.ConfigError, match=f"a report needs the key `{key}`, which is"):
            flashgc.Report(less)


def test_a_report_is_read_only():
    report = flashgc.run(SMALL, set=SHORT)
    for section in (report, report.gc):
        with pytest.raises(AttributeError, match="results are read-only; to_dict"):
            section.count = 5
    assert report.to_dict() == pickle.loads(pickle.dumps(report)).to_dict()


@pytest.mark.parametrize(
    ("device", "registers", "die_mm2", "words"),
    [
        (None, 2, 100, "device must be a name or a table, got None"),
        ("slc-msr", "x", 100, "registers must be a whole number from 1, got 'x'"),
        ("slc-msr", 2, "x", "die_mm2 must be above zero and finite, got 'x'"),
        ("slc-msr", 2, float("nan"), "die_mm2 must be above zero and finite, got nan"),
    ],
)
def test_arguments_of_a_cost_of_registers(device, registers, die_mm2, words):
    with pytest.raises(ValueError, match=words):
        flashgc.register_cost(device, registers, die_mm2=die_mm2)


def test_the_base_of_a_scheme_is_a_name():
    with pytest.raises(flashgc.ConfigError, match="base must be a name or a path, got 5"):
        flashgc.scheme("mine", base=5, victim=first)


def test_the_call_of_several_seeds_has_all_options():
    report = flashgc.run_seeds(SMALL, 2, set=SHORT, blame=True)
    assert "blame=True" in report._origin.again


@pytest.mark.parametrize(
    "call",
    [
        lambda given: flashgc.run(SMALL, set=SHORT, progress=given),
        lambda given: flashgc.run_seeds(SMALL, 2, set=SHORT, progress=given),
        lambda given: flashgc.compare(SMALL, ["fifo"], set=SHORT, progress=given),
        lambda given: flashgc.advise(SMALL, set=SHORT, progress=given),
        lambda given: flashgc.explain(SMALL, set=SHORT, progress=given),
        lambda given: flashgc.animate(SMALL, set=SHORT, progress=given),
        lambda given: flashgc.pts("slc-msr", tests=["tp"], progress=given),
        lambda given: flashgc.sweep(AXES, progress=given),
        lambda given: flashgc.tune(SMALL, progress=given),
        lambda given: flashgc.calibrate("rows.csv", "slc-msr", progress=given),
        lambda given: flashgc.workload("oltp", progress=given),
        lambda given: flashgc.Component("slc-msr", progress=given),
        lambda given: flashgc.drive.save(SMALL, "x.drive", progress=given),
        lambda given: flashgc.trace.generate(SMALL, "x.load", progress=given),
        lambda given: flashgc.reproduce("parallel-gc", progress=given),
        lambda given: flashgc.reproduce_all(progress=given),
        lambda given: flashgc.check_bundle("x.zip", progress=given),
    ],
)
@pytest.mark.parametrize("given", [5, False])
def test_progress_is_a_function(call, given, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = f"progress must be a function or None, got {given}"
    with pytest.raises(flashgc.ConfigError, match=words):
        call(given)
    assert list(tmp_path.iterdir()) == []
