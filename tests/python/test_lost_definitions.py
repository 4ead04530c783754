"""Values that rustc loses (rust-lang/rust#158206) are found in its MIR."""

from __future__ import annotations

import subprocess

from conftest import ROOT, script_of

LOST = """\
fn a(_1: u8, _2: &mut u64) -> u8 {
    debug x => _1;
    let mut _0: u8;
    let mut _3: bool;
    scope 1 (inlined is_three) {
        let mut _4: u64;
    }
    bb0: {
        StorageLive(_3);
        _4 = copy _3 as u64 (IntToInt);
        (*_2) = Add(copy (*_2), move _4);
        switchInt(copy _1) -> [3: bb1, otherwise: bb2];
    }
}
"""
SOURCE = """\
#[inline]
fn is_three(x: u8, count: &mut u64) -> bool {
    let found = x == 3;
    *count += u64::from(found);
    found
}

#[inline(never)]
pub fn classify(x: u8, count: &mut u64) -> u8 {
    if is_three(x, count) { 0 } else { 1 }
}

fn main() {
    let mut count = 0;
    let class = classify(std::hint::black_box(3), &mut count);
    std::process::exit(if (class, count) == (0, 1) { 0 } else { 3 });
}
"""


def lost(text: str) -> list[str]:
    found = script_of("lost_definitions").lost(text.splitlines(keepends=True))
    return [at for _, at in found]


def test_a_local_that_is_read_and_not_written_is_lost():
    assert lost(LOST) == ["_4 = copy _3 as u64 (IntToInt);"]
    whole = LOST.replace("StorageLive(_3);", "_3 = Eq(copy _1, const 3_u8);")
    assert lost(whole) == []
    closure = LOST.replace("_3: bool", "_3: {closure@src/a.rs:1:1: 1:2}")
    assert lost(closure) == []


def test_what_the_compiler_loses_is_found(tmp_path):
    """The smallest case, by the compiler that builds the engine: wrong where its MIR says so."""
    source = tmp_path / "case.rs"
    source.write_text(SOURCE)
    call = ["rustc", "-C", "opt-level=3", "--emit", "mir,link", "--out-dir", tmp_path, source]
    subprocess.run(call, check=True, cwd=ROOT)
    is_wrong = subprocess.run([tmp_path / "case"], check=False).returncode == 3
    assert bool(lost((tmp_path / "case.mir").read_text())) == is_wrong
