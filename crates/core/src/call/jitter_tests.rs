use crate::call::jitter::with_jitter;

#[test]
fn a_pause_moves_by_a_fifth_at_most() {
    for ms in [0, 1, 500, 2_000, 8_000, 60_000] {
        for seed in (0..2_000).chain([u64::MAX, u64::MAX - 1]) {
            let moved = with_jitter(ms, seed);
            assert!((ms * 8 / 10..=ms * 12 / 10).contains(&moved), "{ms} {seed}: {moved}");
        }
    }
}

#[test]
fn pauses_differ_and_repeat() {
    let pauses: std::collections::BTreeSet<u64> =
        (0..1_000).map(|seed| with_jitter(8_000, seed)).collect();
    assert!(pauses.len() > 300, "{}", pauses.len());
    assert!(pauses.first() < Some(&6_500) && pauses.last() > Some(&9_500));
    assert_eq!(with_jitter(8_000, 7), with_jitter(8_000, 7));
}

#[test]
fn absurd_pauses_stay_numbers() {
    for seed in 0..1_000 {
        assert!(with_jitter(u64::MAX, seed) > u64::MAX / 2);
    }
}
