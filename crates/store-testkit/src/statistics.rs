//! Conformance cases: shared spending, statistics and worker events.

use std::sync::Arc;

use windlass_core::budget::spending::Spending;
use windlass_core::log::ids::{RunId, UnixMillis};
use windlass_core::message::raw_json::RawJson;
use windlass_core::projection::{EventRow, Row, ToolResultRow};
use windlass_runtime::ports::{
    AppendRequest, EventCount, RetentionCutoffs, SpendingAccount, SpendingChange, StoreError,
    ToolStats, WorkerEvent, WorkerEventPage,
};

use crate::fixtures::{CaseResult, TestStore, append, claim_new_lane, entries, lane, worker};

fn account(profile: &str, period: &str) -> SpendingAccount {
    SpendingAccount { profile: profile.into(), period: period.into() }
}

fn spending(epoch: u64, head: u64, name: &str, tokens: i64, usd_micros: i64) -> AppendRequest {
    let account = account("careful", "2026-11");
    let step = append(&lane(name), epoch, head, entries(name, head + 1, head + 1));
    AppendRequest { spending: Some(SpendingChange { account, tokens, usd_micros }), ..step }
}

/// Several lanes add to one account; reservations are returned, and never more than was reserved.
pub async fn spending_adds_up(store: TestStore) -> CaseResult {
    let (a, b) =
        (claim_new_lane(&store, &lane("a")).await?, claim_new_lane(&store, &lane("b")).await?);
    store.append(spending(a, 0, "a", 1_000, 70)).await?;
    store.append(spending(b, 0, "b", 500, 30)).await?;
    store.append(spending(a, 1, "a", -900, -60)).await?;
    let now = store.spending(account("careful", "2026-11")).await?;
    assert_eq!(now, Spending { tokens: 600, usd_micros: 40 });
    store.append(spending(b, 1, "b", -5_000, -5_000)).await?;
    assert_eq!(store.spending(account("careful", "2026-11")).await?, Spending::default());
    for other in [account("careful", "2026-12"), account("other", "2026-11")] {
        assert_eq!(store.spending(other).await?, Spending::default());
    }
    // Extreme amounts do not overflow.
    for head in 2..12 {
        store.append(spending(a, head, "a", 1 << 50, i64::MAX >> 2)).await?;
    }
    assert!(store.spending(account("careful", "2026-11")).await?.tokens >= 10 << 50);
    Ok(())
}

/// A fenced append adds no spending.
pub async fn a_fenced_append_spends_nothing(store: TestStore) -> CaseResult {
    let epoch = claim_new_lane(&store, &lane("a")).await?;
    let refused = store.append(spending(epoch + 1, 0, "a", 1_000, 70)).await;
    assert!(matches!(refused, Err(StoreError::Fenced { .. })), "{refused:?}");
    assert_eq!(store.spending(account("careful", "2026-11")).await?, Spending::default());
    Ok(())
}

/// Concurrent additions to an account sum up.
pub async fn spending_of_many_at_once(store: TestStore) -> CaseResult {
    let mut tasks = Vec::new();
    for nth in 0..16 {
        let (store, name) = (store.clone(), format!("lane{nth}"));
        tasks.push(tokio::spawn(async move {
            let epoch = claim_new_lane(&store, &lane(&name)).await?;
            for head in 0..10 {
                store.append(spending(epoch, head, &name, 7, 3)).await?;
            }
            Ok::<_, StoreError>(())
        }));
    }
    for task in tasks {
        let ended = task.await;
        assert!(matches!(ended, Ok(Ok(()))), "{ended:?}");
    }
    let now = store.spending(account("careful", "2026-11")).await?;
    assert_eq!(now, Spending { tokens: 16 * 10 * 7, usd_micros: 16 * 10 * 3 });
    Ok(())
}

fn result(call: &str, tool: &str, attempts: u32, at: u64, outcome: Option<&str>) -> Row {
    Row::ToolResult(ToolResultRow {
        run: RunId::from_name("r"),
        tool_call_id: call.into(),
        call: call.to_owned(),
        tool: tool.into(),
        started_at: Some(UnixMillis(at)),
        completed_at: outcome.map(|_| UnixMillis(at + 1)),
        outcome: outcome.map(str::to_owned),
        attempts,
        result_seq: outcome.map(|_| 1),
    })
}

/// Each tool call counts once, with all its attempts; one that never ran does not count.
pub async fn tools_are_counted(store: TestStore) -> CaseResult {
    let epoch = claim_new_lane(&store, &lane("a")).await?;
    let rows = vec![
        result("1.0", "Fetch", 1, 100, None),
        result("1.0", "Fetch", 3, 100, Some("done")),
        result("1.1", "Fetch", 1, 200, Some("failed")),
        result("1.2", "Bash", 1, 300, None),
        result("1.3", "Bash", 0, 300, Some("denied")),
    ];
    let step = append(&lane("a"), epoch, 0, entries("a", 1, 1));
    store.append(AppendRequest { rows, ..step }).await?;
    let stats = |tool: &str, calls, attempts, retried, failed| ToolStats {
        tool: tool.into(),
        calls,
        attempts,
        retried,
        failed,
    };
    let all = store.tool_stats(UnixMillis(0)).await?;
    assert_eq!(all, [stats("Bash", 1, 1, 0, 0), stats("Fetch", 2, 4, 1, 1)]);
    let recent = store.tool_stats(UnixMillis(201)).await?;
    assert_eq!(recent, [stats("Bash", 1, 1, 0, 0), stats("Fetch", 1, 1, 0, 1)]);
    Ok(())
}

/// Events are counted by agent, profile and name.
pub async fn events_are_counted(store: TestStore) -> CaseResult {
    let epoch = claim_new_lane(&store, &lane("a")).await?;
    let event = |agent: &str, name: &'static str, at, fields: &str| {
        Row::Event(EventRow {
            run: None,
            agent: agent.into(),
            profile: "careful".into(),
            seq: 1,
            at: UnixMillis(at),
            name,
            fields: RawJson::parse(fields).unwrap_or_else(|_| RawJson::encode(&())),
        })
    };
    let calm = r#"{"level":"calm","escalated":false}"#;
    let rows = vec![
        event("scout", "agent.loop.detected", 1, "{}"),
        event("scout", "agent.loop.detected", 2, r#"{"level":"nudge","escalated":true}"#),
        event("scout", "agent_run.started", 2, "{}"),
        event("helper", "agent.loop.detected", 3, calm),
    ];
    let step = append(&lane("a"), epoch, 0, entries("a", 1, 1));
    store.append(AppendRequest { rows, ..step }).await?;
    let count = |agent: &str, name: &str, count, escalated| EventCount {
        agent: agent.into(),
        profile: "careful".into(),
        name: name.into(),
        count,
        escalated,
    };
    assert_eq!(
        store.event_counts(UnixMillis(2)).await?,
        [
            count("helper", "agent.loop.detected", 1, 0),
            count("scout", "agent.loop.detected", 1, 1),
            count("scout", "agent_run.started", 1, 1)
        ]
    );
    assert_eq!(store.event_counts(UnixMillis(0)).await?.len(), 3);
    Ok(())
}

/// Worker events are returned unchanged, the newest ones, and are deleted by retention.
pub async fn workers_tell_events(store: TestStore) -> CaseResult {
    let event = |at: u64| WorkerEvent {
        at: UnixMillis(at),
        worker: worker("w"),
        lane: at.is_multiple_of(2).then(|| lane("a")),
        name: Arc::from("agent_run.reconcile"),
        fields: RawJson::encode(&at),
    };
    for at in 1..=5 {
        store.record_worker_event(event(at)).await?;
    }
    let read = async |page, most| -> Result<(Vec<u64>, Vec<WorkerEvent>), StoreError> {
        let found = store.worker_events(page, most).await?;
        Ok(found.into_iter().map(|known| (known.no, known.event)).unzip())
    };
    assert_eq!(read(WorkerEventPage::Newest, 2).await?.1, [event(4), event(5)]);
    let (numbers, all) = read(WorkerEventPage::Newest, 9).await?;
    assert_eq!(all.len(), 5);
    assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
    // A follower reads on after the last number it saw, oldest first.
    let after = WorkerEventPage::After(numbers.get(1).copied().unwrap_or_default());
    assert_eq!(read(after, 2).await?.1, [event(3), event(4)]);
    assert_eq!(read(after, 9).await?.1, [event(3), event(4), event(5)]);
    let last = WorkerEventPage::After(numbers.last().copied().unwrap_or_default());
    assert_eq!(read(last, 9).await?.1, []);
    let old = RetentionCutoffs { raw_before: UnixMillis(0), trace_before: UnixMillis(3), limit: 9 };
    assert_eq!(store.forget_old_rows(old).await?.events, 2);
    assert_eq!(read(WorkerEventPage::Newest, 9).await?.1, [event(3), event(4), event(5)]);
    Ok(())
}
