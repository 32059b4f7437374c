//! Conformance cases: bytes are returned unchanged.

use std::sync::Arc;

use windlass_core::log::ids::UnixMillis;
use windlass_core::log::inbox::InboxCommand;
use windlass_core::message::content_block::ContentBlock;
use windlass_core::message::raw_json::RawJson;
use windlass_runtime::ports::{EncodedEntry, OutboxMessage, StoreError};

use crate::fixtures::{CaseResult, TestStore, append, claim_new_lane, entry, lane, read_whole_log};

const UNUSUAL: [&str; 9] = [
    "",
    " ",
    "\0",
    "before\0after",
    r#"{"text":"\ud800 alone \udfff"}"#,
    "שלום עולם",
    "👩‍👩‍👧‍👦 🏳️‍🌈 \u{202e}backwards",
    "'; DROP TABLE lane; --",
    "line\r\nline\u{2028}line\u{feff}",
];

/// NUL, lone surrogates, right-to-left text, emoji and SQL-like text; extreme times too.
pub async fn comes_back_byte_for_byte(store: TestStore) -> CaseResult {
    let a = lane("a");
    let epoch = claim_new_lane(&store, &a).await?;
    let mut lines: Vec<_> = (1..).zip(UNUSUAL).map(|(seq, text)| entry(seq, text)).collect();
    lines.iter_mut().for_each(|line| line.at = UnixMillis(u64::MAX));
    store.append(append(&a, epoch, 0, lines.clone())).await?;
    assert_eq!(read_whole_log(&store, &a).await?, lines);

    for (no, text) in UNUSUAL.into_iter().enumerate() {
        let name = lane(&format!("{no}{}", text.replace('\0', "")));
        let message =
            InboxCommand::ChildFinished { child: "c".into(), text: text.into(), result: None };
        let idempotency_key = Arc::from(format!("k{}", text.replace('\0', "")));
        store
            .enqueue_message(name.clone(), OutboxMessage { idempotency_key, body: message.clone() })
            .await?;
        let read = store.read_inbox(name, 9).await?;
        assert!(read.iter().any(|read| read.body == message), "{text:?}");
    }
    surrogates_in_messages(&store).await
}

async fn surrogates_in_messages(store: &TestStore) -> CaseResult {
    let raw = RawJson::parse(r#"{"type":"text","text":"\ud800"}"#);
    let raw = raw.map_err(|error| invalid(&error))?;
    let block: ContentBlock = serde_json::from_str(raw.text()).map_err(|error| invalid(&error))?;
    let body = InboxCommand::prompt("r".into(), vec![block]);
    store
        .enqueue_message(
            lane("raw"),
            OutboxMessage { idempotency_key: "k".into(), body: body.clone() },
        )
        .await?;
    let read = store.read_inbox(lane("raw"), 9).await?;
    assert_eq!(read.into_iter().map(|message| message.body).collect::<Vec<_>>(), [body]);
    Ok(())
}

fn large(seq: u64, bytes: usize) -> EncodedEntry {
    let text: String = ('a'..='z').cycle().take(bytes.saturating_sub(4)).collect();
    entry(seq, &format!("\"ש{text}\""))
}

/// Bodies around the limit of what is stored in the entry's row, and far beyond it.
pub async fn large_bodies(store: TestStore) -> CaseResult {
    let a = lane("a");
    let epoch = claim_new_lane(&store, &a).await?;
    let sizes = [65_535, 65_536, 65_537, 10_000_000];
    let lines: Vec<_> = (1..).zip(sizes).map(|(seq, bytes)| large(seq, bytes)).collect();
    store.append(append(&a, epoch, 0, lines.clone())).await?;
    assert_eq!(read_whole_log(&store, &a).await?, lines);
    assert_eq!(store.read_log(a, 3, 1).await?, lines.get(3..).unwrap_or_default());
    Ok(())
}

/// Two entries with the same large body.
pub async fn same_large_body_twice(store: TestStore) -> Result<(), StoreError> {
    let (a, b) = (lane("a"), lane("b"));
    for name in [&a, &b] {
        let epoch = claim_new_lane(&store, name).await?;
        store.append(append(name, epoch, 0, vec![large(1, 100_000), large(2, 100_000)])).await?;
    }
    assert_eq!(read_whole_log(&store, &a).await?, [large(1, 100_000), large(2, 100_000)]);
    assert_eq!(read_whole_log(&store, &a).await?, read_whole_log(&store, &b).await?);
    Ok(())
}

fn invalid(error: &impl std::fmt::Display) -> StoreError {
    StoreError::Invalid { message: error.to_string() }
}
