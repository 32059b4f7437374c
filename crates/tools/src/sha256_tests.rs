use super::sha256::{from_hex, to_hex};

#[test]
fn a_hash_comes_back_from_its_text() {
    let hash = std::array::from_fn(|place| u8::try_from(place * 8).unwrap());
    assert!(to_hex(&hash).starts_with("00081018"));
    assert_eq!(from_hex(&to_hex(&hash)), Some(hash));
}

#[test]
fn what_is_no_hash_is_none() {
    let fine = "0".repeat(64);
    assert_eq!(from_hex(&fine), Some([0; 32]));
    for text in ["", "0", &fine[1..], &format!("{fine}0"), &format!("{fine}00"), &"g".repeat(64)] {
        assert_eq!(from_hex(text), None, "{text}");
    }
}
