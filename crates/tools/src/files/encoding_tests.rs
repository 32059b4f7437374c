use super::encoding::{Encoding, Endings};

#[test]
fn what_is_decoded_is_encoded_to_the_same_bytes() {
    let utf16 = |mark: &[u8], bytes: fn(u16) -> [u8; 2]| {
        let text = "a\r\n😀é".encode_utf16().flat_map(bytes);
        mark.iter().copied().chain(text).collect::<Vec<u8>>()
    };
    let table = [
        (Encoding::Plain, "a\r\n😀é".as_bytes().to_vec()),
        (Encoding::Plain, b"caf\xe9".to_vec()),
        (Encoding::Utf8Marked, b"\xef\xbb\xbfabc".to_vec()),
        (Encoding::Utf16Little, utf16(b"\xff\xfe", u16::to_le_bytes)),
        (Encoding::Utf16Big, utf16(b"\xfe\xff", u16::to_be_bytes)),
    ];
    for (encoding, bytes) in table {
        assert_eq!(Encoding::of(&bytes), encoding);
        let text = encoding.decode(&bytes).unwrap();
        assert_eq!(encoding.encode(&text).unwrap(), bytes, "{encoding:?}");
    }
}

#[test]
fn half_a_character_is_no_text() {
    assert_eq!(Encoding::Utf16Little.decode(b"\xff\xfea"), None);
    assert_eq!(Encoding::Utf16Little.decode(b"\xff\xfe\x00\xd8"), None);
    assert_eq!(Encoding::Utf16Big.encode(b"\xff"), None);
}

#[test]
fn endings_are_known_and_kept() {
    let table: [(&[u8], Endings); 5] = [
        (b"", Endings::Feed),
        (b"a\nb", Endings::Feed),
        (b"a\r\nb\r\n", Endings::ReturnFeed),
        (b"a\r\nb\n", Endings::Mixed),
        (b"a\rb", Endings::Feed),
    ];
    for (text, endings) in table {
        assert_eq!(Endings::of(text), endings, "{text:?}");
        assert_eq!(endings.apply(&endings.plain(text)), text);
    }
    assert_eq!(Endings::ReturnFeed.apply(b"a\nb\r\nc"), b"a\r\nb\r\nc");
}
