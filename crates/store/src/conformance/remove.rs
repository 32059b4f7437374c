//! Removing lanes.

use std::sync::Arc;

use windlass_core::ids::{LaneId, RunId};
use windlass_core::project::Row;
use windlass_core::stop::{RunState, StopCause};
use windlass_runtime::ports::{Append, StoreError};

use super::material::{
    Subject, Verdict, append, entries, entry, lane, letter, log, note, owned, run_row, trace_row,
    worker,
};

/// A lane with a run that is over, which nobody owns.
async fn over(store: &Subject, lane: &LaneId, run: &str) -> Verdict {
    let epoch = owned(store, lane).await?;
    let row = match run_row(run, RunState::Completed, 1) {
        Row::Run(mut row) => {
            row.cause = Some(StopCause::EndTurn);
            Row::Run(row)
        }
        other => other,
    };
    let rows = vec![row, trace_row(run, 1, "end_turn")];
    let step = append(lane, epoch, 0, entries(run, 1, 2));
    store.append(Append { rows, mail_read: vec![1], ..step }).await?;
    store.release(lane.clone(), worker("w"), epoch).await
}

/// Nothing is left, other lanes are as they were, and the name can be used again.
pub async fn everything_goes(store: Subject) -> Verdict {
    over(&store, &lane("a"), "ra").await?;
    over(&store, &lane("ab"), "rb").await?;
    let removed = store.remove(lane("a")).await?;
    assert_eq!((removed.lanes, removed.entries), (vec![lane("a")], 2));
    assert_eq!(store.lane(lane("a")).await?, None);
    assert!(matches!(store.read_log(lane("a"), 0, 9).await, Err(StoreError::NoLane { .. })));
    let runs = store.runs(None, 9).await?;
    assert_eq!(runs.iter().map(|run| run.run.clone()).collect::<Vec<_>>(), [RunId::derived("rb")]);
    assert_eq!(log(&store, &lane("ab")).await?.len(), 2);
    over(&store, &lane("a"), "ra").await?;
    assert_eq!(log(&store, &lane("a")).await?.len(), 2);
    Ok(())
}

/// A lane that somebody owns, whose run is not over, or that has a prompt, stays.
pub async fn not_while_it_runs(store: Subject) -> Verdict {
    let epoch = owned(&store, &lane("a")).await?;
    assert!(matches!(store.remove(lane("a")).await, Err(StoreError::Busy { .. })));
    let step = append(&lane("a"), epoch, 0, entries("a", 1, 1));
    store.append(Append { active_run: Some(RunId::derived("r")), ..step }).await?;
    store.release(lane("a"), worker("w"), epoch).await?;
    assert!(matches!(store.remove(lane("a")).await, Err(StoreError::Invalid { .. })));
    store.deliver(lane("b"), letter("p")).await?;
    assert!(matches!(store.remove(lane("b")).await, Err(StoreError::Invalid { .. })));
    assert_eq!(log(&store, &lane("a")).await?.len(), 1);
    Ok(())
}

/// The history of a fork begins in its parent.
pub async fn not_before_its_forks(store: Subject) -> Verdict {
    over(&store, &lane("a"), "r").await?;
    store.fork(lane("a"), 1, lane("copy")).await?;
    assert!(matches!(store.remove(lane("a")).await, Err(StoreError::Invalid { .. })));
    assert_eq!(log(&store, &lane("copy")).await?.len(), 1);
    store.remove(lane("copy")).await?;
    store.remove(lane("a")).await?;
    Ok(())
}

/// The lanes of sub-agents go with it, and names that only begin alike stay.
pub async fn sub_agents_go_along(store: Subject) -> Verdict {
    let named = |rest: &str| LaneId::from(format!("conversation:a{rest}"));
    for rest in ["", "/1.0-0", "/1.0-0/3.1-2", "/notes", "/1.0-0x", "b"] {
        over(&store, &named(rest), &format!("r{rest}")).await?;
    }
    let mut removed = store.remove(lane("a")).await?.lanes;
    removed.sort();
    assert_eq!(removed, [named(""), named("/1.0-0"), named("/1.0-0/3.1-2")]);
    for rest in ["/notes", "/1.0-0x", "b"] {
        assert!(store.lane(named(rest)).await?.is_some(), "{rest}");
    }
    Ok(())
}

/// A large body that another lane has too is kept for it.
pub async fn shared_bodies_stay(store: Subject) -> Verdict {
    let line: Arc<str> = Arc::from(format!("{{\"x\":\"{}\"}}", "y".repeat(100_000)));
    for name in ["a", "b"] {
        store.deliver(lane(name), note("k")).await?;
        let epoch = store.claim(lane(name), worker("w"), None).await?.epoch;
        let one = vec![entry(1, &line)];
        store.append(append(&lane(name), epoch, 0, one)).await?;
        store.release(lane(name), worker("w"), epoch).await?;
    }
    store.remove(lane("a")).await?;
    assert_eq!(log(&store, &lane("b")).await?.first().map(|e| e.line.clone()), Some(line.clone()));
    store.remove(lane("b")).await?;
    Ok(())
}

/// What is not there cannot be removed.
pub async fn unknown_lane_cannot_be_removed(store: Subject) -> Verdict {
    assert!(matches!(store.remove(lane("a")).await, Err(StoreError::NoLane { .. })));
    Ok(())
}
