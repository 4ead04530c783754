"""The playground in headless Chromium: the results of the command, and no request but its own."""

import importlib.machinery
import importlib.util
import json
import re
import subprocess

import pytest

import flashgc
from conftest import BROWSER, ROOT

SCRIPT = ROOT / "scripts" / "playground"


def script():
    """The script that builds the page."""
    loader = importlib.machinery.SourceFileLoader("build_playground", str(SCRIPT))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


BUILD = script()
pytestmark = [
    pytest.mark.skipif(BROWSER is None, reason="there is no Chromium"),
    pytest.mark.skipif(not BUILD.is_installed(), reason=BUILD.WHY),
    pytest.mark.skipif(not BUILD.OUT.exists(), reason="`make playground` builds the page"),
]

SMALL = {"requests": 3000}
CHOICES = [
    *[SMALL | {"a": scheme, "device": device}
      for device, schemes in {
          "enterprise-tlc": ["greedy", "fpgc", "pgc-both", "idle-pgc", "tokens-fpgc", "gftl",
                             "pregc", "on-demand", "cost-benefit", "ippbe"],
          "client-tlc": ["greedy", "pgc", "tokens-fpgc"],
          "enterprise-qlc": ["fifo", "pgc"],
          "slc-low-latency": ["wear-aware", "pbgc"],
          "slc-msr": ["d-choices", "fpgc", "bbgc"],
      }.items() for scheme in schemes],
    SMALL | {"a": "greedy", "workload": "bursts", "load": 13, "skew": 0, "reads": 0},
    SMALL | {"a": "fpgc", "workload": "bursts", "spare": 45, "seed": 4294967295},
    SMALL | {"a": "tokens", "workload": "sequential", "skew": 12},
    SMALL | {"a": "random", "reads": 95, "load": 10, "spare": 60},
]  # fmt: skip


@pytest.fixture(scope="module")
def page():
    subprocess.run([SCRIPT], check=True, capture_output=True)
    return BUILD.OUT


class Opened:
    """The page, with its errors and its requests."""

    def __init__(self, browser, page, address="", width=1400):
        self.wrong, self.asked = [], []
        self.url = f"file://{page}"
        self.tab = browser.new_page(viewport={"width": width, "height": 900})
        self.tab.on("console", lambda said: self.wrong.append(said.text))
        self.tab.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.tab.on("request", lambda asked: self.asked.append(asked.url))
        self.tab.goto(self.url + address)

    def until(self, condition):
        for _ in range(3000):
            if self.tab.evaluate(condition):
                return
            self.tab.wait_for_timeout(20)
        raise AssertionError((condition, self.tab.inner_text("#clock"), self.wrong))

    def ends(self):
        """Waits until both runs are over."""
        self.until("document.getElementById('clock').textContent.startsWith('Ended')")

    def clean(self):
        """Closes the page, and checks that it had no error and requested nothing but itself."""
        assert self.wrong == []
        asked = {url for url in self.asked if not url.startswith(("data:", "blob:"))}
        assert {url.partition("#")[0] for url in asked} == {self.url}
        self.tab.close()


def address(**choices):
    return "#" + "&".join(f"{key}={value}" for key, value in (SMALL | choices).items())


@pytest.fixture(scope="module")
def small(browser, page):
    """A page whose runs are over."""
    opened = Opened(browser, page, address())
    opened.ends()
    yield opened
    opened.clean()


@pytest.mark.parametrize("choices", CHOICES, ids=lambda one: "-".join(map(str, one.values())))
def test_results_are_those_of_the_command(small, tmp_path, choices):
    found = small.tab.evaluate(
        """async (choices) => {
          const all = { ...START, ...choices };
          const one = configuration(all, all.a);
          const report = await playground.question("report", { configuration: one });
          return [toToml(all), report.result_hash];
        }""",
        choices,
    )
    file = tmp_path / "playground.toml"
    file.write_text(found[0])
    assert found[1] == flashgc.run(file, scheme=choices["a"]).result_hash


def test_runs_in_slow_motion_have_the_same_results(browser, page):
    opened = Opened(browser, page, address(requests=1000))
    opened.ends()
    before = opened.tab.inner_text("#hashes")
    opened.tab.locator(".read button").first.click()
    opened.until("playground.player.mode === 'slow'")
    opened.tab.get_by_role("button", name="Pause").click()
    opened.until("playground.player.mode === 'pause'")
    for _ in range(5):
        opened.tab.get_by_role("button", name="Step").click()
    opened.tab.locator("#speed").select_option("0")
    opened.ends()
    assert opened.tab.inner_text("#hashes") == before
    assert before.startswith("greedy ")
    assert "when it has ended" not in before
    opened.clean()


def test_a_late_read_is_shown_where_it_waits(browser, page):
    opened = Opened(browser, page, address(requests=10_000))
    opened.ends()
    first = opened.tab.locator(".read").first
    assert "copies of a collection" in first.inner_text()
    first.get_by_role("button").click()
    told = "document.querySelector('.drive-0 .told').textContent"
    opened.until(f"/has waited .* for unit \\d+, which copies a page/.test({told})")
    opened.until(
        "/^The read is done after .* own work\\.$/"
        ".test(document.querySelector('.drive-1 .told').textContent)"
    )
    # Tables of the whole run stay.
    assert "copies of a collection" in opened.tab.locator(".read").first.inner_text()
    opened.clean()


NOTED = """(number) => {
  window.noted = [];
  const draw = playground.frame.bind(playground);
  playground.frame = (data) => {
    draw(data);
    if (data.mode !== "slow") return;
    const told = document.querySelector(".drive-1 .told").textContent;
    const waited_ns = Math.round(data.now_ns - playground.followed.arrived_ns);
    noted.push([waited_ns, told, time(waited_ns)]);
  };
  const read = playground.data.runs[1].slowest_reads[number];
  playground.follow(1, read);
  return [read.latency_ns, why(read)];
}"""


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_read_is_done_at_its_end_and_its_wait_is_that_of_the_clock(browser, page, number):
    opened = Opened(browser, page, address(requests=10_000))
    opened.ends()
    latency_ns, why = opened.tab.evaluate(NOTED, number)
    opened.until("playground.followed.is_over && playground.player.mode === 'pause'")
    noted = opened.tab.evaluate("noted")
    assert len(noted) > 20
    for waited_ns, told, clock in noted:
        assert told.startswith("The read is done") == (waited_ns >= latency_ns), (waited_ns, told)
        if waited_ns > 0 and "has waited" in told:
            assert f"has waited {clock}" in told
    # The last sentence is the answer of the list.
    told = opened.tab.inner_text(".drive-1 .told")
    assert told.removeprefix("The read is done after ") == why.removeprefix("It took ")
    opened.clean()


def test_the_parts_of_a_latency_add_up(small):
    found = small.tab.evaluate(
        "playground.data.runs.flatMap((run) => run.slowest_reads.map((read) => [read, why(read)]))"
    )
    sizes = {"ns": 1, "us": 1e3, "ms": 1e6}
    for read, told in found:
        whole, *parts = (
            float(number) * sizes[unit]
            for number, unit in re.findall(r"([\d.]+) (ns|us|ms)\b", told)
        )
        assert whole == pytest.approx(read["latency_ns"], rel=0.01)
        assert sum(parts) == pytest.approx(whole, rel=0.01) or "all of it" in told


def test_runs_that_are_too_short_are_not_compared(small):
    told = small.tab.inner_text("#steady")
    reports = small.tab.evaluate("playground.reports")
    assert [one["steady"]["verdict"] for one in reports] == ["no", "no"]
    for scheme, one in zip(("greedy", "fpgc"), reports, strict=True):
        more = f"{one['steady']['more_requests']:,}"
        assert f"{scheme} has not reached steady state (about {more} more requests" in told
    assert "Do not compare these numbers" in told


def test_the_slowest_reads_of_both_schemes_have_one_scale(small):
    found = small.tab.evaluate(
        """playground.data.runs.map(({ slowest_reads }, scheme) => {
             const bars = [...playground.late[scheme].element.querySelectorAll(".bar")];
             return bars.map((bar, at) => [slowest_reads[at].latency_ns,
               [...bar.children].reduce((sum, part) => sum + parseFloat(part.style.width), 0)]);
           }).flat()"""
    )
    longest = max(latency for latency, _ in found)
    for latency, width in found:
        assert width == pytest.approx(100 * latency / longest, rel=0.01)


def test_a_list_that_is_pointed_at_keeps_its_order(browser, page):
    opened = Opened(browser, page, address(requests=100_000))
    opened.until("document.querySelectorAll('.read').length === 6")
    opened.tab.locator(".read button").first.hover()
    opened.until("playground.late[0].isInUse()")
    before = opened.tab.evaluate("playground.late[0].seen")
    opened.tab.wait_for_timeout(300)
    seen = opened.tab.evaluate("[playground.player.mode, playground.late[0].seen]")
    assert seen in (["full", before], ["over", seen[1]])
    opened.clean()


def test_keys_play_a_read_that_is_shown(browser, page):
    opened = Opened(browser, page, address(requests=10_000))
    opened.ends()
    opened.tab.locator(".read button").first.click()
    opened.until("playground.player.mode === 'slow'")
    opened.until("document.activeElement.id === 'pause'")
    opened.tab.keyboard.press("Space")
    opened.until("playground.player.mode === 'pause'")
    before = opened.tab.evaluate("playground.data.now_ns")
    opened.tab.keyboard.press("ArrowRight")
    opened.until(f"playground.data.now_ns > {before}")
    assert opened.tab.evaluate("playground.player.mode") == "pause"
    # A button that was clicked keeps the focus, and space is the same key there.
    opened.tab.get_by_role("button", name="Step").click()
    opened.tab.keyboard.press("Space")
    opened.until("playground.player.mode === 'slow'")
    assert opened.tab.evaluate("document.activeElement.id") == "step"
    opened.tab.keyboard.press("End")
    opened.ends()
    opened.clean()


def test_an_address_holds_the_configuration(browser, page):
    opened = Opened(browser, page, address(a="pgc", b="fifo", device="slc-msr", skew=3, spare=40))
    opened.ends()
    text = opened.tab.inner_text("#text")
    assert 'preset = "slc-msr"' in text
    assert "zipf = 0.3" in text
    assert 'over_provisioning = "40%"' in text
    assert "--schemes pgc,fifo" in opened.tab.inner_text("#same")
    opened.tab.get_by_label("Over-provisioning").fill("41")
    opened.until("location.hash.includes('spare=41')")
    opened.ends()
    other = Opened(browser, page, "#" + opened.tab.url.partition("#")[2])
    other.ends()
    assert other.tab.inner_text("#text") == opened.tab.inner_text("#text")
    assert other.tab.inner_text("#hashes") == opened.tab.inner_text("#hashes")
    other.clean()
    opened.clean()


def test_percentiles_are_those_of_the_report(small):
    for kind in ("read", "write"):
        small.tab.locator("#kind").select_option(kind)
        shown = small.tab.evaluate(
            "[...document.querySelectorAll('#latency tbody tr')]"
            ".map((row) => [...row.cells].map((cell) => cell.textContent))"
        )
        told = small.tab.evaluate(
            """(kind) => Object.keys(PERCENTILES).flatMap((key) =>
                 playground.reports.map((one) => time(one.blame[kind][key].latency_ns)))""",
            kind,
        )
        assert [row[2] for row in shown] == told
        assert [row[1] for row in shown] == ["greedy", "fpgc"] * 5
        bars = small.tab.locator("#latency .bar").all()
        assert len(bars) == 10
        assert all(bar.get_attribute("aria-label").startswith(told[at])
                   for at, bar in enumerate(bars))  # fmt: skip


def test_a_trace_is_replayed(browser, page, tmp_path):
    trace = tmp_path / "requests.load"
    some = {"workload.synthetic.requests": 2000, "device.blocks_per_plane": 64}
    flashgc.trace.generate("oltp", trace, set=some)
    opened = Opened(browser, page, address())
    opened.ends()
    drawn = opened.tab.inner_text("#hashes")
    opened.tab.set_input_files("#trace", trace)
    opened.until("document.getElementById('text').textContent.includes('[workload.trace]')")
    opened.ends()
    opened.until("!document.getElementById('hashes').textContent.includes('when it has ended')")
    file = tmp_path / "playground.toml"
    file.write_text(opened.tab.inner_text("#text"))
    found = opened.tab.inner_text("#hashes")
    assert found != drawn
    for scheme in ("greedy", "fpgc"):
        run = flashgc.run(file, scheme=scheme, trace=trace)
        assert run.requests.read + run.requests.write == 2000
        assert f"{scheme} {run.result_hash}" in found
    assert opened.tab.inner_text("#same").endswith("--trace requests.load")
    opened.clean()


def test_a_scheme_that_the_device_cannot_have_is_refused(browser, page):
    opened = Opened(browser, page, address(b="gsm"))
    opened.until("!document.getElementById('wrong').hidden")
    assert "Scheme B, gsm" in opened.tab.inner_text("#wrong")
    assert "needs a device with sub-blocks" in opened.tab.inner_text("#wrong")
    assert "needs a device with sub-blocks" in opened.tab.inner_text("#fault-b")
    opened.tab.get_by_label("Scheme B").select_option("pgc")
    opened.ends()
    assert opened.tab.locator("#wrong").is_hidden()
    assert opened.tab.locator(".fault").count() == 0
    opened.clean()


def test_what_is_refused_leaves_no_results_of_the_run_before(browser, page, tmp_path):
    opened = Opened(browser, page, address())
    opened.ends()
    opened.tab.locator("#text-title").scroll_into_view_if_needed()
    (tmp_path / "no.trace").write_text("these are words\n")
    opened.tab.set_input_files("#trace", tmp_path / "no.trace")
    opened.until("!document.getElementById('wrong').hidden")
    told = opened.tab.locator("#fault-trace")
    assert "the format of this trace is not recognised" in told.inner_text()
    box = told.bounding_box()
    assert 0 <= box["y"] < 900
    assert "the command can be told its format" in opened.tab.inner_text("#wrong")
    assert opened.tab.locator(".read").count() == 0
    assert opened.tab.locator("#latency .bar").count() == 0
    assert opened.tab.inner_text("#hashes") == ""
    assert opened.tab.evaluate("document.querySelector('.drive-0 canvas').height") == 0
    opened.tab.get_by_label("Workload").select_option("random")
    opened.ends()
    assert opened.tab.locator(".fault").count() == 0
    assert opened.tab.locator(".read").count() == 6
    opened.clean()


def test_a_wrong_address_or_seed_is_told_at_its_control(browser, page):
    opened = Opened(browser, page, address(a="gready", skew=99, seed="-5"))
    opened.ends()
    assert "a=gready" in opened.tab.inner_text("#fault-a")
    assert "the page uses greedy" in opened.tab.inner_text("#fault-a")
    assert "from 0 to 14" in opened.tab.inner_text("#fault-skew")
    assert "seed=-5" in opened.tab.inner_text("#fault-seed")
    seed = opened.tab.locator("[name=seed]")
    for wrong in ("-5", "", "1" + 23 * "0"):
        seed.fill(wrong)
        assert "from 0 to 4,294,967,295; the runs have seed 1" in opened.tab.inner_text(
            "#fault-seed"
        )
        assert opened.tab.locator(".fault").count() == 1
    assert seed.get_attribute("aria-invalid") == "true"
    seed.fill("7")
    assert opened.tab.locator(".fault").count() == 0
    opened.until("location.hash.includes('seed=7')")
    opened.ends()
    opened.clean()


def test_a_drive_beyond_the_memory_of_a_page_is_refused_by_name(small):
    found = small.tab.evaluate(
        """async () => {
          const text = toToml(START)
            .replace(/blocks_per_plane = .*/, "blocks_per_plane = 1000000");
          const one = { name: "large.toml", text, scheme: "greedy" };
          playground.tell("start", { pair: 0, configurations: [one, one] });
          return new Promise((told) => {
            const before = playground.worker.onmessage;
            playground.worker.onmessage = (message) => {
              if (message.data.kind === "wrong") {
                playground.worker.onmessage = before;
                told(message.data.text);
              }
            };
          });
        }"""
    )
    assert 'the tables of the drive "enterprise-tlc" need' in found
    assert "4.0 GiB" in found


@pytest.mark.parametrize("width", [400, 1400])
def test_the_page_fits_its_window_and_is_in_reach_of_the_keyboard(browser, page, width):
    opened = Opened(browser, page, address(), width)
    opened.ends()
    assert opened.tab.evaluate("document.documentElement.scrollWidth") <= width
    wanted = set(opened.tab.evaluate(
        "[...document.querySelectorAll('select, input, button, a, pre')]"
        ".filter((one) => !one.disabled).map((one) => one.name || one.id || one.textContent)"
    ))  # fmt: skip
    reached = set()
    for _ in range(60):
        opened.tab.keyboard.press("Tab")
        reached.add(opened.tab.evaluate(
            "(({ name, id, textContent }) => name || id || textContent)(document.activeElement)"
        ))  # fmt: skip
    assert wanted <= reached
    names = opened.tab.evaluate(
        "[...document.querySelectorAll('select, input')].map((one) => one.labels.length)"
    )
    assert set(names) == {1}
    opened.clean()


def test_the_commands_are_accepted(small, tmp_path):
    file = tmp_path / "playground.toml"
    file.write_text(small.tab.inner_text("#text"))
    for place in ("same", "full"):
        words = small.tab.inner_text(f"#{place}")
        assert words.startswith("flashgc compare playground.toml --schemes greedy,fpgc --blame")
    sets = small.tab.evaluate('fullCommand(START, [16, 64]).match(/--set \\S+?=("[^"]*"|\\S+)/g)')
    assert len(sets) == 4
    chosen = {}
    for one in sets:
        key, _, value = one.removeprefix("--set ").replace('"', "").partition("=")
        chosen[key] = json.loads(value) if value.isdigit() else value
    plan = flashgc.plan(file, scheme="fpgc", device="enterprise-tlc", set=chosen)
    assert not plan.unused_keys
