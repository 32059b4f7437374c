use super::encoding::{LineEndings, TextEncoding};

#[test]
fn what_is_decoded_is_encoded_to_the_same_bytes() {
    let utf16 = |mark: &[u8], bytes: fn(u16) -> [u8; 2]| {
        let text = "a\r\n😀é".encode_utf16().flat_map(bytes);
        mark.iter().copied().chain(text).collect::<Vec<u8>>()
    };
    let table = [
        (TextEncoding::Plain, "a\r\n😀é".as_bytes().to_vec()),
        (TextEncoding::Plain, b"caf\xe9".to_vec()),
        (TextEncoding::Utf8WithBom, b"\xef\xbb\xbfabc".to_vec()),
        (TextEncoding::Utf16Le, utf16(b"\xff\xfe", u16::to_le_bytes)),
        (TextEncoding::Utf16Be, utf16(b"\xfe\xff", u16::to_be_bytes)),
    ];
    for (encoding, bytes) in table {
        assert_eq!(TextEncoding::detect(&bytes), encoding);
        let text = encoding.decode(&bytes).unwrap();
        assert_eq!(encoding.encode(&text).unwrap(), bytes, "{encoding:?}");
    }
}

#[test]
fn half_a_character_is_no_text() {
    assert_eq!(TextEncoding::Utf16Le.decode(b"\xff\xfea"), None);
    assert_eq!(TextEncoding::Utf16Le.decode(b"\xff\xfe\x00\xd8"), None);
    assert_eq!(TextEncoding::Utf16Be.encode(b"\xff"), None);
}

#[test]
fn endings_are_known_and_kept() {
    let table: [(&[u8], LineEndings); 5] = [
        (b"", LineEndings::Lf),
        (b"a\nb", LineEndings::Lf),
        (b"a\r\nb\r\n", LineEndings::CrLf),
        (b"a\r\nb\n", LineEndings::Mixed),
        (b"a\rb", LineEndings::Lf),
    ];
    for (text, endings) in table {
        assert_eq!(LineEndings::detect(text), endings, "{text:?}");
        assert_eq!(endings.apply(&endings.to_lf(text)), text);
    }
    assert_eq!(LineEndings::CrLf.apply(b"a\nb\r\nc"), b"a\r\nb\r\nc");
}
