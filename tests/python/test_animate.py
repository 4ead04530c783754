"""Animations: the recording against the run, wrong inputs, and the page in headless Chromium."""

import time

import pytest

import film
import flashgc as package
from conftest import BROWSER, SMALL, interrupted
from test_timeline import Slices

FEW = {"workload.synthetic.requests": 600}
SUSPENDS = {"device.suspend.suspend": "20 us"}
VARIANTS = {
    "greedy": {},
    "fpgc": {"gc.scheme": "fpgc", **SUSPENDS},
    "idle-pgc": {"gc.scheme": "idle-pgc"},
    "tokens": {"gc.scheme": "tokens"},
    "buffer": {"device.write_buffer.size": "128 KiB"},
    "superblocks": {"device.superblock": "chip", "gc.copy.use": "bus"},
    "trims": {"workload.synthetic.trim_share": 0.2},
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_recording_agrees_with_the_run(variant):
    sets = {**FEW, **VARIANTS[variant]}
    run = package.run(SMALL, set=sets)
    found = package.animate(SMALL, window="0 s..", set=sets)
    assert found.report.result_hash == found.to_dict()["result_hash"] == run.result_hash
    head, pictures = film.of_page(found.page())
    assert len(pictures) == found.pictures
    assert found.requests == sum(run.requests.to_dict().values()) == 600
    assert found.copies == run.pages.gc_moved + run.pages.background_moved
    assert found.erases == run.erases
    first, last = pictures[0], pictures[-1]
    assert [last.done[at] - first.done[at] for at in range(4)] == [
        found.requests, found.programs, found.copies, found.erases
    ]  # fmt: skip
    assert (first.now_ns, last.now_ns) == (found.from_ns, found.to_ns)
    if variant != "trims":
        # Each page of the host has one valid copy, in the write buffer or not.
        assert {sum(valid for _, valid, _ in one.blocks) for one in pictures} == {
            run.capacity.exported_pages
        }
    for one in pictures:
        for state, valid, written in one.blocks:
            assert 0 <= valid <= written <= head["pages_per_block"]
            assert state or not written


@pytest.mark.parametrize("variant", ["greedy", "fpgc", "tokens"])
def test_every_operation_of_the_timeline_is_in_a_picture(tmp_path, variant):
    sets = {**FEW, **VARIANTS[variant]}
    window = "20 ms..60 ms"
    file = tmp_path / "run.pftrace"
    package.run(SMALL, set=sets, timeline=file, timeline_window=window)
    found = package.animate(SMALL, window=window, set=sets)
    _, pictures = film.of_page(found.page())
    begun = {(number, unit.since_ns, unit.work) for one in pictures
             for number, unit in enumerate(one.units)}  # fmt: skip
    works = {"read": {"read"}, "program": {"write"}, "copy": {"copy"}, "erase": {"erase"}}
    seen = 0
    for track, slices in Slices(file).slices.items():
        name, _, number = track.partition(" ")
        if name != "unit" or not number.isdigit():
            continue
        for operation, category, from_ns, to_ns, _, _ in slices:
            if from_ns < found.from_ns or from_ns > found.to_ns or from_ns == to_ns:
                continue
            shown = {work for unit, since_ns, work in begun
                     if (unit, since_ns) == (int(number), from_ns)}  # fmt: skip
            assert shown, (track, operation, from_ns)
            expected = works.get(operation)
            assert expected is None or category == "gc" or shown & expected, (operation, shown)
            seen += 1
    assert seen > 50


def test_a_part_is_the_same_part_of_the_whole():
    whole = package.animate(SMALL, window="0 s..", set=FEW)
    part = package.animate(SMALL, window="20 ms..60 ms", units="1", set=FEW)
    assert (part.from_ns, part.report.result_hash) == (20_000_000, whole.report.result_hash)
    assert part.to_ns <= 60_000_000
    head, pictures = film.of_page(part.page())
    assert [unit["number"] for unit in head["units"]] == [1]
    count = len(head["planes"]) * head["blocks_per_plane"]
    inside = [one for one in film.of_page(whole.page())[1]
              if 20_000_000 <= one.now_ns <= 60_000_000]  # fmt: skip
    at = 0
    for one in pictures[1:]:
        own = (one.now_ns, one.done, one.blocks, one.units[0].queue, one.units[0].work)
        while at < len(inside) and own != (
            inside[at].now_ns, inside[at].done, inside[at].blocks[count:],
            inside[at].units[1].queue, inside[at].units[1].work,
        ):  # fmt: skip
            at += 1
        assert at < len(inside), one.now_ns


def test_requests_end_the_recording():
    found = package.animate(SMALL, requests=50, set=FEW)
    assert found.requests == 50
    later = package.animate(SMALL, requests=50, window="20 ms..", set=FEW)
    assert (later.requests, later.from_ns) == (50, 20_000_000)
    assert package.animate(SMALL, set={"workload.synthetic.requests": 1500}).requests == 1000
    assert package.animate(SMALL, requests=10**30, set=FEW).requests == 600
    assert str(later) == f"Animation({later.pictures} pictures of 50 requests)"
    assert str(package.animate(SMALL, requests=1, set=FEW)).endswith(" pictures of 1 request)")


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (["--requests", "0"], "'--requests': must be a whole number from 1, got 0"),
        (["--window", "1 s..1 s"], "the window `1 s..1 s`: it must end after its beginning"),
        (["--window", "1 s"], "`..` between two times is missing"),
        (["--window", "99 s.."], "error: the window begins at 99000 ms, and the run ends at"),
        (
            ["--window", "20 ms..20000001 ns"],
            "nothing happens from 20 ms to 20.000001 ms: the next",
        ),
        (["--units", "7"], "the animation cannot show unit 7: the device has units 0 to 1"),
        (["--units", "0-x"], "the animation units `0-x`: `0-x` is not a number"),
        (["--set", "device.blocks_per_plane=16384"], "has 65536 blocks, and at most 32768 can"),
        (["--set", 'engine.timing="none"'], "the run has no clock"),
        (["--out", "folder"], "folder is a directory, not a file"),
        (["--out", "page"], "its name must end in .html"),
        (["--out", "no/page.html"], "no/page.html: there is no folder no"),
        (["--out", "full.html"], "the page cannot be written"),
        (["--trace", "none.csv"], "none.csv"),
    ],
)
def test_wrong_inputs_are_named(flashgc, small, tmp_path, args, why):
    (tmp_path / "folder").mkdir()
    (tmp_path / "full.html").symlink_to("/dev/full")
    before = sorted(path.name for path in tmp_path.iterdir())
    out = [] if "--out" in args else ["--out", "page.html"]
    done = flashgc("animate", small, *args, *out, code=2, env={"COLUMNS": "300"})
    assert why in done.err
    assert "Traceback" not in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_too_many_blocks_are_told_with_a_way_out(flashgc, small):
    many = ["--set", "device.blocks_per_plane=16384", "--out", "page.html"]
    told = flashgc("animate", small, *many, code=2).err
    assert "`--units 0`" in told
    assert "--set device.blocks_per_plane=64" in told
    assert flashgc("animate", small, *many[2:], "--set", "device.blocks_per_plane=64").code == 0


def test_a_recording_beyond_a_page_is_refused(flashgc, small):
    more = ["--set", "workload.synthetic.requests=200000", "--requests", "200000"]
    told = flashgc("animate", small, *more, "--out", "page.html", code=2).err
    assert "the recording is longer than a page can hold (1.4 MB)" in told
    assert "record fewer requests (`--requests " in told


def test_ctrl_c_leaves_nothing(tmp_path):
    def has_begun():
        is_open = any(tmp_path.glob(".page.html.*.part"))
        # The file is opened before the run: by then the run is under way.
        time.sleep(0.5 if is_open else 0)
        return is_open

    words = ["animate", "endless.toml", "--requests", "5", "--out", "page.html"]
    interrupted(tmp_path, words, has_begun)


def test_the_command_says_what_it_has_saved(flashgc, small, tmp_path):
    done = flashgc("animate", small, "--requests", "50", "--out", "page.html", "--json")
    found = package.animate(small, requests=50)
    assert done.json == found.to_dict()
    text = (tmp_path / "page.html").read_text()
    assert "flashgc animate" in text
    assert done.json["result_hash"] in text
    shown = flashgc("animate", small, "--requests", "50", "--out", "page.html")
    assert "saved page.html" in shown.out + shown.err
    assert "50 requests done" in shown.out


SMALL_SLC = {"device.blocks_per_plane": 64, "workload.synthetic.requests": 20_000}
PAGES = {
    "oltp": lambda _trace: package.animate("oltp", set=SMALL_SLC),
    "preemptive": lambda _trace: package.animate(
        "oltp", scheme="fpgc", set={**SMALL_SLC, **SUSPENDS}, window="1 s..1.1 s"),
    "trace": lambda trace: package.animate("replay", trace, requests=1500),
}  # fmt: skip


@pytest.fixture(scope="module", params=PAGES)
def saved(request, tmp_path_factory):
    """An animation, and its page."""
    folder = tmp_path_factory.mktemp("film")
    trace = folder / "requests.load"
    package.trace.generate("oltp", trace, set=SMALL_SLC | {"workload.synthetic.requests": 2000})
    found = PAGES[request.param](trace)
    return found, found.save(folder / "page.html")


def test_a_page_is_small_and_names_no_other_place(saved):
    found, path = saved
    assert path.stat().st_size < 2_000_000
    text = path.read_text()
    assert "http://" not in text
    assert "https://" not in text
    assert found.report.result_hash in text


class Opened:
    """The page, with its errors and its requests."""

    def __init__(self, browser, path, width):
        self.wrong, self.asked, self.url = [], [], f"file://{path}"
        self.tab = browser.new_page(viewport={"width": width, "height": 900})
        self.tab.on("console", lambda said: self.wrong.append(said.text))
        self.tab.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.tab.on("request", lambda asked: self.asked.append(asked.url))
        self.tab.goto(self.url)
        self.until("window.animation")

    def until(self, condition):
        for _ in range(1500):
            if self.tab.evaluate(f"Boolean({condition})"):
                return
            self.tab.wait_for_timeout(20)
        raise AssertionError((condition, self.wrong))

    def number(self):
        return self.tab.evaluate("animation.film.number")

    def clean(self):
        assert self.wrong == []
        assert set(self.asked) == {self.url}
        self.tab.close()


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium")
@pytest.mark.parametrize("width", [1400, 400])
def test_the_page_plays(browser, saved, width):
    found, path = saved
    opened = Opened(browser, path, width)
    tab = opened.tab
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    last = found.pictures - 1
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("ArrowLeft")
    assert opened.number() == 1
    tab.get_by_role("button", name="Step").click()
    assert opened.number() == 2
    assert tab.inner_text(".happened")
    tab.get_by_role("button", name="Back").click()
    assert opened.number() == 1
    assert tab.evaluate("document.activeElement.className") == "back"
    tab.keyboard.press("End")
    assert opened.number() == last
    assert tab.evaluate("animation.film.counts()") == [
        found.requests, found.programs, found.copies, found.erases
    ]  # fmt: skip
    tab.keyboard.press("Home")
    tab.keyboard.press("Space")
    opened.until("animation.film.number > 3")
    tab.keyboard.press("Space")
    assert not tab.evaluate("animation.is_playing")
    tab.locator(".speed").select_option("pace 16")
    before = opened.number()
    tab.get_by_role("button", name="Play").click()
    opened.until(f"animation.film.number > {before + 3}")
    tab.get_by_role("button", name="Pause").click()
    tab.locator(".time").fill("5000")
    assert 0 < opened.number() < last
    told = tab.inner_text(".happened")
    tab.keyboard.press("ArrowLeft")
    tab.keyboard.press("ArrowRight")
    assert tab.inner_text(".happened") == told
    unit = {"number": 4, "work": "idle", "place": "rest", "queue": [], "collection": None}
    more = tab.evaluate("newsWords", [[unit, unit | {"queue": [[True, 1]]}]])
    assert more == "One more page operation waits at unit 4."
    label = tab.locator("canvas").get_attribute("aria-label")
    assert "read for the host" in label
    opened.clean()


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium")
def test_the_page_shows_the_pictures_of_the_recording(browser, saved):
    found, path = saved
    _, pictures = film.of_page(path.read_text())
    opened = Opened(browser, path, 1400)
    for at in (0, 1, len(pictures) // 3, len(pictures) // 3 - 5, len(pictures) - 1, 7, 8):
        shown = opened.tab.evaluate(
            """(at) => {
              const { now_ns, blocks, units } = animation.film.go(at);
              return [now_ns, blocks, units.map((one) => [one.work, one.place, one.queue,
                one.serves_ns, one.collection && one.collection.left])];
            }""",
            at,
        )
        one = pictures[at]
        assert shown == [one.now_ns, [list(block) for block in one.blocks], [
            [unit.work, unit.place, [list(waits) for waits in unit.queue], unit.serves_ns,
             unit.collection and unit.collection["left"]] for unit in one.units
        ]]  # fmt: skip
    assert found.pictures == len(pictures)
    opened.clean()


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium")
def test_everything_is_in_reach_of_the_keyboard(browser, saved):
    opened = Opened(browser, saved[1], 1400)
    reached = set()
    for _ in range(30):
        opened.tab.keyboard.press("Tab")
        reached.add(opened.tab.evaluate("document.activeElement.className"))
    assert {"play", "back", "step", "again", "speed", "time"} <= reached
    names = opened.tab.evaluate(
        "[...document.querySelectorAll('select, input')]"
        ".map((one) => one.getAttribute('aria-label') || one.labels[0].textContent)"
    )
    assert all(names)
    opened.clean()


def test_one_request_is_counted_in_the_singular(flashgc, tmp_path):
    small = ["--set", "device.blocks_per_plane=64", "--requests", "1", "--out", "page.html"]
    assert ": 1 request done, " in flashgc("animate", "oltp", *small, env={"COLUMNS": "300"}).out


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium")
def test_the_page_plays_in_a_notebook(browser, saved):
    tab = browser.new_page()
    wrong = []
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.on("console", lambda said: wrong.append(said.text))
    tab.set_content(f"<html><body>{saved[0]._repr_html_()}</body></html>")
    inside = tab.frame_locator("iframe")
    inside.get_by_role("button", name="Step").click()
    assert inside.locator(".happened").inner_text()
    assert wrong == []
    tab.close()
