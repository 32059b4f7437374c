use super::{format_age, parse_duration_ms};

#[test]
fn lengths_of_time_have_a_number_and_a_unit() {
    for (typed, ms) in [
        ("30min", 1_800_000),
        ("2h", 7_200_000),
        (" 3 d ", 259_200_000),
        ("1w", 604_800_000),
        ("0s", 0),
        ("99999999999999999999w", 0),
    ] {
        assert_eq!(parse_duration_ms(typed).unwrap_or_default(), ms, "{typed}");
    }
    for typed in ["", "5", "h", "-1h", "2 fortnights", "1.5h", "é"] {
        assert!(parse_duration_ms(typed).unwrap_err().contains("30min"), "{typed}");
    }
    assert_eq!(parse_duration_ms("18446744073709551615w"), Ok(u64::MAX));
}

#[test]
fn ages_are_told_in_one_unit() {
    let rows = [(0, "0 s"), (59_999, "59 s"), (60_000, "1 min"), (7_200_000, "2 h")];
    for (ms, expected) in rows {
        assert_eq!(format_age(ms), expected);
    }
    assert_eq!(format_age(86_400_000 * 400), "400 d");
}
