use super::ansi_quotes::decode_ansi_quotes;

#[test]
fn escapes_spell_characters_and_unknown_ones_nothing() {
    let rows = [
        ("a\\nb", Some("a\nb")),
        ("\\t\\\\\\'\\\"", Some("\t\\'\"")),
        ("\\x41\\101\\u00e9", Some("AAé")),
        ("\\x4g", None),
        ("\\0", None),
        ("\\x00", None),
        ("\\e[0m", None),
        ("\\cA", None),
        ("\\xff", None),
        ("\\", None),
        ("\\x", None),
        ("\\q", None),
    ];
    for (inside, expected) in rows {
        assert_eq!(decode_ansi_quotes(inside).as_deref(), expected, "{inside}");
    }
}
