//! Pauses that differ without randomness: derived from ids, so a replay waits as long as the run.

/// `ms`, moved by up to a fifth either way.
#[must_use]
pub fn spread(ms: u64, seed: u64) -> u64 {
    let share = mix(seed) % 401;
    let moved = u128::from(ms) * u128::from(800 + share) / 1000;
    u64::try_from(moved).unwrap_or(u64::MAX)
}

/// The finaliser of splitmix64: neighbouring seeds give unrelated numbers.
fn mix(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
