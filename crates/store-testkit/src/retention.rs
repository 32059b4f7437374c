//! Conformance cases: retention deletes rows that are too old, but no logs and no runs.

use windlass_core::log::ids::{RunId, UnixMillis};
use windlass_core::message::raw_json::RawJson;
use windlass_core::projection::{EventRow, RawRow, Row, TraceRow};
use windlass_core::stop::{RunState, StopCause};
use windlass_runtime::ports::{AppendRequest, DeletedRows, RetentionCutoffs, StoreError};

use crate::fixtures::{
    CaseResult, TestStore, append, claim_new_lane, entries, lane, read_whole_log, run_row,
    trace_row,
};

/// Returns an append with every kind of row that an iteration writes, all at time `at`.
fn round(epoch: u64, head: u64, run: &str, at: u64) -> AppendRequest {
    let at = UnixMillis(at);
    let trace = match trace_row(run, 1, "end_turn") {
        Row::Trace(row) => Row::Trace(TraceRow { at, ..row }),
        other => other,
    };
    let ended = match run_row(run, RunState::Completed, at.0) {
        Row::Run(mut row) => {
            row.cause = Some(StopCause::EndTurn);
            Row::Run(row)
        }
        other => other,
    };
    let (name, seq, run) = ("agent_run.completed", head + 1, Some(RunId::from_name(run)));
    let event = EventRow {
        run: run.clone(),
        agent: "helper".into(),
        profile: "".into(),
        seq,
        at,
        name,
        fields: RawJson::string("e"),
    };
    let raw =
        RawRow { run, seq, at, body: RawJson::string("r"), response: Some("as received\n".into()) };
    let rows = vec![trace, Row::Event(event), Row::Raw(raw), ended];
    AppendRequest { rows, ..append(&lane("a"), epoch, head, entries("a", head + 1, head + 1)) }
}

fn before(raw: u64, trace: u64, limit: usize) -> RetentionCutoffs {
    RetentionCutoffs { raw_before: UnixMillis(raw), trace_before: UnixMillis(trace), limit }
}

async fn traced_runs(store: &TestStore) -> Result<Vec<RunId>, StoreError> {
    let ends = store.list_trace_ends(UnixMillis(0), 9).await?;
    Ok(ends.into_iter().map(|end| end.run).collect())
}

/// Each kind of row has its own maximum age; what a conversation continues from is kept whole.
pub async fn only_what_is_old(store: TestStore) -> CaseResult {
    let epoch = claim_new_lane(&store, &lane("a")).await?;
    for (head, (run, at)) in (0..).zip([("r1", 10_000), ("r2", 20_000), ("r3", 30_000)]) {
        store.append(round(epoch, head, run, at)).await?;
    }
    let raw = |found: Vec<RawRow>| found.iter().map(|row| row.seq).collect::<Vec<_>>();
    assert_eq!(raw(store.read_raw_responses(lane("a"), 0, 9).await?), [1, 2, 3]);
    assert_eq!(raw(store.read_raw_responses(lane("a"), 1, 1).await?), [2]);
    assert_eq!(raw(store.read_raw_responses(lane("nobody"), 0, 9).await?), [0; 0]);
    assert_eq!(store.forget_old_rows(before(10_000, 10_000, 9)).await?, DeletedRows::default());
    let two = DeletedRows { raw: 2, ..DeletedRows::default() };
    assert_eq!(store.forget_old_rows(before(20_001, 10_000, 9)).await?, two);
    let left = store.read_raw_responses(lane("a"), 0, 9).await?;
    let third = RawRow {
        run: Some(RunId::from_name("r3")),
        seq: 3,
        at: UnixMillis(30_000),
        body: RawJson::string("r"),
        response: Some("as received\n".into()),
    };
    assert_eq!(left, [third]);
    let rest = DeletedRows { raw: 0, trace: 1, events: 1 };
    assert_eq!(store.forget_old_rows(before(20_001, 20_000, 9)).await?, rest);
    assert_eq!(traced_runs(&store).await?, ["r3", "r2"].map(RunId::from_name));
    assert_eq!(read_whole_log(&store, &lane("a")).await?, entries("a", 1, 3));
    assert_eq!(store.list_runs(None, 9).await?.len(), 3);
    store.append(append(&lane("a"), epoch, 3, entries("a", 4, 4))).await
}

/// One call never deletes more rows than the limit, and repeated calls delete all of them.
pub async fn a_piece_at_a_time(store: TestStore) -> CaseResult {
    let epoch = claim_new_lane(&store, &lane("a")).await?;
    for head in 0..5 {
        store.append(round(epoch, head, &format!("r{head}"), 1_000 * (head + 1))).await?;
    }
    let mut raw = Vec::new();
    loop {
        let forgotten = store.forget_old_rows(before(5_000, 5_000, 3)).await?;
        if !forgotten.has_any() {
            break;
        }
        assert_eq!((forgotten.trace, forgotten.events), (forgotten.raw, forgotten.raw));
        raw.push(forgotten.raw);
    }
    assert_eq!(raw, [3, 1]);
    assert_eq!(traced_runs(&store).await?, ["r4"].map(RunId::from_name));
    Ok(())
}
