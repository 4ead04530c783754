"""Sizes and addresses of a job of fio."""

from __future__ import annotations

from collections.abc import Callable

from flashgc.conversion import fio_places
from flashgc.conversion import fio_values as values
from flashgc.conversion.findings import Key
from flashgc.conversion.fio_job import KINDS, Job
from flashgc.conversion.fio_values import WrongError
from flashgc.conversion.values import size as shown_size

SIZES_MAX = 4096
"""The most sizes of a range."""
SPLIT_MAX = 64
"""The most entries of `bssplit`."""


class Requests(Job):
    """Sizes and addresses."""

    def _sizes(self, kinds: tuple[int, ...]) -> None:
        """The sizes of each kind with their weights; of several options the most exact counts."""
        one: list[dict[int, float]] = [{values.DEFAULT_BS: 1.0}] * 3
        default = one[0]
        readers: dict[str, Callable[[str], dict[int, float]]] = {
            "bs": lambda text: {values.size(text, self.kb_base): 1.0},
            "bsrange": self._range, "bssplit": self._split,
        }  # fmt: skip
        given = [name for name in readers if name in self.options]
        for name in given:
            key = self.options[name]
            try:
                found = values.triple(key.text, readers[name], default)
            except WrongError as why:
                self.wrong(key, str(why))
                continue
            if name != given[-1]:
                self.drop(key, f"ignored: `{given[-1]}` is more exact")
                continue
            one = list(found)
            self.said(key, f"{KINDS[kinds[0]]}_size", _written(one[kinds[0]]))
        self.kinds_smallest = [min(sizes) if len(sizes) > 1 else None for sizes in one]
        self.smallest = min(count for sizes in one for count in sizes)
        for kind in kinds:
            self.job[f"{KINDS[kind]}_size"] = _written(one[kind])

    def _range(self, text: str) -> dict[int, float]:
        low, dash, high = text.replace(":", "-").partition("-")
        if not dash:
            return {values.size(low, self.kb_base): 1.0}
        ends = sorted((values.size(low, self.kb_base), values.size(high, self.kb_base)))
        count = ends[1] // ends[0]
        if count > SIZES_MAX:
            raise WrongError(f"its largest size must be at most {SIZES_MAX} times its smallest")
        return dict.fromkeys(range(ends[0], ends[1] + 1, ends[0]), 1.0)

    def _split(self, text: str) -> dict[int, float]:
        pairs = values.entries(text, SPLIT_MAX)
        percents = [values.whole_percent(share) for _, share in pairs]
        if (total := sum(percents)) > 100:
            raise WrongError(f"its percentages must add up to 100, not {total}; one that is left "
                             "blank is the rest, as in 4k/60:8k/")  # fmt: skip
        percents = values.filled(percents)
        # The rest belongs to the largest, of equal ones to the last.
        largest = max(range(len(pairs)), key=lambda at: (percents[at], at))
        percents[largest] += 100 - sum(percents)
        given = [(values.size(name, self.kb_base), share / 100)
                 for (name, _), share in zip(pairs, percents, strict=True)]  # fmt: skip
        # Sizes and places are multiples of the smallest one, also of one that has no share.
        least = min(count for count, _ in given)
        found: dict[int, float] = {}
        for whole, share in given:
            if share or whole == least:
                count = whole // least * least
                found[count] = found.get(count, 0.0) + share
        return found

    def _addresses(self, kinds: tuple[int, ...], is_random: bool) -> None:
        names = ("random_distribution", "percentage_random", "ba", "norandommap")
        if not is_random:
            for name in names:
                if name in self.options:
                    self.drop(self.options[name], "ignored: the job is sequential")
            self.job["random_share"] = 0.0
            return
        uniform = self._distribution(kinds)
        self._random_shares(kinds)
        self.take("ba", lambda key: self.set(key, "align", shown_size(
            values.size(key.text.partition(",")[0], self.kb_base))))  # fmt: skip
        without = False
        key = self.options.get("norandommap")
        if key is not None:
            without = values.flag(key.text) if key.text in {"", "0", "1"} else True
        # Any use of `ba` turns off the random map.
        if uniform and not without and "ba" not in self.options:
            self.job["once"] = True
        if key is not None:
            self.said(key, "once", self.job.get("once", False))

    def _distribution(self, kinds: tuple[int, ...]) -> bool:
        """Whether all addresses are uniform."""
        uniform = True

        def read(key: Key) -> None:
            nonlocal uniform
            found, differs = fio_places.read(key.text, self.kb_base)
            for kind in kinds:
                uniform &= found[kind] == "uniform"
                if found[kind] != "uniform":
                    self.job[f"{KINDS[kind]}_address"] = found[kind]
            name = f"{KINDS[kinds[0]]}_address"
            self.said(key, name, found[kinds[0]], "; ".join(differs))

        self.take("random_distribution", read)
        return uniform

    def _random_shares(self, kinds: tuple[int, ...]) -> None:
        def read(key: Key) -> None:
            found = values.triple(
                key.text,
                lambda text: float(values.number(text.removesuffix("%"), 0, 100) / 100),
                1.0,
            )
            for kind in kinds:
                self.job[f"{KINDS[kind]}_random_share"] = found[kind]
            self.said(key, f"{KINDS[kinds[0]]}_random_share", found[kinds[0]])

        self.take("percentage_random", read)


def _written(sizes: dict[int, float]) -> object:
    """Sizes as [workload] has them."""
    if len(sizes) == 1:
        return shown_size(next(iter(sizes)))
    return {shown_size(count): weight for count, weight in sizes.items()}
