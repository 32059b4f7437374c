use windlass::core::ids::Millis;

use super::{span, stamp};

#[test]
fn stamps_are_civil_dates() {
    let rows = [
        (0, "1970-01-01 00:00:00"),
        (951_782_400_000, "2000-02-29 00:00:00"),
        (1_709_251_199_999, "2024-02-29 23:59:59"),
        (1_709_251_200_000, "2024-03-01 00:00:00"),
        (1_798_761_599_000, "2026-12-31 23:59:59"),
        (4_107_542_400_000, "2100-03-01 00:00:00"),
    ];
    for (at, expected) in rows {
        assert_eq!(stamp(Millis(at)), expected);
    }
    // Whatever a log says, it is shown.
    assert!(!stamp(Millis(u64::MAX)).is_empty());
}

#[test]
fn spans_use_two_units_at_most() {
    let rows = [
        (0, "0 ms"),
        (999, "999 ms"),
        (1_250, "1.2 s"),
        (61_000, "1 min 1 s"),
        (3_660_000, "1 h 1 min"),
        (90_000_000, "1 d 1 h"),
    ];
    for (ms, expected) in rows {
        assert_eq!(span(ms), expected);
    }
}
