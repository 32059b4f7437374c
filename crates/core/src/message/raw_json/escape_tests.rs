use proptest::prelude::*;

use super::*;

fn quoted(text: &str) -> String {
    let mut out = String::new();
    push_quoted(&mut out, text);
    out
}

#[test]
fn every_character_below_300_is_written_as_serde_writes_it_wherever_it_stands() {
    for character in (0..300).filter_map(char::from_u32) {
        for before in [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, 3 * CHUNK_BYTES + 5] {
            let text = format!("{}{character}{}", "x".repeat(before), "ä".repeat(before));
            assert_eq!(quoted(&text), serde_json::to_string(&text).unwrap());
        }
    }
}

proptest! {
    #[test]
    fn any_text_is_written_as_serde_writes_it(text in "(\\PC|[\\x00-\\x22\\\\]|[a-z ]{0,40}){0,30}") {
        prop_assert_eq!(quoted(&text), serde_json::to_string(&text).unwrap());
    }
}
