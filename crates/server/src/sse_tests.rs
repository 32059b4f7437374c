use super::*;

#[test]
fn texts_cannot_begin_an_event() {
    let hostile = "x\n\nevent: state\r\ndata: {}\r\r\u{2028}";
    let event = encode_event(Some("1.0"), "message", &hostile);
    let text = std::str::from_utf8(&event).unwrap();
    assert_eq!(text.matches('\n').count(), 4);
    assert_eq!(text.matches('\r').count(), 0);
    assert!(text.starts_with("id: 1.0\nevent: message\ndata: \"x\\n\\nevent"));
}
