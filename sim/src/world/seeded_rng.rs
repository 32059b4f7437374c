//! Seeded random numbers: the same seed gives the same numbers.

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub(crate) struct SeededRng(u64);

impl SeededRng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(mix(seed ^ 0x5eed))
    }

    /// Returns a stream of its own for one subject: other streams do not change it.
    pub(crate) fn about(seed: u64, subject: &str) -> Self {
        let folded = subject.bytes().fold(seed, |sum, byte| mix(sum ^ u64::from(byte)));
        Self::new(folded)
    }

    pub(crate) fn next_number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// Returns a number below `most`.
    pub(crate) fn below(&mut self, most: u64) -> u64 {
        self.next_number() % most.max(1)
    }

    /// Returns a number from `least` to `most`, both included.
    pub(crate) fn within(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most.saturating_sub(least) + 1)
    }

    /// Returns true in this many of a hundred draws.
    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<T: Copy + Default>(&mut self, options: &[T]) -> T {
        let place = usize::try_from(self.below(options.len() as u64)).unwrap_or(0);
        options.get(place).copied().unwrap_or_default()
    }
}

fn mix(seed: u64) -> u64 {
    let z = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
