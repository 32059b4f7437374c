use super::{Key, KeyDecoder, MAX_PASTE_BYTES};

fn keys(bytes: &[u8]) -> Vec<Key> {
    let mut decoder = KeyDecoder::default();
    let mut keys = decoder.push(bytes);
    keys.extend(decoder.flush());
    keys
}

#[test]
fn keys_of_common_terminals_are_known() {
    let cases: [(&[u8], Key); 20] = [
        (b"a", Key::Char('a')),
        ("ü".as_bytes(), Key::Char('ü')),
        ("🦀".as_bytes(), Key::Char('🦀')),
        (b"\r", Key::Enter),
        (b"\n", Key::Ctrl('j')),
        (b"\x1b\r", Key::AltEnter),
        (b"\x1b[13;2u", Key::Ctrl('j')),
        (b"\x1b[27;2;13~", Key::Ctrl('j')),
        (b"\x03", Key::Ctrl('c')),
        (b"\x7f", Key::Backspace),
        (b"\x1b\x7f", Key::AltBackspace),
        (b"\x1b", Key::Escape),
        (b"\x1b[A", Key::Up),
        (b"\x1bOB", Key::Down),
        (b"\x1b[1;5D", Key::WordLeft),
        (b"\x1bf", Key::WordRight),
        (b"\x1b[3~", Key::Delete),
        (b"\x1b[Z", Key::BackTab),
        (b"\x1bd", Key::Alt('d')),
        (b"\x1b[12;40R", Key::CursorAt(12, 40)),
    ];
    for (bytes, key) in cases {
        assert_eq!(keys(bytes), [key], "{bytes:?}");
    }
}

#[test]
fn unknown_sequences_leave_nothing_behind() {
    for bytes in
        [&b"\x1b[?1;2c"[..], b"\x1b[[A", b"\x1b[99;3~", b"\x1b[<0;3;4M", b"\xff", b"\x1b[I"]
    {
        assert_eq!(keys(&[bytes, b"x"].concat()), [Key::Char('x')], "{bytes:?}");
    }
}

#[test]
fn a_paste_is_one_key_wherever_it_is_cut() {
    let bytes = "a\x1b[200~line 1\r\nline 2\x1b[3m\x1b[201~b".as_bytes();
    let expected = [Key::Char('a'), Key::Paste("line 1\nline 2[3m".to_owned()), Key::Char('b')];
    for cut in 0..bytes.len() {
        let mut decoder = KeyDecoder::default();
        let (first, second) = bytes.split_at(cut);
        let mut keys = decoder.push(first);
        keys.extend(decoder.push(second));
        assert_eq!(keys, expected, "cut at {cut}");
    }
}

#[test]
fn a_paste_has_a_bound() {
    let mut decoder = KeyDecoder::default();
    decoder.push(b"\x1b[200~");
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..20 {
        assert!(decoder.push(&piece).is_empty());
    }
    let keys = decoder.push(b"\x1b[201~");
    assert!(matches!(&keys[..], [Key::Paste(text)] if text.len() == MAX_PASTE_BYTES));
}

#[test]
fn random_bytes_never_stop_the_decoder() {
    let mut state = 7_u64;
    let mut decoder = KeyDecoder::default();
    for _ in 0..200_000 {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let byte = (state >> 33) as u8;
        decoder.push(&[if byte.is_multiple_of(5) { 0x1b } else { byte }]);
    }
    decoder.push(b"\x1b[201~");
    decoder.flush();
    assert_eq!(decoder.push(b"q"), [Key::Char('q')]);
}
