use jiff::Timestamp;

use super::CronExpression;

fn next(expression: &str, after: &str, zone: &str) -> String {
    let zone = crate::time::find_time_zone(zone).unwrap();
    let after: Timestamp = after.parse().unwrap();
    CronExpression::parse(expression).unwrap().next_after(after, &zone).unwrap().to_string()
}

#[test]
fn expressions_come_true_when_cron_says_so() {
    for (expression, after, expected) in [
        ("* * * * *", "2026-11-19T10:00:00Z", "2026-11-19T10:01:00Z"),
        ("*/15 9-17 * * mon-fri", "2026-11-20T17:45:00Z", "2026-11-23T09:00:00Z"),
        ("0 0 29 2 *", "2026-11-19T10:00:00Z", "2028-02-29T00:00:00Z"),
        ("30 4 1,15 * 5", "2026-11-19T10:00:00Z", "2026-11-20T04:30:00Z"),
        ("0 12 * * 7", "2026-11-19T10:00:00Z", "2026-11-22T12:00:00Z"),
        ("5/20 * * jan *", "2026-11-19T10:00:00Z", "2027-01-01T00:05:00Z"),
        ("@daily", "2026-12-31T23:59:59Z", "2027-01-01T00:00:00Z"),
    ] {
        assert_eq!(next(expression, after, "UTC"), expected, "{expression}");
    }
}

#[test]
fn clocks_that_change_leave_no_day_out() {
    let zone = "Europe/Berlin";
    // At 02:00 the clocks go to 03:00.
    assert_eq!(next("30 2 * * *", "2026-03-28T12:00:00Z", zone), "2026-03-29T01:30:00Z");
    assert_eq!(next("30 2 * * *", "2026-03-29T12:00:00Z", zone), "2026-03-30T00:30:00Z");
    assert_eq!(next("0 9 * * *", "2026-10-25T12:00:00Z", zone), "2026-10-26T08:00:00Z");
}

#[test]
fn names_of_time_zones_lead_nowhere_else() {
    for name in ["", "Nowhere/Town", "../../etc/passwd", "Europe/../Europe/Berlin", "/etc/passwd"] {
        assert!(crate::time::find_time_zone(name).is_none(), "{name}");
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    for text in [
        "",
        "* * * *",
        "* * * * * *",
        "60 * * * *",
        "* 24 * * *",
        "* * 0 * *",
        "* * * 13 *",
        "* * * * 8",
        "*/0 * * * *",
        "5-1 * * * *",
        "a * * * *",
        "1,,2 * * * *",
        "0 0 30 2 *",
        "-1 * * * *",
        "@never",
        "001 * * * *",
    ] {
        assert!(CronExpression::parse(text).is_err(), "{text}");
    }
}
