//! Arbitrary bytes, and cuts through anything.

use proptest::prelude::*;
use windlass_core::Entry;
use windlass_core::message::content_block::{BlockKind, ContentBlock};
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::truncate;

use super::cases;
use super::matter::{block_json, json, text};

/// A line of a real log with some bytes changed.
fn spoiled() -> impl Strategy<Value = Vec<u8>> {
    let lines: Vec<String> = crate::golden::stories()
        .into_iter()
        .flat_map(|(_, lane)| lane.log.iter().map(Entry::encode).collect::<Vec<_>>())
        .collect();
    let changes = prop::collection::vec((any::<usize>(), any::<u8>()), 0..4);
    (prop::sample::select(lines), changes).prop_map(|(line, changes)| {
        let mut bytes = line.into_bytes();
        for (index, byte) in changes {
            let index = index % bytes.len();
            bytes[index] = byte;
        }
        bytes
    })
}

proptest! {
    #![proptest_config(cases(150))]

    // spec: INV-06
    #[test]
    fn bytes_are_read_or_refused(bytes in prop_oneof![prop::collection::vec(any::<u8>(), 0..200), spoiled()]) {
        let text = String::from_utf8_lossy(&bytes);
        if let Ok(entry) = Entry::parse(1, &text) {
            let line = entry.encode();
            prop_assert_eq!(Entry::parse(1, &line).unwrap().encode(), line);
            let _ = windlass_core::Conversation::replay([&entry]);
        }
        if let Ok(raw) = RawJson::parse(text.clone()) {
            prop_assert_eq!(raw.text(), text.trim_matches([' ', '\t', '\r', '\n']));
            let block = ContentBlock::new(raw.clone());
            prop_assert_eq!(block.raw(), &raw);
            prop_assert_eq!(raw.canonical_hash_hex().len(), 64);
        }
        let _ = windlass_core::message::normalise::normalise(&text);
    }

    // spec: TRANSCRIPT-03
    #[test]
    fn json_is_kept_and_hashed_whatever_it_is(json in prop_oneof![json(), block_json()]) {
        let raw = RawJson::parse(json.clone()).unwrap();
        prop_assert_eq!(raw.text(), &json);
        prop_assert_eq!(&serde_json::to_string(&ContentBlock::new(raw.clone())).unwrap(), &json);
        prop_assert_eq!(raw.canonical_hash_hex(), RawJson::parse(format!(" {json}\n")).unwrap().canonical_hash_hex());
        if let BlockKind::Text(text) = ContentBlock::new(raw).kind() {
            let again = ContentBlock::text(text);
            prop_assert_eq!(again.as_text(), Some(&**text));
        }
    }

    #[test]
    fn a_cut_fits_and_stays_json(text in text(), json in json(), limit in 0..120_u64) {
        let cut = truncate::truncate_text(&text, limit);
        if text.chars().count() as u64 <= limit {
            prop_assert_eq!(&*cut, &text);
        } else {
            let (head, rest) = cut.split_once("\n[\u{2026} ").unwrap();
            let tail = cut.rsplit_once(" characters omitted \u{2026}]\n").unwrap().1;
            let omitted: usize = rest.split(' ').next().unwrap().parse().unwrap();
            let kept = head.chars().count() + tail.chars().count();
            prop_assert!(text.starts_with(head) && text.ends_with(tail));
            prop_assert!(kept as u64 <= limit);
            prop_assert_eq!(kept + omitted, text.chars().count());
        }
        let content = truncate::truncate_content(&RawJson::parse(json).unwrap(), limit);
        prop_assert!(RawJson::parse(content.text()).is_ok());
        let size = content.read::<String>().map_or(content.text().chars().count(), |text| text.chars().count());
        prop_assert!(size as u64 <= limit + 60, "{}: {}", limit, content.text());
    }
}
