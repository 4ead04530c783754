//! Runs: pages that are written one after the other in the order of their numbers. A placement that
//! goes by requests takes a run for one, since pages reach it one by one.

use crate::ids::Lpn;
use std::slice::Iter;

/// Pages in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The first page.
    pub first: u32,
    /// Their number.
    pub pages: u32,
}

/// The run that is being written.
#[derive(Clone, Default)]
pub struct Runs(Option<Run>);

impl Runs {
    /// Whether this page continues the run.
    #[inline]
    pub fn are_continued_by(&self, lpn: Lpn) -> bool {
        self.0.is_some_and(|run| run.first.checked_add(run.pages) == Some(lpn.0))
    }

    /// The host writes a page. Returns the run that has ended with the page before, if one has.
    #[inline]
    pub fn write(&mut self, lpn: Lpn) -> Option<Run> {
        match &mut self.0 {
            Some(run) if run.first + run.pages == lpn.0 => {
                run.pages += 1;
                None
            }
            run => run.replace(Run { first: lpn.0, pages: 1 }),
        }
    }

    /// Appends the run to these numbers.
    pub fn keep(&self, numbers: &mut Vec<u32>) {
        let Run { first, pages } = self.0.unwrap_or(Run { first: 0, pages: 0 });
        numbers.extend([first, pages]);
    }

    /// Takes it from the front of these numbers; `None` where it is not one of a drive with this
    /// many pages.
    pub fn take_kept(&mut self, numbers: &mut Iter<'_, u32>, all: u32) -> Option<()> {
        let (&first, &pages) = (numbers.next()?, numbers.next()?);
        if first.checked_add(pages)? > all {
            return None;
        }
        self.0 = (pages > 0).then_some(Run { first, pages });
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_ends_with_a_page_that_does_not_follow() {
        let mut runs = Runs::default();
        let ended: Vec<Option<Run>> = [4, 5, 6, 6, 9].map(|lpn| runs.write(Lpn(lpn))).to_vec();
        let run = |first, pages| Some(Run { first, pages });
        assert_eq!(ended, [None, None, None, run(4, 3), run(6, 1)]);
        assert!(runs.are_continued_by(Lpn(10)) && !runs.are_continued_by(Lpn(9)));
        let (mut numbers, mut other) = (Vec::new(), Runs::default());
        runs.keep(&mut numbers);
        assert_eq!(other.take_kept(&mut numbers.iter(), 9), None, "page 9 is beyond the drive");
        other.take_kept(&mut numbers.iter(), 10).expect("it is a run");
        assert_eq!(other.write(Lpn(10)), None);
    }
}
