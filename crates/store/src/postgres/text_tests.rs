use super::text::shown;

#[test]
fn what_text_cannot_hold_is_shown() {
    assert_eq!(shown("before\0after"), "before\u{2400}after");
    assert_eq!(shown("plain"), "plain");
}
