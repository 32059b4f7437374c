use super::rows::replace_nul;

#[test]
fn what_text_cannot_hold_is_shown() {
    assert_eq!(replace_nul("before\0after"), "before\u{2400}after");
    assert_eq!(replace_nul("plain"), "plain");
}
