//! Closed forms and fixed points of write amplification.
//!
//! `rho` is the share of valid pages of the log: the pages that are exported, of those that are not
//! kept erased. `b` is the number of pages of a block.

fn harmonic(n: usize) -> f64 {
    (1..=n).map(|k| 1.0 / k as f64).sum()
}

/// Greedy with blocks of `b` pages; victims have m or m + 1 valid pages.
pub fn greedy(rho: f64, b: usize) -> f64 {
    let (alpha, pages) = (1.0 / rho, b as f64);
    for m in 0..b - 1 {
        let (low, gap) = (m as f64 + 1.0, harmonic(b) - harmonic(m + 1));
        let p = (pages * gap - alpha * (pages - low)) / (alpha - pages / low);
        if (0.0..=1.0).contains(&p) {
            return pages / (pages - low + p);
        }
    }
    panic!("no greedy victim at rho = {rho}")
}

/// The only zero of a falling function between two numbers.
pub fn bisect(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if f(middle) > 0.0 { low = middle } else { high = middle }
    }
    low
}

/// FIFO: the victim's valid share is u = exp(-alpha (1 - u)), u < 1.
pub fn fifo(rho: f64) -> f64 {
    mixed_fifo(rho, 1.0, 1.0)
}

/// Any block.
pub fn random(rho: f64) -> f64 {
    1.0 / (1.0 - rho)
}

/// FIFO, share `r` of the writes to share `f` of the pages, in one log.
pub fn mixed_fifo(rho: f64, f: f64, r: f64) -> f64 {
    let classes = [(f, r), (1.0 - f, 1.0 - r)];
    let writes = |a: f64| -> f64 {
        let active = classes.iter().filter(|(_, r)| *r > 0.0);
        active.map(|(f, r)| r / (1.0 - (-(r / f) / rho / a).exp())).sum()
    };
    bisect(1.0 + 1e-9, 1.0 / (1.0 - rho), |a| writes(a) - a)
}

/// The best of d random blocks: the mean field, integrated until nothing moves.
pub fn d_choices(rho: f64, b: usize, d: i32) -> f64 {
    let pages = b as f64;
    // Binomial(b, rho), by the ratio of neighbours.
    let mut m = vec![(1.0 - rho).powi(b as i32)];
    for i in 0..b {
        m.push(m[i] * (b - i) as f64 / (i + 1) as f64 * rho / (1.0 - rho));
    }
    let step = 0.2 * rho / pages;
    loop {
        let mut above = 0.0;
        let mut chosen = vec![0.0; b + 1];
        for i in (0..=b).rev() {
            let q = above + m[i];
            chosen[i] = q.powi(d) - f64::powi(above, d);
            above = q;
        }
        let j: f64 = (0..=b).map(|i| i as f64 * chosen[i]).sum();
        let rate = (pages - j) / (rho * pages);
        let mut moved = 0.0f64;
        let mut next = m.clone();
        for i in 0..=b {
            let refill = if i == b { 1.0 } else { 0.0 };
            let fall = if i == b { 0.0 } else { (i + 1) as f64 * m[i + 1] };
            let slope = refill - chosen[i] + rate * (fall - i as f64 * m[i]);
            next[i] += step * slope;
            moved = moved.max(slope.abs());
        }
        m = next;
        if moved < 1e-9 {
            let valid: f64 = m.iter().enumerate().map(|(i, share)| i as f64 * share).sum();
            assert!((valid / (rho * pages) - 1.0).abs() < 1e-6, "the mean field lost data");
            return pages / (pages - j);
        }
    }
}
