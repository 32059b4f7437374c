use super::*;

#[test]
fn nothing_is_hidden_from_whoever_approves() {
    assert_eq!(escape_invisible("rm -rf 'my  dir'   other\n  x"), "rm -rf 'my  dir'   other\n  x");
    assert_eq!(escape_invisible("a\u{1b}[2Kb\rc\td"), "a\\u001b[2Kb\\rc\\td");
    assert_eq!(
        escape_invisible("\u{202e}txt\u{200b}\u{a0}\u{9b}"),
        "\\u202etxt\\u200b\\u00a0\\u009b"
    );
    assert_eq!(escape_invisible("\u{e0041}"), "\\udb40\\udc41");
    assert_eq!(escape_invisible("äöü 日本 é"), "äöü 日本 é");
}

#[test]
fn only_our_own_colours_reach_the_terminal() {
    let text = "\u{1b}[1mbold\u{1b}[0m \u{1b}[8mhidden \u{1b}]0;title\u{7} \u{9b}2J";
    assert_eq!(
        sanitize_output(text, ColorSupport::Enabled),
        "\u{1b}[1mbold\u{1b}[0m \\u001b[8mhidden \\u001b]0;title\\u0007 \\u009b2J"
    );
    assert!(!sanitize_output(text, ColorSupport::Disabled).contains('\u{1b}'));
    // Escaped JSON is still JSON.
    let json = serde_json::to_string("\u{9b}2J\u{202e}\u{7f}").unwrap();
    let safe = sanitize_output(&json, ColorSupport::Disabled);
    assert!(safe.is_ascii(), "{safe}");
    assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), "\u{9b}2J\u{202e}\u{7f}");
}
