"""The start, the end, the pauses and the rates of a job of fio."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flashgc.conversion import fio_keys
from flashgc.conversion import fio_values as values
from flashgc.conversion.findings import Key
from flashgc.conversion.fio_job import KINDS, Job
from flashgc.conversion.fio_values import WrongError
from flashgc.conversion.values import duration, plain

RATES_MAX = 10**9


class Flow(Job):
    """Times, depth and rates."""

    def _times(self) -> None:
        self.take("runtime", self._runtime)
        self.take("time_based", self._time_based)
        self.take("startdelay", self._delay)
        self.take("stonewall", self._stonewall)
        self.take("ramp_time", self._ramp)
        self.take("flow", self._flow)
        self.take("flow_id", self._flow_id)
        self.take("thinktime", self._think)
        key = self.options.get("thinktime_blocks")
        if key is not None and "think" not in self.job:
            self.drop(key, "ignored: there is no `thinktime`")
        else:
            self.take("thinktime_blocks", lambda key: self.set(
                key, "think_after", values.integer(key.text, 1, 10**9)))  # fmt: skip

    def _think(self, key: Key) -> None:
        # Of a range, fio takes the first number.
        text = re.split("[-:]", key.text, maxsplit=1)[0]
        ns = values.time_ns(text, "us")
        if ns:
            self.set(key, "think", duration(ns))
        else:
            self.drop(key, "ignored: 0 stands for no pause")

    def _restarts(self, key: Key) -> None:
        is_on = values.flag(key.text)
        rates = {name for name in self.job if name.endswith(("_iops", "_rate"))}
        if not rates or "think" not in self.job:
            self.drop(key, "ignored: the job does not have a rate and a `thinktime`")
        elif "overtake" in self.job:
            self.drop(key, "ignored: fio catches up in a job of reads and writes all the same")
        else:
            self.set(key, "think_restarts_rate", is_on)

    def _runtime(self, key: Key) -> None:
        ns = values.time_ns(key.text)
        if ns == 0:
            self.drop(key, "ignored: 0 stands for no limit")
            return
        self.set(key, "runtime", duration(ns))

    def _ramp(self, key: Key) -> None:
        ns = values.time_ns(key.text)
        if ns:
            self.set(key, "ramp", duration(ns))
        else:
            self.drop(key, "ignored: 0 stands for no ramp")

    def _flow(self, key: Key) -> None:
        weight = values.integer(key.text, 0, 1000)
        if weight:
            self.set(key, "flow", weight)
        else:
            self.drop(key, "ignored: 0 stands for no flow")

    def _flow_id(self, key: Key) -> None:
        number = values.integer(key.text, 0, 2**32 - 1)
        if "flow" in self.job:
            self.set(key, "flow_id", number)
        else:
            self.drop(key, "ignored: there is no `flow`")

    def _time_based(self, key: Key) -> None:
        is_on = values.flag(key.text)
        if is_on and "runtime" not in self.job:
            # fio 3.33: "time_based requires a runtime/timeout setting", and the job runs on.
            self.drop(key, "ignored: as in fio, it needs a `runtime` above 0")
        else:
            self.set(key, "time_based", is_on)

    def _delay(self, key: Key) -> None:
        low, dash, high = key.text.replace(":", "-").partition("-")
        if not dash:
            self.set(key, "start", duration(values.time_ns(low)))
            return
        mean = (values.time_ns(low) + values.time_ns(high)) // 2
        self.set(key, "start", duration(mean), "the mean of the range, for every clone")

    def _stonewall(self, key: Key) -> None:
        self.set(key, "after_others", values.flag(key.text))

    def _depth(self) -> None:
        engine = self.options.get("ioengine")
        name = "psync" if engine is None else engine.text.partition(":")[0]
        if name in fio_keys.WITHOUT_REQUESTS and engine is not None:
            self.wrong(engine, "this engine sends no request to a drive")
        is_synchronous = name in fio_keys.SYNCHRONOUS

        def read(key: Key) -> None:
            depth = values.integer(key.text, 1, 1_000_000)
            if is_synchronous and depth > 1:
                named = f"ioengine={name}" if engine else f"{name}, fio's default engine,"
                how = f"{named} is synchronous, and has one request in flight; give ioengine=libaio"
                self.set(key, "depth", 1, how)
                return
            self.set(key, "depth", depth)

        self.take("iodepth", read)
        if engine is not None:
            self.drop(engine, "ignored: requests go to the simulated drive; only synchronous "
                               "engines bound the depth")  # fmt: skip
        for direct in ("direct", "buffered"):
            key = self.options.get(direct)
            if key is None:
                continue
            if (key.text in {"", "1"}) == (direct == "direct"):
                self.said(key, "", "always: requests go to the drive")
            else:
                self.said(key, "", "", "there is no page cache: requests go to the drive, as with "
                                        "direct=1")  # fmt: skip

    def _rates(self, kinds: tuple[int, ...]) -> None:
        def iops(text: str) -> int:
            return values.integer(text, 1, RATES_MAX)

        def rate(text: str) -> int:
            found = values.whole(text, self.kb_base)
            if not 1000 <= found <= 10**12:
                raise WrongError("it must be from 1000 to 10^12 bytes per second")
            return found

        def read(ours: str, one: Callable[[str], int], shown: Callable[[int], object]) -> Any:  # noqa: ANN401
            def of(key: Key) -> None:
                found = values.triple(key.text, _or_none(one), None)
                given = [kind for kind in kinds if found[kind] is not None]
                if not given:
                    self.drop(key, "ignored: it limits no kind of request of this job")
                    return
                for kind in given:
                    name, value = f"{KINDS[kind]}_{ours}", shown(found[kind] or 0)
                    least = self.kinds_smallest[kind]
                    if ours == "iops" and least and not self._is_poisson():
                        # Of several sizes fio takes the smallest for the rate in bytes.
                        rate = max(1000, (found[kind] or 0) * least)
                        name, value = f"{KINDS[kind]}_rate", f"{plain_rate(rate)} MB/s"
                    self.job[name] = value
                    if kind == given[0]:
                        self.said(key, name, value)

            return of

        self.take("rate_iops", read("iops", iops, int))
        self.take("rate", read("rate", rate, lambda bytes_per_s: f"{plain_rate(bytes_per_s)} MB/s"))
        self.take("rate_process", self._process)
        if kinds == (0, 1) and {"rate_iops", "rate"} & self.options.keys():
            self.job["overtake"] = True
        self.take("rate_ignore_thinktime", self._restarts)

    def _is_poisson(self) -> bool:
        key = self.options.get("rate_process")
        return key is not None and key.text == "poisson"

    def _process(self, key: Key) -> None:
        if key.text not in {"linear", "poisson"}:
            raise WrongError("it must be linear or poisson")
        if key.text == "poisson" and not any(name.endswith("_iops") for name in self.job):
            raise WrongError(
                "poisson is modelled for `rate_iops` only; give that in place of `rate`"
            )
        self.set(key, "poisson", key.text == "poisson")


def plain_rate(bytes_per_s: int) -> str:
    """Bytes per second in MB/s.

    >>> from flashgc.conversion.fio_flow import plain_rate
    >>> plain_rate(1 << 20)
    '1.048576'
    """
    return plain(Fraction(bytes_per_s, 10**6))


def _or_none(one: Callable[[str], int]) -> Callable[[str], int | None]:
    return lambda text: None if text.strip() == "0" else one(text)
