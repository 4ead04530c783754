"""The page of a run in headless Chromium: tooltips, zoom, and the absence of requests."""

import re
import time

import pytest

import flashgc
import pages
from conftest import BROWSER, LONG, SMALL

pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no Chromium")
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """A comparison, and its folder."""
    found = flashgc.compare(SMALL, ["greedy", "fifo", "pgc"], blame=True, over_time=True)
    folder = tmp_path_factory.mktemp("both")
    found.save_folder(folder)
    return found, folder


class Opened:
    """A page, with its errors and its requests."""

    def __init__(self, browser, file, **how):
        self.wrong, self.asked = [], []
        self.tab = browser.new_page(**({"viewport": {"width": 1400, "height": 1000}} | how))
        self.tab.on("console", lambda said: self.wrong.append(said.text))
        self.tab.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.tab.on("request", lambda asked: self.asked.append(asked.url))
        began_s = time.monotonic()
        self.tab.goto(f"file://{file}")
        figures = self.tab.locator("figure.chart")
        if figures.count():  # tables come first, and charts are drawn as they come into view
            figures.first.scroll_into_view_if_needed()
        self.until("Object.keys(window.flashgcCharts).length > 0")
        self.took_s = time.monotonic() - began_s
        self.url = f"file://{file}"

    def until(self, condition):
        """Waits; the page itself allows no script that is made from text."""
        began_s = time.monotonic()
        while not self.tab.evaluate(condition):
            assert time.monotonic() - began_s < 30, condition
            self.tab.wait_for_timeout(20)

    def chart(self, name):
        """The place of a chart that is drawn and in view."""
        figure = self.tab.locator(f"#chart-{name}")
        figure.scroll_into_view_if_needed()
        self.until(f"'{name}' in window.flashgcCharts")
        place = None
        while place != (place := figure.bounding_box()):  # others may be drawn above it
            self.tab.wait_for_timeout(100)
        return figure

    def hover(self, name, x, y):
        """The tooltip at shares of the plot, as a dictionary."""
        plot = self.chart(name).locator("svg.marks path.background").first
        tip = self.tab.locator("#vg-tooltip-element.visible")
        for _ in range(50):
            # A person moves on where nothing appears, as while charts above are still drawn.
            box = plot.bounding_box()
            at = box["x"] + x * box["width"], box["y"] + y * box["height"]
            self.tab.mouse.move(at[0] - 3, at[1] - 3)
            self.tab.mouse.move(*at, steps=3)
            self.tab.wait_for_timeout(200)
            if tip.is_visible() and plot.bounding_box() == box:
                break
            plot.scroll_into_view_if_needed()
        rows = tip.locator("tr").all()
        return {row.locator("td.key").inner_text().rstrip(":"): row.locator("td.value").inner_text()
                for row in rows}  # fmt: skip

    def domain(self, name, scale):
        """The ends of an axis."""
        return self.tab.evaluate(f"window.flashgcCharts['{name}'].scale('{scale}').domain()")

    def check(self):
        """The page had no error, and requested nothing but itself."""
        assert self.wrong == []
        assert {url for url in self.asked if not url.startswith(("data:", "blob:"))} == {self.url}

    def clean(self):
        """Checks the page, and closes it."""
        self.check()
        self.tab.close()


@pytest.fixture(scope="module")
def open_page(browser, both):
    """The page of the comparison, for the tests that change nothing in it."""
    return Opened(browser, both[1] / "report.html")


@pytest.fixture
def page(open_page):
    yield open_page
    open_page.check()


def ns(text):
    number, unit = text.split()
    return float(number.replace(",", "")) * UNITS[unit]


def test_every_chart_is_drawn_and_nothing_is_loaded(page, both):
    reports, folder = both
    for name in pages.charts((folder / "report.html").read_text()):
        figure = page.chart(name)
        assert figure.locator("svg.marks path, svg.marks rect").count() > 3
        assert figure.locator(".plot").get_attribute("aria-label")
    assert len(reports.charts()) == page.tab.evaluate("Object.keys(flashgcCharts).length")


def test_the_tooltip_of_a_curve_is_a_point_of_the_distribution(page, both):
    reports, _ = both
    for x, y in ((0.3, 0.8), (0.7, 0.4), (0.95, 0.02)):
        shown = page.hover("latency-writes", x, y)
        spread = reports[shown["run"]].distribution("write")
        share = float(shown["percentile"].rstrip(" %")) / 100
        at = (spread["latency_ns"] <= ns(shown["at most"]) * 1.001).nonzero()[0][-1]
        assert spread["latency_ns"][at] == pytest.approx(ns(shown["at most"]), rel=1e-3)
        last = 1 - 0.5 / spread["count"].sum()
        assert share == pytest.approx(min(spread["share"][at], last), rel=1e-6)


def test_bars_are_the_parts_of_a_percentile(page, both):
    reports, _ = both
    figure = page.chart("percentiles-reads")
    for shown, key in (("p99.9", "p99_9"), ("mean", "mean"), ("p99", "p99")):
        figure.locator(f"input[value='{shown}']").check()
        # The first run has the highest bar: its first part begins at the left.
        tip = page.hover("percentiles-reads", 0.004, 1 / 6)
        assert tip["percentile"] == shown
        split = reports[tip["run"]].blame.read[key]
        part = {"service": "service", "other requests": "host"}[tip["part"]]
        assert ns(tip["time"]) == pytest.approx(split[f"{part}_ns"], rel=1e-3)


def test_a_part_of_the_run_shows_its_responses(page, both):
    reports, _ = both
    tip = page.hover("responses-2", 0.5, 0.5)
    found = reports["fifo"].over_time.responses
    half_ns = reports["fifo"].over_time.states["end_ns"].max() / 2
    last_ns = max(float(one.over_time.states["end_ns"][-1]) for one in reports)
    (at,) = ((found["start_ns"] <= last_ns / 2) & (last_ns / 2 < found["end_ns"])).nonzero()[0]
    assert half_ns <= last_ns
    for kind in ("read", "write"):
        longest = found[f"latency_{kind}_max_ns"][at]
        assert ns(tip[f"{kind}s, longest"]) == pytest.approx(longest, rel=1e-3)
    assert (
        int(tip["collections"])
        == reports["fifo"].over_time.states["gc_count"][
            list(reports["fifo"].over_time.states["start_ns"]).index(found["start_ns"][at])
        ]
    )


def test_charts_of_time_zoom_together_and_back(page):
    for name in ("free-blocks", "responses-1", "used-space"):
        page.chart(name)
    before = page.domain("used-space", "x")
    plot = page.chart("used-space").locator("svg.marks path.background").first.bounding_box()
    middle = plot["x"] + plot["width"] / 2, plot["y"] + plot["height"] / 2
    page.tab.mouse.move(*middle)
    page.tab.mouse.wheel(0, 300)
    assert page.domain("used-space", "x") == before  # the wheel alone scrolls the page
    plot = page.chart("used-space").locator("svg.marks path.background").first.bounding_box()
    page.tab.mouse.move(plot["x"] + plot["width"] / 2, plot["y"] + plot["height"] / 2)
    page.tab.keyboard.down("Control")
    page.tab.mouse.wheel(0, -500)
    page.tab.keyboard.up("Control")
    page.until(f"flashgcCharts['used-space'].scale('x').domain()[1] < {before[1] * 0.9}")
    zoomed = page.domain("used-space", "x")
    assert zoomed[0] > before[0]
    for name in ("free-blocks", "responses-1"):
        page.until(f"flashgcCharts['{name}'].scale('x').domain()[0] === {zoomed[0]}")
    page.chart("used-space").get_by_role("button", name="reset zoom").click()
    for name in ("used-space", "free-blocks", "responses-1"):
        page.until(f"flashgcCharts['{name}'].scale('x').domain()[1] === {before[1]}")


def test_the_legend_hides_a_run_in_every_chart(browser, both):
    _, folder = both
    opened = Opened(browser, folder / "report.html")
    curves = "#chart-latency-reads svg.marks g.mark-line path"
    opened.chart("latency-reads")
    shown = opened.tab.locator(curves).count()
    assert shown == 3
    button = opened.tab.get_by_role("button", name="fifo", exact=True)
    button.click()
    opened.until(f"document.querySelectorAll('{curves}').length === 2")
    assert opened.tab.locator("#chart-responses-2").is_hidden()
    assert opened.tab.locator("#chart-responses-1").is_visible()
    names = opened.tab.evaluate("flashgcCharts['latency-reads'].signal('shown')")
    assert names == ["greedy", "pgc"]
    button.dblclick()
    opened.until(f"document.querySelectorAll('{curves}').length === 1")
    assert opened.tab.locator("#chart-responses-1").is_hidden()
    # A chart that is drawn later has the same names.
    opened.chart("activity")
    assert opened.tab.evaluate("flashgcCharts['activity'].signal('shown')") == ["fifo"]
    opened.clean()


def test_data_is_saved_from_the_page(page, both, tmp_path):
    reports, _ = both
    figure = page.chart("moves")
    with page.tab.expect_download() as download:
        figure.get_by_role("button", name="csv").click()
    lines = (download.value.path()).read_text().splitlines()
    assert lines[0] == "run,number,to,fewest,mean,most"
    assert len(lines) == 1 + sum(one.over_time.collections.rows for one in reports)
    with page.tab.expect_download() as download:
        figure.get_by_role("button", name="svg").click()
    assert download.value.path().read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("width", "scheme"),
    [(400, "light"), (1400, "dark"), *([(400, "dark"), (1400, "light")] if LONG else [])],
)
def test_the_page_fits_its_window_in_light_and_in_dark(browser, both, width, scheme):
    _, folder = both
    opened = Opened(browser, folder / "report.html", color_scheme=scheme,
                    viewport={"width": width, "height": 900})  # fmt: skip
    for name in ("latency-reads", "responses-1", "wear-1"):
        opened.chart(name)
    wide = opened.tab.evaluate("document.documentElement.scrollWidth")
    assert wide <= width
    label = opened.tab.locator("#chart-latency-reads svg text").first
    colour = label.evaluate("node => getComputedStyle(node).fill")
    bright = sum(map(int, re.findall(r"\d+", colour)[:3])) > 3 * 128
    assert bright == (scheme == "dark")
    opened.clean()


@pytest.mark.skipif(not LONG, reason="in make long")
def test_two_million_requests_make_a_small_page(browser, tmp_path, capsys):
    more = {"workload.synthetic.requests": 2_000_000}
    report = flashgc.run("oltp", set=more, blame=True, over_time=True)
    page = report.save_folder(tmp_path)[0]
    assert report.latency_ns.all.count == 2_000_000
    assert page.stat().st_size < 5_000_000
    opened = Opened(browser, page)
    with capsys.disabled():
        print(
            f" {page.stat().st_size / 1e6:.2f} MB, first chart after {opened.took_s:.2f} s", end=""
        )
    opened.clean()


def test_the_tables_are_there_without_scripts(browser, both):
    _, folder = both
    tab = browser.new_page(java_script_enabled=False)
    tab.goto(f"file://{folder / 'report.html'}")
    assert "<noscript><p>The charts need JavaScript" in tab.content()
    assert tab.locator("table").count() > 4
    tab.close()


SWEEP = {
    "base": {"config": "oltp", "set": {"device.blocks_per_plane": 64,
                                       "workload.synthetic.requests": 2000}},
    "axes": {"scheme": ["greedy", "fifo"], "workload.synthetic.queue_depth": {"from": 1, "to": 3},
             "device.over_provisioning": ["10%", "20%"], "seed": [1, 2]},
}  # fmt: skip


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("swept")
    done = flashgc.sweep(SWEEP, store=folder / "store", jobs=2)
    done.save(folder / "sweep.html", "flashgc sweep mine.toml")
    return done.to_pandas(), folder / "sweep.html"


def drawn(opened):
    """The rows that the small multiples show."""
    opened.until("'sweep' in window.flashgcCharts")
    opened.tab.wait_for_timeout(400)  # a change of the table redraws after a while
    return opened.tab.evaluate(
        "flashgcCharts.sweep.data('rows').map(({x, series, column, row, mean, points}) =>"
        " ({x, series, column, row, mean, points}))"
    )


def listed(opened):
    """The cells of the table."""
    rows = opened.tab.locator(".points tbody tr").all()
    return [row.locator("td").all_inner_texts() for row in rows]


def test_small_multiples_are_the_means_of_points(browser, swept):
    frame, page = swept
    opened = Opened(browser, page)
    names = {"x": "workload.synthetic.queue_depth", "series": "scheme",
             "column": "device.over_provisioning"}  # fmt: skip
    for metric in ("write_amplification", "latency_ns.read.p99"):
        opened.tab.get_by_label("metric").select_option(metric)
        means = frame.groupby(list(names.values()))[metric].mean()
        found = drawn(opened)
        assert len(found) == len(means) == 12
        for row in found:
            assert row["points"] == 2
            at = tuple(row[place] for place in names)
            assert row["mean"] == pytest.approx(means[at], rel=1e-6)
    opened.tab.get_by_label("rows").select_option("scheme")
    assert opened.tab.get_by_label("lines").input_value() == ""
    assert {row["row"] for row in drawn(opened)} == {"greedy", "fifo"}
    # The title of each cell is that of the axis.
    assert "scheme" in opened.tab.locator(".explorer .plot").inner_text()
    opened.clean()


def test_the_table_of_a_sweep_sorts_and_filters_and_so_does_its_chart(browser, swept):
    frame, page = swept
    opened = Opened(browser, page)
    assert len(listed(opened)) == len(frame) == 24
    head = opened.tab.locator(".points th button[title=write_amplification]")
    head.click()
    at = list(SWEEP["axes"]).index("seed") + 2  # behind the status
    shown = [float(row[at]) for row in listed(opened)]
    assert shown == pytest.approx(sorted(frame["write_amplification"]), rel=1e-4)
    head.click()
    assert [float(row[at]) for row in listed(opened)] == shown[::-1]
    opened.tab.get_by_label("show scheme").select_option(label="fifo")
    middle = frame["write_amplification"].median()
    box = opened.tab.get_by_label("show write_amplification", exact=True)
    box.fill(f"< {middle:.4f}")
    kept = frame[(frame["scheme"] == "fifo") & (frame["write_amplification"] < round(middle, 4))]
    assert len(listed(opened)) == len(kept) > 0
    assert sum(row["points"] for row in drawn(opened)) == len(kept)
    box.fill("less")
    assert box.get_attribute("aria-invalid") == "true"
    box.fill("")
    read = opened.tab.get_by_label("show latency_ns.read.p99", exact=True)
    read.fill(">= 1 ms")
    high = frame[(frame["scheme"] == "fifo") & (frame["latency_ns.read.p99"] >= 1e6)]
    assert len(listed(opened)) == len(high)
    opened.clean()


def test_a_page_that_is_printed_at_once_has_all_its_charts(browser, both, tmp_path):
    reports, folder = both
    opened = Opened(browser, folder / "report.html")
    drawn = "Object.keys(flashgcCharts).length"
    assert opened.tab.evaluate(drawn) < len(reports.charts())  # most are below the window
    opened.tab.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    # No timer may be between: the printer does not wait for it.
    assert opened.tab.evaluate(drawn) == len(reports.charts())
    opened.tab.pdf(path=tmp_path / "page.pdf")
    opened.tab.emulate_media(media="print")
    opened.tab.set_viewport_size({"width": 700, "height": 1000})
    assert cut(opened) == []
    figures = opened.tab.evaluate(
        "[...document.querySelectorAll('.plot svg.marks')]"
        ".filter((one) => one.getBoundingClientRect().right > innerWidth).length"
    )
    assert figures == 0
    opened.clean()


def cut(opened):
    """Parts of the page whose content does not fit."""
    return opened.tab.evaluate(
        "[...document.querySelectorAll('.wide')].filter((one) => one.scrollWidth > one.clientWidth)"
        ".map((one) => one.textContent)"
    )


@pytest.mark.parametrize("schemes", [3, 12])
def test_tables_fit_at_1400_pixels_and_are_in_reach_of_the_keyboard(browser, tmp_path, schemes):
    names = ["greedy", "fifo", "random", "cost-benefit", "d-choices", "wear-aware", "idle",
             "greedy-msr", "pgc", "pgc-merge", "pgc-pipeline", "pgc-both"]  # fmt: skip
    few = {"workload.synthetic.requests": 2000}
    found = flashgc.compare(SMALL, names[:schemes], cost=True, blame=True, set=few)
    assert not found.refused
    found.save_folder(tmp_path)
    opened = Opened(browser, tmp_path / "report.html")
    titles = opened.tab.locator("h2").all_inner_texts()
    assert {"Work", "Price of collection"} <= {*titles}
    assert cut(opened) == []
    opened.tab.set_viewport_size({"width": 400, "height": 900})
    assert cut(opened) != []
    reached = set()
    for _ in range(60):
        opened.tab.keyboard.press("Tab")
        reached.add(opened.tab.evaluate(
            "document.activeElement.className === 'wide' &&"
            " document.activeElement.previousElementSibling?.textContent"
        ))  # fmt: skip
    assert {"Work", "Price of collection"} <= reached
    opened.clean()


def test_the_metrics_come_before_the_charts(page):
    top = "document.querySelector({!r}).getBoundingClientRect().top"
    page.tab.evaluate("window.scrollTo(0, 0)")
    tables = page.tab.locator("h2:has-text('Latency of reads')").bounding_box()["y"]
    assert tables < 1000 < page.tab.evaluate(top.format("figure.chart"))


def test_axes_of_planes_and_times_are_whole_and_in_the_units_of_the_tables(browser, tmp_path):
    found = flashgc.run(SMALL, set={"device.planes_per_die": 1, "device.channels": 1},
                        over_time=True)  # fmt: skip
    found.save_folder(tmp_path)
    opened = Opened(browser, tmp_path / "report.html")
    labels = opened.chart("wear").locator("g.role-axis-label text").all_text_contents()
    numbers = [label for label in labels if label]
    assert all(label.isdigit() for label in numbers), numbers
    # Blocks from 0, and of the only plane its number alone: no 0.5, and no plane 1.
    assert numbers.count("0") == 2
    assert numbers[numbers.index("0", 1) :] == ["0"]
    opened.chart("latency")
    drawn = " ".join(opened.tab.locator("svg.marks text").all_text_contents())
    assert " us" in drawn
    assert "µs" not in drawn
    opened.clean()


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """The page of a measurement by the test specification."""
    small = {"device.blocks_per_plane": 64, "device.pages_per_block": 8, "device.channels": 2,
             "device.chips_per_channel": 1}  # fmt: skip
    found = flashgc.pts("enterprise-tlc", tests=["tp", "lat"], set=small, round="20 ms")
    page, *_ = found.save(tmp_path_factory.mktemp("measured"))
    return page


@pytest.mark.parametrize("width", [1400, 400])
def test_the_report_of_pts_draws_its_charts_in_any_width(browser, measured, width):
    page = measured
    opened = Opened(browser, page, viewport={"width": width, "height": 900})
    for name in pages.charts(page.read_text()):
        figure = opened.chart(name)
        assert figure.locator("svg.marks path, svg.marks rect").count() > 3
    assert opened.tab.evaluate("document.documentElement.scrollWidth") <= width
    if width == 1400:
        assert cut(opened) == []
    opened.clean()


@pytest.mark.parametrize("more", [{}, {"objectives": ["write"], "constraints": ["read <= 1 us"]}])
def test_the_page_of_a_search_draws_its_chart_without_a_warning(browser, tmp_path, more):
    """The runtime warned of an order of sizes, of legends that contradict, and of empty lines."""
    pytest.importorskip("optuna", reason="Optuna is not installed: pip install flashgc[tune]")
    asked = {"base": {"config": "oltp", "set": SWEEP["base"]["set"]}, "search": {"trials": 2},
             "space": {"scheme": ["greedy", "pgc-both"],
                       "device.over_provisioning": ["10%", "20%"]}}  # fmt: skip
    found = flashgc.tune({**asked, **more}, store=tmp_path / "store", jobs=2)
    page = found.save(tmp_path / "tune.html")
    opened = Opened(browser, page)
    assert opened.chart("front").locator("svg.marks path").count() > 3
    assert opened.tab.locator("#chart-front .role-legend-entry").count() > 0
    opened.clean()


def test_a_sweep_over_words_alone_draws_its_chart_without_a_warning(browser, tmp_path):
    """The scale of numbers was left at an axis of words."""
    asked = {"base": SWEEP["base"], "axes": {"scheme": ["greedy", "fifo"]}}
    done = flashgc.sweep(asked, store=tmp_path / "store", jobs=2)
    opened = Opened(browser, done.save(tmp_path / "words.html", "flashgc sweep words.toml"))
    assert {row["x"] for row in drawn(opened)} == {"greedy", "fifo"}
    opened.tab.get_by_label("metric").select_option("latency_ns.read.p99")
    opened.tab.wait_for_timeout(400)
    opened.clean()
