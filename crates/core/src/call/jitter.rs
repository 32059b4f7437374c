//! Deterministic jitter for backoff: derived from ids, so a replay waits as long as the run did.

/// Returns `ms`, changed by up to a fifth in either direction.
#[must_use]
pub fn with_jitter(ms: u64, seed: u64) -> u64 {
    let share = splitmix64(seed) % 401;
    let moved = u128::from(ms) * u128::from(800 + share) / 1000;
    u64::try_from(moved).unwrap_or(u64::MAX)
}

/// The finaliser of splitmix64: neighbouring seeds give unrelated numbers.
fn splitmix64(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
