//! Bytes come back as they went in.

use std::sync::Arc;

use windlass_core::block::Block;
use windlass_core::ids::Millis;
use windlass_core::mail::MailBody;
use windlass_core::raw::Raw;
use windlass_runtime::ports::{EncodedEntry, Letter, StoreError};

use super::material::{Subject, Verdict, append, entry, lane, log, owned};
use crate::valid::invalid;

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

/// NUL, lone surrogates, right to left, emoji and what looks like SQL; absurd times too.
pub async fn comes_back_byte_for_byte(store: Subject) -> Verdict {
    let a = lane("a");
    let epoch = owned(&store, &a).await?;
    let mut lines: Vec<_> = (1..).zip(UNUSUAL).map(|(seq, text)| entry(seq, text)).collect();
    lines.iter_mut().for_each(|line| line.at = Millis(u64::MAX));
    store.append(append(&a, epoch, 0, lines.clone())).await?;
    assert_eq!(log(&store, &a).await?, lines);

    for (no, text) in UNUSUAL.into_iter().enumerate() {
        let name = lane(&format!("{no}{}", text.replace('\0', "")));
        let mail = MailBody::ChildFinished { child: "c".into(), text: text.into(), home: None };
        let key = Arc::from(format!("k{}", text.replace('\0', "")));
        store.deliver(name.clone(), Letter { key, body: mail.clone() }).await?;
        let read = store.read_mail(name, 9).await?;
        assert!(read.iter().any(|read| read.body == mail), "{text:?}");
    }
    surrogates_in_mail(&store).await
}

async fn surrogates_in_mail(store: &Subject) -> Verdict {
    let raw = Raw::parse(r#"{"type":"text","text":"\ud800"}"#);
    let raw = raw.map_err(|error| invalid(error.to_string()))?;
    let block: Block =
        serde_json::from_str(raw.text()).map_err(|error| invalid(error.to_string()))?;
    let body = MailBody::prompt("r".into(), vec![block]);
    store.deliver(lane("raw"), Letter { key: "k".into(), body: body.clone() }).await?;
    let read = store.read_mail(lane("raw"), 9).await?;
    assert_eq!(read.into_iter().map(|mail| mail.body).collect::<Vec<_>>(), [body]);
    Ok(())
}

fn large(seq: u64, bytes: usize) -> EncodedEntry {
    let text: String = ('a'..='z').cycle().take(bytes.saturating_sub(4)).collect();
    entry(seq, &format!("\"ש{text}\""))
}

/// Around the limit of what stays in the entry's row, and far beyond it.
pub async fn large_bodies(store: Subject) -> Verdict {
    let a = lane("a");
    let epoch = owned(&store, &a).await?;
    let sizes = [65_535, 65_536, 65_537, 10_000_000];
    let lines: Vec<_> = (1..).zip(sizes).map(|(seq, bytes)| large(seq, bytes)).collect();
    store.append(append(&a, epoch, 0, lines.clone())).await?;
    assert_eq!(log(&store, &a).await?, lines);
    assert_eq!(store.read_log(a, 3, 1).await?, lines.get(3..).unwrap_or_default());
    Ok(())
}

/// The same bytes under two entries.
pub async fn same_large_body_twice(store: Subject) -> Result<(), StoreError> {
    let (a, b) = (lane("a"), lane("b"));
    for name in [&a, &b] {
        let epoch = owned(&store, name).await?;
        store.append(append(name, epoch, 0, vec![large(1, 100_000), large(2, 100_000)])).await?;
    }
    assert_eq!(log(&store, &a).await?, [large(1, 100_000), large(2, 100_000)]);
    assert_eq!(log(&store, &a).await?, log(&store, &b).await?);
    Ok(())
}
