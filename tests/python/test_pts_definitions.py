"""SNIA's Performance Test Specification: steady state and the tests, on drives of given values."""

from types import SimpleNamespace

import pytest

from flashgc.snia import definitions, procedures, steady
from flashgc.snia.definitions import HOUR_NS, KIB, MINUTE_NS, SECOND_NS, Form

SPECIFIED = Form(MINUTE_NS, 25, 1.0, 0.65, 1)
SHORT = Form(5 * SECOND_NS, 25, 1.0, 0.65, 1)


# Steady state.


def test_a_window_has_five_rounds():
    assert steady.window([100, 100, 100, 100]) is None
    assert steady.window([900, 100, 100, 100, 100, 100]).average == 100
    assert not steady.reached([[100, 100, 100, 100]])
    assert steady.reached([[900, 100, 100, 100, 100, 100]])


@pytest.mark.parametrize(
    ("values", "is_steady"),
    [
        ([90, 100, 110, 100, 100], True),  # a range of exactly 20 % of the average of 100
        ([89.9, 100, 110.1, 100, 100], False),
        ([0.9, 1.0, 1.1, 1.0, 1.0], True),  # also where decimal fractions are not exact
        ([95, 97.5, 100, 102.5, 105], True),  # a fit that rises by exactly 10 % of 100
        ([94.9, 97.4, 100, 102.6, 105.1], False),
        ([105, 102.5, 100, 97.5, 95], True),  # and one that falls
        ([105.1, 102.6, 100, 97.4, 94.9], False),
        ([0, 0, 0, 0, 0], False),  # no request was done
        ([0, 0, 0, 0, 1], False),
    ],
)
def test_range_and_slope_decide(values, is_steady):
    assert steady.window(values).is_steady is is_steady
    assert steady.reached([values]) is is_steady


def test_the_best_linear_fit_by_hand():
    # Least squares over rounds -2 to 2: (-2*101 - 1*103 + 1*103 + 2*108) / 10 = 1.4 a round.
    found = steady.window([101, 103, 100, 103, 108])
    assert found.average == 103
    assert found.spread == 8
    assert found.slope == pytest.approx(1.4)
    assert found.first == pytest.approx(103 - 2 * 1.4)
    assert found.rise == pytest.approx(5.6)
    assert found.rise_share == pytest.approx(5.6 / 103)


def test_all_tracking_variables_must_be_steady():
    assert not steady.reached([[1, 1, 1, 1, 1], [1, 2, 1, 2, 1]])
    assert not steady.reached([])


def test_a_test_ends_with_the_first_steady_window_or_after_25_rounds():
    def rounds(values):
        series = procedures.Series("x", "IOPS", [])
        measured = iter([[value] for value in values])
        return procedures._tracked(measured, SPECIFIED, [(series, lambda one: one[0])])

    assert len(rounds([1, 50, 100, 100, 100, 100, 100, 100, 100])) == 7
    assert len(rounds([100] * 30)) == 5
    assert len(rounds([1, 2] * 30)) == steady.ROUNDS_MAX == 25


# The definitions of the tests.


def test_the_lengths_of_the_specification():
    form = SPECIFIED
    assert not form.is_short
    assert form.differences(list(definitions.TESTS)) == []
    assert form.round_ns == MINUTE_NS
    assert form.half_hour_ns == 30 * MINUTE_NS
    assert form.histogram_ns == 20 * MINUTE_NS
    assert form.second_ns == SECOND_NS
    assert form.hour_ns == HOUR_NS
    assert (form.accesses, form.round_gap, form.begin_times) == (360, 30, 0)
    assert definitions.WAITS_S == (5, 10, 15, 25, 50)
    assert definitions.CROSS_HOURS == (8, 6, 8)


def test_a_shortened_form_says_so():
    told = SHORT.differences(list(definitions.TESTS))
    assert "a measurement of one size and mix lasts 5 s, in place of 1 min" in told
    assert len(told) == 8
    other = Form(MINUTE_NS, 10, 0.75, 0.65, 1).differences(["iops"])
    assert other == ["a test ends after 10 rounds, in place of 25",
                     "the active range is 75% of the user capacity"]  # fmt: skip
    odd = Form(MINUTE_NS, 25, 0.125, 0.655, 1).differences(["dirth"])
    assert odd == ["the active range is 12.5% of the user capacity"]  # it was 12%
    assert definitions.mix(0.655) == "65.5/34.5"


class Scripted:
    """A drive whose IOPS are given, and which counts the requests."""

    def __init__(self, form, iops, writes=0.05):
        self.form, self._iops, self._writes = form, iops, writes
        self.written, self.now_ns, self.points, self.waits = 0.0, 0, [], []

    def measure(self, phase, round_, load, length_ns):
        iops = self._iops(len(self.points))
        self.now_ns += length_ns
        self.written += self._writes
        self.points.append(SimpleNamespace(phase=phase, round=round_, iops=iops, load=load,
                                           length_ns=length_ns, written=self.written))  # fmt: skip
        return self.points[-1]

    def histogram(self, phase, load, length_ns):
        return self.measure(phase, 0, load, length_ns)

    def wait(self, length_ns):
        self.waits.append(length_ns)


def saturated(form, iops, **more):
    drive = Scripted(form, iops, **more)
    [found] = procedures.saturation(lambda name: drive, procedures.Outstanding(2, 16))
    return drive, found


def test_write_saturation_takes_each_31st_minute():
    drive, found = saturated(SPECIFIED, lambda at: 100 if at % 31 == 0 else 10 * at,
                             writes=0.001)  # fmt: skip
    assert found.tracked[0].values == [100] * 5
    assert found.is_steady
    assert found.precondition is None
    *minutes, last = drive.points
    assert len(minutes) == 4 * 31 + 1
    assert [point.round for point in minutes if point.round] == [1, 2, 3, 4, 5]
    assert {point.length_ns for point in minutes} == {MINUTE_NS}
    assert minutes[0].load == procedures.Load(4 * KIB, 0.0, 2, 16)
    assert last.phase == "histogram"
    assert last.length_ns == 20 * MINUTE_NS


def test_write_saturation_ends_after_four_capacities_or_six_hours():
    falling = lambda at: 1000 / (at + 1)  # noqa: E731
    drive, found = saturated(SPECIFIED, falling, writes=0.125)
    assert not found.is_steady
    assert len(drive.points) - 1 == 32
    drive, found = saturated(SPECIFIED, falling, writes=0.001)
    assert not found.is_steady
    assert len(drive.points) - 1 == 6 * 60


def test_the_rounds_of_a_shortened_form_begin_after_two_capacities():
    drive, found = saturated(SHORT, lambda at: 100, writes=0.25)
    assert [point.round for point in drive.points[:-1]] == [0] * 8 + [1, 2, 3, 4, 5]
    assert found.is_steady


def test_host_idle_recovery_has_five_waits_with_a_baseline_after_each():
    drive = Scripted(SPECIFIED, lambda at: 100)
    [found] = procedures.idle_recovery(lambda name: drive, procedures.Outstanding(1, 32))
    assert found.is_steady
    phases = [point.phase for point in drive.points]
    assert phases[:5] == ["writes"] * 5
    assert phases[5:366] == ["wait 5 s"] * 360 + ["after wait 5 s"]
    assert {point.length_ns for point in drive.points[:5]} == {30 * MINUTE_NS}
    assert drive.points[5].length_ns == 5 * SECOND_NS
    assert drive.points[365].length_ns == 30 * MINUTE_NS
    assert drive.waits == [wait * SECOND_NS for wait in (5, 10, 15, 25, 50) for _ in range(360)]
