use super::*;

/// Types keys into a composer with vi keys; `\x1b` is Escape.
fn typed(keys: &str) -> (String, String) {
    let mut composer = Composer::new(vec!["older".to_owned()]);
    composer.vi = Some(ViState::default());
    for c in keys.chars() {
        let key = match c {
            '\u{1b}' => Key::Escape,
            '\n' => Key::Ctrl('j'),
            c => Key::Char(c),
        };
        composer.on_key(&key);
    }
    (composer.buffer.before().to_owned(), composer.buffer.after().to_owned())
}

#[test]
fn commands_move_and_edit() {
    let cases = [
        ("one two\u{1b}0", "", "one two"),
        ("one two\u{1b}0w", "one ", "two"),
        ("one two three\u{1b}02w", "one two ", "three"),
        ("one two\u{1b}0dw", "", "two"),
        ("one two\u{1b}0dwP", "one ", "two"),
        ("one two\u{1b}0cwsix\u{1b}", "si", "x two"),
        ("one two\u{1b}bD", "one ", ""),
        ("one two\u{1b}ddp", "one two", ""),
        ("one\ntwo\u{1b}ggdd", "", "two"),
        ("one\u{1b}xu", "on", "e"),
        ("one\u{1b}3h", "", "one"),
        ("abcdef\u{1b}03x", "", "def"),
        ("one\u{1b}otwo\u{1b}k0", "", "one\ntwo"),
        ("one\u{1b}Otwo", "two", "\none"),
        ("one\u{1b}Isome \u{1b}A!", "some one!", ""),
        ("one\u{1b}ddk", "older", ""),
    ];
    for (keys, before, after) in cases {
        assert_eq!(typed(keys), (before.to_owned(), after.to_owned()), "{keys:?}");
    }
}

#[test]
fn an_unknown_command_does_nothing() {
    assert_eq!(typed("one\u{1b}Zq%dzyz999999999999l"), ("one".to_owned(), String::new()));
}
