//! Rows that are too old are forgotten; logs and runs are not.

use windlass_core::ids::{Millis, RunId};
use windlass_core::project::{EventRow, RawRow, Row, TraceRow};
use windlass_core::raw::Raw;
use windlass_core::stop::{RunState, StopCause};
use windlass_runtime::ports::{Append, Forget, Forgotten, StoreError};

use super::material::{Subject, Verdict, append, entries, lane, log, owned, run_row, trace_row};

/// Everything that a round leaves, at a time of its own.
fn round(epoch: u64, head: u64, run: &str, at: u64) -> Append {
    let at = Millis(at);
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
    let (name, seq, run) = ("agent_run.completed", head + 1, Some(RunId::derived(run)));
    let event = EventRow {
        run: run.clone(),
        agent: "helper".into(),
        profile: "".into(),
        seq,
        at,
        name,
        fields: Raw::string("e"),
    };
    let raw = RawRow { run, seq, at, body: Raw::string("r") };
    let rows = vec![trace, Row::Event(event), Row::Raw(raw), ended];
    Append { rows, ..append(&lane("a"), epoch, head, entries("a", head + 1, head + 1)) }
}

fn before(raw: u64, trace: u64, most: usize) -> Forget {
    Forget { raw_before: Millis(raw), trace_before: Millis(trace), most }
}

async fn traced(store: &Subject) -> Result<Vec<RunId>, StoreError> {
    let ends = store.trace_ends(Millis(0), 9).await?;
    Ok(ends.into_iter().map(|end| end.run).collect())
}

/// Each kind by an age of its own; what a conversation goes on from stays whole.
pub async fn only_what_is_old(store: Subject) -> Verdict {
    let epoch = owned(&store, &lane("a")).await?;
    for (head, (run, at)) in (0..).zip([("r1", 10_000), ("r2", 20_000), ("r3", 30_000)]) {
        store.append(round(epoch, head, run, at)).await?;
    }
    let raw = |found: Vec<RawRow>| found.iter().map(|row| row.seq).collect::<Vec<_>>();
    assert_eq!(raw(store.raw_responses(lane("a"), 0, 9).await?), [1, 2, 3]);
    assert_eq!(raw(store.raw_responses(lane("a"), 1, 1).await?), [2]);
    assert_eq!(raw(store.raw_responses(lane("nobody"), 0, 9).await?), [0; 0]);
    assert_eq!(store.forget(before(10_000, 10_000, 9)).await?, Forgotten::default());
    let two = Forgotten { raw: 2, ..Forgotten::default() };
    assert_eq!(store.forget(before(20_001, 10_000, 9)).await?, two);
    let left = store.raw_responses(lane("a"), 0, 9).await?;
    let third = RawRow {
        run: Some(RunId::derived("r3")),
        seq: 3,
        at: Millis(30_000),
        body: Raw::string("r"),
    };
    assert_eq!(left, [third]);
    let rest = Forgotten { raw: 0, trace: 1, events: 1 };
    assert_eq!(store.forget(before(20_001, 20_000, 9)).await?, rest);
    assert_eq!(traced(&store).await?, ["r3", "r2"].map(RunId::derived));
    assert_eq!(log(&store, &lane("a")).await?, entries("a", 1, 3));
    assert_eq!(store.runs(None, 9).await?.len(), 3);
    store.append(append(&lane("a"), epoch, 3, entries("a", 4, 4))).await
}

/// Never more at once than was asked for, and all of it in the end.
pub async fn a_piece_at_a_time(store: Subject) -> Verdict {
    let epoch = owned(&store, &lane("a")).await?;
    for head in 0..5 {
        store.append(round(epoch, head, &format!("r{head}"), 1_000 * (head + 1))).await?;
    }
    let mut raw = Vec::new();
    loop {
        let forgotten = store.forget(before(5_000, 5_000, 3)).await?;
        if !forgotten.any() {
            break;
        }
        assert_eq!((forgotten.trace, forgotten.events), (forgotten.raw, forgotten.raw));
        raw.push(forgotten.raw);
    }
    assert_eq!(raw, [3, 1]);
    assert_eq!(traced(&store).await?, ["r4"].map(RunId::derived));
    Ok(())
}
