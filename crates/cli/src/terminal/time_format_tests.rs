use jiff::tz::TimeZone;
use windlass::core::log::ids::UnixMillis;

use super::{format_duration, format_iso, format_timestamp_in};

#[test]
fn programs_get_civil_dates_in_utc() {
    let rows = [
        (0, "1970-01-01T00:00:00.000Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (1_709_251_199_999, "2024-02-29T23:59:59.999Z"),
        (1_709_251_200_000, "2024-03-01T00:00:00.000Z"),
        (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
    ];
    for (at, expected) in rows {
        assert_eq!(format_iso(UnixMillis(at)), expected);
    }
}

#[test]
fn people_get_their_own_time_with_its_offset() {
    let new_york = TimeZone::posix("EST5EDT,M3.2.0,M11.1.0").unwrap();
    let rows = [
        (1_798_761_599_000, "2026-12-31 18:59:59 -05:00"),
        (1_783_000_000_000, "2026-07-02 09:46:40 -04:00"),
    ];
    for (at, expected) in rows {
        assert_eq!(format_timestamp_in(&new_york, UnixMillis(at)), expected);
    }
    assert_eq!(format_timestamp_in(&TimeZone::UTC, UnixMillis(0)), "1970-01-01 00:00:00 +00:00");
    // Any timestamp of a log can be formatted.
    assert!(!format_timestamp_in(&new_york, UnixMillis(u64::MAX)).is_empty());
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
        assert_eq!(format_duration(ms), expected);
    }
}
