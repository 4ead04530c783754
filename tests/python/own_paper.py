"""A small paper of no one's, its reports without a run, and verdicts on its claims."""

from flashgc.files import toml
from flashgc.reproduction import read_claims as stated
from flashgc.reproduction import read_experiment as described
from flashgc.reproduction.results import Results
from flashgc.reproduction.verdict import judge

EXPERIMENT = """
[paper]
title = "A paper"
citation = "Nobody: Nothing"

[base]
config = "small.toml"

[axes.load.low]
label = "low load"
set = { "workload.synthetic.queue_depth" = 1 }
quick = { "workload.synthetic.requests" = 500 }

[axes.load.high]
set = { "workload.synthetic.queue_depth" = 16 }
quick = { "workload.synthetic.requests" = 500 }

[[axes.load.recorded.sources]]
files = ["requests.spc"]
what = "the trace"
config = "replay.toml"

[[axes.load.recorded.sources]]
differs = "no trace"

[axes.scheme.greedy]
scheme = "greedy"

[axes.scheme.fifo]
scheme = "fifo"

[measures.latency]
label = "mean latency"
unit = "ns"
formula = "latency_ns.all.mean"

[measures.waf]
label = "write amplification"
formula = "write_amplification"

[[items]]
id = "1"
title = "Latency"
form = "bars"
measures = ["latency"]
rows = "load"
columns = "scheme"
at = { load = ["low", "high"], scheme = "*" }
against = { scheme = "greedy" }
as = "ratio"
mean = true

[[items]]
id = "table-1"
title = "Both"
measures = ["latency", "waf"]
rows = "load"
columns = "scheme"
at = { load = ["low", "high"], scheme = "*" }
"""
CLAIMS = """
[tolerance]
met = "5 %"
near = "10 %"

[[claims]]
in = ["1"]
kind = "order"
place = "Fig. 1"
what = "latency, low load below high"
claimed = "always"
measure = "latency"
is = "below"
at = { load = "low", scheme = "*" }
than = { load = "high" }

[[claims]]
in = ["table-1"]
place = "Table 1, {load}"
what = "write amplification"
measure = "waf"
by = ["load"]
at = { scheme = "greedy" }
[claims.values]
low = 1.5
high = 1.5
"""
AT = {"load": "low", "scheme": "greedy"}
LOW, HIGH = ("low", "greedy"), ("high", "greedy")


def experiment():
    return described.load(EXPERIMENT, "here")


def results(latency, waf=1.5, quick=False, differs=None, saturated=(), fitted=None, again=()):
    """Made-up reports: latencies by load and scheme, and those of further seeds."""
    known = experiment()
    reports = made(known, latency, waf, saturated)
    more = tuple(made(known, {**latency, **one}, waf, saturated) for one in again)
    return Results(known, reports, differs or {}, quick, fitted or {}, {}, more)


def made(known, latency, waf, saturated):
    """A report of each run."""
    return {
        point: {"latency_ns": {"all": {"mean": latency.get(point, 100.0)}},
                "write_amplification": waf, "saturated": point in saturated}
        for point in known.points({axis: list(names) for axis, names in known.axes.items()})
    }  # fmt: skip


def claim_of(claim, found):
    """A claim that is given as a dictionary."""
    lines = [f"{key} = {toml.value(value, key)}" for key, value in claim.items()]
    head = '[tolerance]\nmet = "5 %"\nnear = "10 %"\n[[claims]]\nplace = "x"\nwhat = "y"\n'
    part = "" if "in" in claim else 'in = ["1"]\n'
    text = head + part + "\n".join(lines)
    (one,) = stated.load(text, "claims.toml", found.experiment)
    return one


def verdict(claim, found, pins=None):
    """The verdict on a claim that is given as a dictionary."""
    return judge("own-paper", claim_of(claim, found), found, pins)
