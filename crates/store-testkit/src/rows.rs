//! Conformance cases: run rows, as the port returns them.

use std::sync::Arc;

use windlass_core::log::ids::{RunId, UnixMillis};
use windlass_core::message::reply::TokenUsage;
use windlass_core::projection::{Row, RunDescription, RunRow, TraceRow};
use windlass_core::stop::{RunState, StopCause};
use windlass_runtime::ports::{AppendRequest, RunTraceEnd, StoreError};

use crate::fixtures::{
    CaseResult, TestStore, append, claim_new_lane, entries, lane, read_head, run_row, trace_row,
};

fn with_rows(name: &str, epoch: u64, head: u64, rows: Vec<Row>) -> AppendRequest {
    AppendRequest { rows, ..append(&lane(name), epoch, head, entries("a", head + 1, head + 1)) }
}

fn ended_run_row(run: &str, at: u64) -> Row {
    match run_row(run, RunState::Completed, at) {
        Row::Run(mut row) => {
            row.cause = Some(StopCause::EndTurn);
            row.other_causes = vec![StopCause::SoftTime];
            row.text = Some("שלום 👋".into());
            Row::Run(row)
        }
        other => other,
    }
}

/// The newest row of a run replaces the earlier ones.
pub async fn run_is_replaced(store: TestStore) -> CaseResult {
    let epoch = claim_new_lane(&store, &lane("a")).await?;
    let states = [RunState::Queued, RunState::Running, RunState::WaitingOnHuman, RunState::Running];
    for (head, state) in (0..).zip(states) {
        store.append(with_rows("a", epoch, head, vec![run_row("r", state, head)])).await?;
        let runs = store.list_runs(Some(lane("a")), 9).await?;
        assert_eq!(runs.iter().map(|run| run.state).collect::<Vec<_>>(), [state]);
    }
    store.append(with_rows("a", epoch, 4, vec![ended_run_row("r", 4)])).await?;
    let runs = store.list_runs(None, 9).await?;
    assert_eq!(runs.len(), 1);
    let run = runs.into_iter().next();
    let known = run.map(|run| (run.lane, run.state, run.cause, run.text, run.at));
    let text = Some("שלום 👋".into());
    let wanted = (lane("a"), RunState::Completed, Some(StopCause::EndTurn), text, UnixMillis(4));
    assert_eq!(known, Some(wanted));
    Ok(())
}

/// A run's description is given by its first rows; a later row without one keeps it.
pub async fn a_run_keeps_its_description(store: TestStore) -> CaseResult {
    let epoch = claim_new_lane(&store, &lane("a")).await?;
    let described = |state, at, usd_micros, description: RunDescription| {
        let mut row = run_row("r", state, at);
        if let Row::Run(run) = &mut row {
            run.description = description;
            run.usd_micros = usd_micros;
        }
        row
    };
    let prompt = Some(Arc::from("fix the tests"));
    let queued = RunDescription { prompt, model: Some("old".into()), ..RunDescription::default() };
    let begun = RunDescription {
        folder: Some("/src".into()),
        agent: Some("default".into()),
        profile: Some("careful".into()),
        model: Some("new".into()),
        ..RunDescription::default()
    };
    let first = vec![
        described(RunState::Queued, 1, None, queued.clone()),
        described(RunState::Running, 1, Some(0), begun.clone()),
    ];
    store.append(with_rows("a", epoch, 0, first)).await?;
    let silent = RunDescription::default();
    let later = described(RunState::Running, 2, Some(7), silent.clone());
    store.append(with_rows("a", epoch, 1, vec![later])).await?;
    let mut last = ended_run_row("r", 3);
    if let Row::Run(run) = &mut last {
        run.usd_micros = Some(1_200);
    }
    store.append(with_rows("a", epoch, 2, vec![trace_row("r", 1, "end_turn"), last])).await?;
    let run = store.list_runs(None, 9).await?.into_iter().next();
    let known = run.map(|run| (run.description, run.usd_micros));
    let whole = RunDescription { prompt: queued.prompt.clone(), ..begun };
    assert_eq!(known, Some((whole, Some(1_200))));
    let end = store.list_trace_ends(UnixMillis(0), 9).await?.into_iter().next();
    let driven = end.map(|end| (end.agent, end.profile, end.model));
    let name = |name: &str| Some(Arc::from(name));
    assert_eq!(driven, Some((name("default"), name("careful"), name("new"))));
    Ok(())
}

/// The store allows one active run per lane.
pub async fn one_active_run(store: TestStore) -> CaseResult {
    let epoch = claim_new_lane(&store, &lane("a")).await?;
    let parked = run_row("r", RunState::WaitingOnHuman, 1);
    store.append(with_rows("a", epoch, 0, vec![parked])).await?;
    let second = run_row("s", RunState::Running, 2);
    let refused = store.append(with_rows("a", epoch, 1, vec![second.clone()])).await;
    assert!(matches!(refused, Err(StoreError::Invalid { .. })), "{refused:?}");
    assert_eq!(read_head(&store, &lane("a")).await?, Some(1));
    assert_eq!(store.list_runs(None, 9).await?.len(), 1);
    let queued = run_row("s", RunState::Queued, 2);
    store.append(with_rows("a", epoch, 1, vec![queued])).await?;

    let other = claim_new_lane(&store, &lane("b")).await?;
    store.append(with_rows("b", other, 0, vec![run_row("t", RunState::Running, 3)])).await?;
    store.append(with_rows("a", epoch, 2, vec![ended_run_row("r", 4)])).await?;
    store.append(with_rows("a", epoch, 3, vec![second])).await
}

/// One run may end and the next start in the same append.
pub async fn next_run_in_one_append(store: TestStore) -> CaseResult {
    let epoch = claim_new_lane(&store, &lane("a")).await?;
    let first = vec![run_row("r", RunState::Running, 1), run_row("s", RunState::Queued, 1)];
    store.append(with_rows("a", epoch, 0, first)).await?;
    let both = vec![ended_run_row("r", 2), run_row("s", RunState::Running, 2)];
    store.append(with_rows("a", epoch, 1, both)).await?;
    let states: Vec<_> = store.list_runs(None, 9).await?.iter().map(|run| run.state).collect();
    assert_eq!(states, [RunState::Running, RunState::Completed]);
    Ok(())
}

/// A run belongs to one lane.
pub async fn run_of_another_lane(store: TestStore) -> CaseResult {
    let (a, b) =
        (claim_new_lane(&store, &lane("a")).await?, claim_new_lane(&store, &lane("b")).await?);
    store.append(with_rows("a", a, 0, vec![ended_run_row("r", 1)])).await?;
    let refused = store.append(with_rows("b", b, 0, vec![ended_run_row("r", 2)])).await;
    assert!(matches!(refused, Err(StoreError::Invalid { .. })), "{refused:?}");
    assert_eq!(store.list_runs(Some(lane("b")), 9).await?, []);
    assert_eq!(read_head(&store, &lane("b")).await?, Some(0));
    Ok(())
}

/// Runs are ordered by their first row.
pub async fn newest_first(store: TestStore) -> CaseResult {
    let (a, b) =
        (claim_new_lane(&store, &lane("a")).await?, claim_new_lane(&store, &lane("b")).await?);
    store.append(with_rows("a", a, 0, vec![ended_run_row("r1", 1)])).await?;
    store.append(with_rows("b", b, 0, vec![ended_run_row("r2", 2)])).await?;
    store.append(with_rows("a", a, 1, vec![ended_run_row("r3", 3)])).await?;
    store.append(with_rows("a", a, 2, vec![ended_run_row("r1", 4)])).await?;
    let ids = async |lane, limit| -> Result<Vec<RunId>, StoreError> {
        let runs = store.list_runs(lane, limit).await?;
        Ok(runs.into_iter().map(|run| run.run).collect())
    };
    let [r1, r2, r3] = ["r1", "r2", "r3"].map(RunId::from_name);
    assert_eq!(ids(None, 9).await?, [r3.clone(), r2.clone(), r1.clone()]);
    assert_eq!(ids(None, 2).await?, [r3.clone(), r2]);
    assert_eq!(ids(Some(lane("a")), 9).await?, [r3, r1]);
    Ok(())
}

/// Trace ends are the last rows of runs that have ended.
pub async fn only_runs_that_are_over_have_ended(store: TestStore) -> CaseResult {
    let (a, b) =
        (claim_new_lane(&store, &lane("a")).await?, claim_new_lane(&store, &lane("b")).await?);
    let rows = |run: &str, last: &str, at| {
        let mut calls = [trace_row(run, 1, "tool_use"), trace_row(run, 2, last)];
        for row in &mut calls {
            if let Row::Trace(row) = row {
                let (input_tokens, output_tokens) = (10, 3);
                let (cache_read_tokens, cache_write_tokens) = (5, 2);
                row.usage = TokenUsage {
                    input_tokens,
                    output_tokens,
                    cache_read_tokens,
                    cache_write_tokens,
                };
            }
        }
        calls.into_iter().chain([ended_run_row(run, at)]).collect()
    };
    store.append(with_rows("a", a, 0, rows("r1", "end_turn", 1))).await?;
    // Two causes to which the trace gives one reason are told apart.
    let mut capped: Vec<Row> = rows("r2", "max_iters", 2);
    for row in &mut capped {
        if let Row::Run(row) = row {
            row.cause = Some(StopCause::MaxModelCalls);
        }
    }
    store.append(with_rows("a", a, 1, capped)).await?;
    let goes_on = vec![trace_row("r3", 1, "end_turn"), run_row("r3", RunState::Running, 3)];
    store.append(with_rows("b", b, 0, goes_on)).await?;
    store.append(with_rows("a", a, 2, vec![ended_run_row("cancelled in the queue", 4)])).await?;
    let end = |run: &str, cause: &str, at| RunTraceEnd {
        run: RunId::from_name(run),
        iterations: 2,
        cause: cause.into(),
        at: UnixMillis(at),
        agent: None,
        profile: None,
        model: None,
        input_tokens: 34,
        cached_tokens: 10,
        output_tokens: 6,
    };
    let (answered, capped) = (end("r1", "end_turn", 1), end("r2", "max_model_calls", 2));
    assert_eq!(store.list_trace_ends(UnixMillis(0), 9).await?, [capped.clone(), answered]);
    assert_eq!(store.list_trace_ends(UnixMillis(2), 9).await?, std::slice::from_ref(&capped));
    assert_eq!(store.list_trace_ends(UnixMillis(0), 1).await?, [capped]);
    Ok(())
}

/// Run ids are UUIDs: any other id is rejected, and nothing of its append is written.
pub async fn a_run_is_named_by_a_uuid(store: TestStore) -> CaseResult {
    let epoch = claim_new_lane(&store, &lane("a")).await?;
    for row in [run_row("r", RunState::Running, 1), trace_row("r", 1, "end_turn")] {
        let named = match row {
            Row::Run(row) => Row::Run(RunRow { run: RunId::from("run-1"), ..row }),
            Row::Trace(row) => Row::Trace(TraceRow { run: RunId::from("run-1"), ..row }),
            other => other,
        };
        let refused = store.append(with_rows("a", epoch, 0, vec![named])).await;
        assert!(matches!(refused, Err(StoreError::Invalid { .. })), "{refused:?}");
    }
    assert_eq!(read_head(&store, &lane("a")).await?, Some(0));
    Ok(())
}
