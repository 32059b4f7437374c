//! Conformance cases: documents.

use std::sync::Arc;

use windlass_core::log::ids::{LaneId, UnixMillis};
use windlass_core::projection::Row;
use windlass_core::stop::{RunState, StopCause};
use windlass_runtime::ports::{
    Affinity, AppendRequest, Document, DocumentFilter, DocumentQuery, RUN_CHANGE_KIND, StoreError,
    WEBHOOK_KIND, WriteCondition,
};

use crate::fixtures::{CaseResult, TestStore, append, claim_new_lane, entries, lane, run_row};

fn document(kind: &str, key: &str, body: &str) -> Document {
    Document {
        kind: kind.into(),
        key: key.into(),
        tenant: "t".into(),
        subject: "".into(),
        due_at: None,
        version: 0,
        body: body.into(),
    }
}

fn query(kind: &str, filter: DocumentFilter) -> DocumentQuery {
    DocumentQuery { kind: kind.into(), tenant: None, filter, after: "".into(), limit: 100 }
}

async fn keys(store: &TestStore, query: DocumentQuery) -> Result<Vec<String>, StoreError> {
    let found = store.list_documents(query).await?;
    Ok(found.iter().map(|it| it.key.to_string()).collect())
}

/// A document has the version that its last write gave it, and only who knows it can change it.
pub async fn writes_compare_versions(store: TestStore) -> CaseResult {
    let first = document("note", "a", r#"{"text":"שלום 👋"}"#);
    assert!(store.write_document(first.clone(), WriteCondition::Absent).await?);
    assert!(!store.write_document(first.clone(), WriteCondition::Absent).await?);
    let key: Arc<str> = "a".into();
    let found = store.read_documents("note".into(), vec![key.clone(), "none".into()]).await?;
    assert_eq!(found, [Document { version: 1, ..first.clone() }]);
    let second = Document { body: "2".into(), due_at: Some(UnixMillis(7)), ..first };
    assert!(!store.write_document(second.clone(), WriteCondition::Version(2)).await?);
    assert!(store.write_document(second.clone(), WriteCondition::Version(1)).await?);
    assert!(!store.write_document(second.clone(), WriteCondition::Version(1)).await?);
    let found = store.read_documents("note".into(), vec![key.clone()]).await?;
    assert_eq!(found, [Document { version: 2, ..second }]);
    assert!(!store.delete_document("note".into(), key.clone(), Some(1)).await?);
    assert!(!store.delete_document("other".into(), key.clone(), None).await?);
    assert!(store.delete_document("note".into(), key.clone(), Some(2)).await?);
    assert!(!store.delete_document("note".into(), key, None).await?);
    Ok(())
}

/// Documents are listed by kind, tenant, subject and due time, in pages.
pub async fn lists_have_filters_and_pages(store: TestStore) -> CaseResult {
    let about = [("a", "t", "x", Some(30)), ("b", "u", "x", None), ("c", "t", "y", Some(10))];
    for (key, tenant, subject, due) in about {
        let document = Document {
            tenant: tenant.into(),
            subject: subject.into(),
            due_at: due.map(UnixMillis),
            ..document("note", key, "{}")
        };
        assert!(store.write_document(document, WriteCondition::Absent).await?);
    }
    assert!(store.write_document(document("other", "d", "{}"), WriteCondition::Absent).await?);
    assert_eq!(keys(&store, query("note", DocumentFilter::All)).await?, ["a", "b", "c"]);
    let page = DocumentQuery { after: "a".into(), limit: 1, ..query("note", DocumentFilter::All) };
    assert_eq!(keys(&store, page).await?, ["b"]);
    let of_tenant =
        DocumentQuery { tenant: Some("t".into()), ..query("note", DocumentFilter::All) };
    assert_eq!(keys(&store, of_tenant).await?, ["a", "c"]);
    let subject = |name: &str| query("note", DocumentFilter::Subject(name.into()));
    assert_eq!(keys(&store, subject("x")).await?, ["a", "b"]);
    assert_eq!(keys(&store, subject("")).await?, [] as [&str; 0]);
    let due = |at| query("note", DocumentFilter::DueUntil(UnixMillis(at)));
    assert_eq!(keys(&store, due(9)).await?, [] as [&str; 0]);
    assert_eq!(keys(&store, due(10)).await?, ["c"]);
    assert_eq!(keys(&store, due(99)).await?, ["c", "a"]);
    Ok(())
}

/// Of several writers that want the same version one succeeds.
pub async fn one_of_many_writers_wins(store: TestStore) -> CaseResult {
    let first = document("note", "a", "0");
    assert!(store.write_document(first.clone(), WriteCondition::Absent).await?);
    let writes = (1..=8).map(|nth: u32| {
        let (store, document) = (store.clone(), first.clone());
        let body = Arc::from(nth.to_string());
        tokio::spawn(async move {
            let changed = Document { body, ..document };
            store.write_document(changed, WriteCondition::Version(1)).await
        })
    });
    let mut won = 0;
    for write in writes.collect::<Vec<_>>() {
        won += u32::from(write.await.is_ok_and(|written| written == Ok(true)));
    }
    assert_eq!(won, 1);
    Ok(())
}

/// Names that no store could hold are refused.
pub async fn bad_documents_are_refused(store: TestStore) -> CaseResult {
    let long = "k".repeat(600);
    let bad = [
        document("", "k", "{}"),
        document("note", "", "{}"),
        document("note", &long, "{}"),
        document("note", "k\0", "{}"),
        document("note", "k", "{\0}"),
        Document { tenant: "".into(), ..document("note", "k", "{}") },
    ];
    for document in bad {
        let refused = store.write_document(document, WriteCondition::Absent).await;
        assert!(matches!(refused, Err(StoreError::Invalid { .. })), "{refused:?}");
    }
    Ok(())
}

fn ended(run: &str) -> Row {
    match run_row(run, RunState::Failed, 5) {
        Row::Run(mut row) => {
            row.cause = Some(StopCause::ProviderFailed);
            Row::Run(row)
        }
        other => other,
    }
}

fn step(lane: &LaneId, epoch: u64, head: u64, rows: Vec<Row>) -> AppendRequest {
    AppendRequest { rows, ..append(lane, epoch, head, entries("a", head + 1, head + 1)) }
}

/// An append leaves a document for each run that ended or waits, where its tenant has a webhook; one
/// that is fenced leaves none.
pub async fn run_changes_land_with_their_append(store: TestStore) -> CaseResult {
    let (silent, told) = (lane("silent"), lane("told"));
    let affinity = Affinity { tenant: "t".into(), ..Affinity::default() };
    store.register_lane(told.clone(), affinity).await?;
    let hook = document(WEBHOOK_KIND, "hook", "{}");
    assert!(store.write_document(hook, WriteCondition::Absent).await?);
    for lane in [&silent, &told] {
        let epoch = claim_new_lane(&store, lane).await?;
        let waits = run_row(lane.as_str(), RunState::WaitingOnHuman, 4);
        let rows = [vec![run_row(lane.as_str(), RunState::Running, 3)], vec![waits]];
        let rows = rows.into_iter().chain([vec![ended(lane.as_str())]]);
        for (head, rows) in (0..).zip(rows) {
            store.append(step(lane, epoch, head, rows)).await?;
        }
        let late = store.append(step(lane, epoch, 0, vec![ended("late")])).await;
        assert!(matches!(late, Err(StoreError::Fenced { .. })), "{late:?}");
    }
    let found = store.list_documents(query(RUN_CHANGE_KIND, DocumentFilter::All)).await?;
    let states: Vec<bool> = found.iter().map(|it| it.body.contains("\"failed\"")).collect();
    assert_eq!(states.len(), 2, "{found:?}");
    assert_eq!(states.iter().filter(|failed| **failed).count(), 1, "{found:?}");
    assert!(found.iter().all(|it| &*it.tenant == "t" && it.body.contains("\"conversation:told\"")));
    Ok(())
}
