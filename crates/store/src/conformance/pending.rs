//! What lists show before anybody has read it: prompts, cancels, and which workers could.

use std::collections::BTreeSet;
use std::sync::Arc;

use windlass_core::ids::RunId;
use windlass_core::mail::MailBody;
use windlass_core::project::Row;
use windlass_core::stop::RunState;
use windlass_runtime::ports::{Append, Letter, ServedWorkspace, StoreError, Whose};

use super::material::{Subject, Verdict, append, entries, lane, letter, owned, run_row, worker};

fn cancel(key: &str, run: Option<&str>) -> Letter {
    let body = MailBody::Cancel { run: run.map(RunId::derived) };
    Letter { key: Arc::from(key), body }
}

/// A prompt is listed from the moment it was accepted, and once.
pub async fn a_prompt_is_a_queued_run(store: Subject) -> Verdict {
    let whose = Whose { agent: "a".into(), folder: "/w".into(), ..Whose::default() };
    store.introduce(lane("x"), whose).await?;
    store.deliver(lane("x"), letter("hello there")).await?;
    for of in [None, Some(lane("x"))] {
        let runs = store.runs(of, 9).await?;
        assert_eq!(runs.len(), 1, "{runs:?}");
        let Some(run) = runs.first() else { continue };
        assert_eq!((run.state, &run.lane), (RunState::Queued, &lane("x")));
        assert_eq!(run.description.prompt.as_deref(), Some("hello there"));
        assert_eq!(run.description.folder.as_deref(), Some("/w"));
        assert_eq!((run.cause, run.cancel_requested), (None, false));
    }
    assert_eq!(store.runs(Some(lane("y")), 9).await?, []);
    let epoch = store.claim(lane("x"), worker("w"), None).await?.epoch;
    let rows = vec![run_row("hello there", RunState::Running, 1)];
    let read = append(&lane("x"), epoch, 0, entries("x", 1, 1));
    store.append(Append { mail_read: vec![1], rows, ..read }).await?;
    let states: Vec<_> = store.runs(None, 9).await?.iter().map(|run| run.state).collect();
    assert_eq!(states, [RunState::Running]);
    Ok(())
}

/// A cancel counts for the run it names from the moment it was accepted; one that names none counts
/// for the active run.
pub async fn a_cancel_that_waits_is_seen(store: Subject) -> Verdict {
    let epoch = owned(&store, &lane("x")).await?;
    let rows = vec![run_row("active", RunState::Running, 1)];
    store.append(Append { rows, ..append(&lane("x"), epoch, 0, entries("x", 1, 1)) }).await?;
    store.deliver(lane("x"), letter("one")).await?;
    store.deliver(lane("x"), letter("two")).await?;
    store.deliver(lane("x"), cancel("c", Some("one"))).await?;
    assert_eq!(cancelled(&store).await?, ids(&["one"]));
    store.deliver(lane("x"), cancel("d", None)).await?;
    assert_eq!(cancelled(&store).await?, ids(&["active", "one"]));
    Ok(())
}

fn ids(names: &[&str]) -> BTreeSet<RunId> {
    names.iter().map(|name| RunId::derived(name)).collect()
}

async fn cancelled(store: &Subject) -> Result<BTreeSet<RunId>, StoreError> {
    let runs = store.runs(None, 9).await?;
    Ok(runs.into_iter().filter(|run| run.cancel_requested).map(|run| run.run).collect())
}

/// Once a run was asked to end, its row says so for ever.
pub async fn a_cancel_stays_seen(store: Subject) -> Verdict {
    let epoch = owned(&store, &lane("x")).await?;
    for (head, asked) in [(0, true), (1, false)] {
        let row = match run_row("r", RunState::Running, head) {
            Row::Run(mut row) => {
                row.cancel_requested = asked;
                Row::Run(row)
            }
            other => other,
        };
        let step = append(&lane("x"), epoch, head, entries("x", head + 1, head + 1));
        store.append(Append { rows: vec![row], ..step }).await?;
        assert_eq!(cancelled(&store).await?, ids(&["r"]));
    }
    Ok(())
}

/// A process that announces nothing is no worker.
pub async fn workers_say_what_they_serve(store: Subject) -> Verdict {
    let served = vec![ServedWorkspace { id: "i".into(), host: "h".into(), path: "/w".into() }];
    store.beat(worker("session")).await?;
    store.beat(worker("w")).await?;
    store.announce(worker("w"), served.clone()).await?;
    let workers = store.workers().await?;
    let found: Vec<_> = workers.iter().map(|found| (&*found.worker, &found.workspaces)).collect();
    assert_eq!(found, [("w", &served)]);
    assert!(workers.iter().all(|found| found.silent_ms < 60_000), "{workers:?}");
    Ok(())
}

/// A lane without a workspace takes the first that is given, and keeps it.
pub async fn a_workspace_is_given_once(store: Subject) -> Verdict {
    let whose =
        |place: &str| Whose { affinity: place.into(), folder: place.into(), ..Whose::default() };
    for (given, want) in [("", ""), ("here", "here"), ("there", "here"), ("", "here")] {
        store.introduce(lane("x"), whose(given)).await?;
        let found = store.lane(lane("x")).await?.map(|lane| lane.whose).unwrap_or_default();
        assert_eq!((&*found.affinity, &*found.folder), (want, want));
    }
    assert_eq!(&*store.claim(lane("x"), worker("w"), None).await?.affinity, "here");
    Ok(())
}
