use windlass_core::log::ids::UnixMillis;

use crate::error::retry_after::parse_retry_after_ms;

/// Wed, 21 Oct 2015 07:28:00 GMT.
const NOW: UnixMillis = UnixMillis(1_445_412_480_000);

#[test]
fn seconds_are_seconds() {
    assert_eq!(parse_retry_after_ms("0", NOW), Some(0));
    assert_eq!(parse_retry_after_ms(" 2 ", NOW), Some(2_000));
    assert_eq!(parse_retry_after_ms("18446744073709551615", NOW), Some(u64::MAX));
}

#[test]
fn a_date_is_counted_from_now() {
    assert_eq!(parse_retry_after_ms("Wed, 21 Oct 2015 07:28:00 GMT", NOW), Some(0));
    assert_eq!(parse_retry_after_ms("Wed, 21 Oct 2015 07:28:30 GMT", NOW), Some(30_000));
    assert_eq!(parse_retry_after_ms("Thu, 22 Oct 2015 07:28:00 GMT", NOW), Some(86_400_000));
    assert_eq!(parse_retry_after_ms("Tue, 20 Oct 2015 07:28:00 GMT", NOW), Some(0));
}

#[test]
fn dates_are_real_days() {
    let from_zero = |date: &str| parse_retry_after_ms(date, UnixMillis(0));
    assert_eq!(from_zero("Thu, 01 Jan 1970 00:00:01 GMT"), Some(1_000));
    assert_eq!(from_zero("Tue, 29 Feb 2000 00:00:00 GMT"), Some(951_782_400_000));
    assert_eq!(from_zero("Sun, 01 Mar 2026 12:00:00 GMT"), Some(1_772_366_400_000));
    assert_eq!(from_zero("Thu, 29 Feb 2100 00:00:00 GMT"), None);
    assert_eq!(from_zero("Mon, 31 Apr 2026 00:00:00 GMT"), None);
    assert_eq!(from_zero("Mon, 00 Apr 2026 00:00:00 GMT"), None);
}

#[test]
fn nonsense_says_nothing() {
    let nonsense = [
        "",
        "-1",
        "+1",
        "1.5",
        "soon",
        "99999999999999999999",
        "Wed, 21 Oct 2015",
        "Wed, 21 Oct 2015 07:28:00 CET",
        "Wed, 21 Oct 2015 07:28:00 GMT trailing",
        "Wed, 21 Okt 2015 07:28:00 GMT",
        "Wed, 21 Oct 2015 25:00:00 GMT",
        "Wed, 21 Oct 99999 07:28:00 GMT",
        "Wed, 21 Oct 1492 07:28:00 GMT",
        "Wednesday, 21-Oct-15 07:28:00 GMT",
        "😀, א ב ג ד ה",
    ];
    for header in nonsense {
        assert_eq!(parse_retry_after_ms(header, NOW), None, "{header}");
    }
}
