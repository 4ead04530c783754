//! The pages that a collection frees where the last programs of its copies are padded
//! (docs/mapping-unit.md#without-power-loss-protection).

use super::geometry::Shape;

impl Shape {
    /// Whether programs are padded, so that nothing that must survive stays in the controller.
    #[inline(always)]
    pub fn pads(&self) -> bool {
        self.padded_to > 1
    }

    /// Pages that a collection of a block with this number of invalid pages wins: its copies take
    /// whole programs, of each class.
    #[inline(always)]
    pub fn won(&self, invalid: u32) -> u32 {
        if self.pads() { self.won_in_programs(invalid) } else { invalid }
    }

    /// At least this number: of each class but one, a program may have a single page.
    fn won_in_programs(&self, invalid: u32) -> u32 {
        let (all, valid) = (self.data_pages(), self.data_pages() - invalid);
        let programs = (valid + self.padding()) / self.padded_to;
        all.saturating_sub(programs.min(valid) * self.padded_to)
    }

    /// Pages more that it wins than with one invalid page less.
    #[inline(always)]
    pub fn won_with_last(&self, invalid: u32) -> u32 {
        if self.pads() { self.won(invalid) - self.won(invalid - 1) } else { 1 }
    }

    /// The most pages without data in the programs of a collection.
    fn padding(&self) -> u32 {
        self.padded_programs * (self.padded_to - 1)
    }

    /// The most valid pages of a block whose collection frees a page, where that is a bound.
    pub fn most_collected(&self) -> u32 {
        if !self.pads() {
            return u32::MAX;
        }
        let all = self.data_pages();
        // With less than one for each class, each may take a program.
        let few = (all / self.padded_to - 1).min(self.padded_programs);
        all.saturating_sub(self.padding() + 1).max(few)
    }

    /// Invalid pages of a block that no collection can win, at most.
    pub fn never_won_of_block(&self) -> u32 {
        if self.pads() { self.data_pages() - 1 - self.most_collected() } else { 0 }
    }

    /// The pages of a plane that no collection can free.
    pub fn never_won(&self) -> u64 {
        u64::from(self.blocks_per_plane) * u64::from(self.never_won_of_block())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Level;

    /// The most pages of the programs of these copies, however they are divided among classes.
    fn most_used(valid: u32, classes: u32, program: u32) -> u32 {
        let own = |valid: u32| valid.div_ceil(program) * program;
        if classes == 1 {
            return own(valid);
        }
        let divided = |at: u32| own(at) + most_used(valid - at, classes - 1, program);
        (0..=valid).map(divided).max().unwrap_or(0)
    }

    #[test]
    fn each_class_of_copies_may_end_with_a_program_of_one_page() {
        for (classes, program) in [(1, 4), (2, 4), (3, 2), (6, 4), (3, 8)] {
            let shape = Shape {
                pages_per_block: 32,
                padded_to: program,
                padded_programs: classes,
                ..Shape::small(Level::Die)
            };
            let wins = |invalid: u32| shape.won(invalid) > 0;
            for invalid in 0..=32 {
                let used = most_used(32 - invalid, classes, program);
                let case = (classes, program, invalid);
                assert_eq!(shape.won(invalid), 32u32.saturating_sub(used), "{case:?}");
                assert_eq!(wins(invalid), 32 - invalid <= shape.most_collected(), "{case:?}");
            }
            let never = (0..=32).take_while(|&invalid| !wins(invalid)).count() as u32 - 1;
            assert_eq!(shape.never_won_of_block(), never, "{classes} {program}");
        }
    }
}
