//! What dead owners left.

use windlass_core::ids::{Millis, RunId};
use windlass_core::project::{CheckpointKind, CheckpointRow, Row};
use windlass_core::settings::ResumePolicy;
use windlass_core::stop::RunState;
use windlass_runtime::ports::{
    Left, Look, Reach, Reconcile, Resume, RunInfo, SeenBeat, StoreError,
};

use super::material::{Subject, Verdict, append, by, entries, lane, note, owned, run_row, worker};

fn pass(beats: u64, resume: Resume) -> Reconcile {
    let dead = vec![SeenBeat { worker: worker("w"), beats }];
    Reconcile { dead, resume, most: 10 }
}

fn checkpoint(run: &str, kind: CheckpointKind) -> Row {
    Row::Checkpoint(CheckpointRow {
        run: RunId::derived(run),
        seq: 1,
        kind,
        iteration: 1,
        message_cursor: 1,
        persisted_messages: 1,
        prompt_hash: None,
        completed_calls: Vec::new(),
    })
}

/// A lane of worker `w` that is due, with a run in this state whose last checkpoint is this.
async fn left_with(
    store: &Subject,
    name: &str,
    state: RunState,
    kind: Option<CheckpointKind>,
) -> Verdict {
    let lane = lane(name);
    let epoch = owned(store, &lane).await?;
    let mail: Vec<_> = store.read_mail(lane.clone(), 9).await?.iter().map(|m| m.id).collect();
    let mut step = append(&lane, epoch, 0, entries(name, 1, 1));
    step.mail_read = mail;
    step.wake_at = Some(Millis(0));
    step.active_run = Some(RunId::derived(name));
    step.rows = vec![run_row(name, state, 1)];
    step.rows.extend(kind.map(|kind| checkpoint(name, kind)));
    store.append(step).await
}

async fn run(store: &Subject, name: &str) -> Result<Option<RunInfo>, StoreError> {
    Ok(store.runs(Some(lane(name)), 1).await?.pop())
}

/// How many lanes a look takes.
async fn taken(store: &Subject) -> Result<usize, StoreError> {
    let look = Look { now: Millis(9), most: 10, reach: Reach::default(), except: Vec::new() };
    Ok(store.claim_wanting(worker("v"), look).await?.len())
}

/// A run at work is timed out; whether it can be resumed is what its last checkpoint says.
pub async fn checkpoints_decide(store: Subject) -> Verdict {
    use CheckpointKind as Kind;
    store.beat(worker("w")).await?;
    let kinds = [Kind::Input, Kind::LlmResponse, Kind::ToolResult, Kind::JournalUpdate];
    let can = kinds.into_iter().chain([Kind::Compaction]).map(|kind| (Some(kind), true));
    let cannot = [Some(Kind::HumanPause), Some(Kind::Final), None].map(|kind| (kind, false));
    let all: Vec<_> = can.chain(cannot).collect();
    for (nth, (kind, _)) in all.iter().enumerate() {
        left_with(&store, &format!("run {nth}"), RunState::Running, *kind).await?;
    }
    let left = store.reconcile(pass(1, Resume::AtOnce)).await?;
    assert_eq!(left.len(), all.len());
    for (nth, (kind, resumable)) in all.into_iter().enumerate() {
        let name = format!("run {nth}");
        let timed_out = Some(RunId::derived(&name));
        let want = Left { lane: lane(&name), timed_out, resume_available: resumable };
        assert!(left.contains(&want), "{kind:?}: {left:?}");
        let info = run(&store, &name).await?;
        let seen = info.map(|run| (run.state, run.resume_available));
        assert_eq!(seen, Some((RunState::TimedOut, resumable)), "{kind:?}");
    }
    Ok(())
}

/// The dead are fenced, and their lanes can be claimed by anybody; then the run is at work again.
pub async fn left_lanes_go_on(store: Subject) -> Verdict {
    store.beat(worker("w")).await?;
    left_with(&store, "a", RunState::Running, Some(CheckpointKind::Input)).await?;
    assert_eq!(store.owners().await?, pass(1, Resume::AtOnce).dead);
    assert_eq!(taken(&store).await?, 0);
    store.reconcile(pass(1, Resume::AtOnce)).await?;
    let late = append(&lane("a"), 1, 1, entries("late", 2, 2));
    assert!(matches!(store.append(late).await, Err(StoreError::Fenced { .. })));
    assert_eq!(taken(&store).await?, 1);
    let mut on = by("v", append(&lane("a"), 3, 1, entries("a", 2, 2)));
    on.rows = vec![run_row("a", RunState::Running, 2)];
    store.append(on).await?;
    let seen = run(&store, "a").await?.map(|run| (run.state, run.resume_available));
    assert_eq!(seen, Some((RunState::Running, false)));
    Ok(())
}

/// Where resuming is only offered, nobody takes the run up by himself.
pub async fn offered_runs_wait(store: Subject) -> Verdict {
    store.beat(worker("w")).await?;
    left_with(&store, "a", RunState::Running, Some(CheckpointKind::Input)).await?;
    store.reconcile(pass(1, Resume::Offered)).await?;
    assert_eq!(taken(&store).await?, 0);
    assert_eq!(run(&store, "a").await?.map(|run| run.resume_available), Some(true));
    Ok(())
}

/// Unless a worker says otherwise, each run is judged by the policy that it was begun with.
pub async fn each_run_has_its_own_policy(store: Subject) -> Verdict {
    store.beat(worker("w")).await?;
    for (name, policy) in [("a", ResumePolicy::Manual), ("b", ResumePolicy::Automatic)] {
        let lane = lane(name);
        let epoch = owned(&store, &lane).await?;
        let mut step = append(&lane, epoch, 0, entries(name, 1, 1));
        step.mail_read = store.read_mail(lane.clone(), 9).await?.iter().map(|m| m.id).collect();
        (step.wake_at, step.active_run) = (Some(Millis(0)), Some(RunId::derived(name)));
        step.rows =
            vec![run_row(name, RunState::Running, 1), checkpoint(name, CheckpointKind::Input)];
        if let Some(Row::Run(row)) = step.rows.first_mut() {
            row.description.resume = Some(policy);
        }
        store.append(step).await?;
        // What later rows do not say stays as it was.
        let mut on = append(&lane, epoch, 1, entries(name, 2, 2));
        (on.wake_at, on.active_run) = (Some(Millis(0)), Some(RunId::derived(name)));
        on.rows = vec![run_row(name, RunState::Running, 2)];
        store.append(on).await?;
        let kept = run(&store, name).await?.and_then(|run| run.description.resume);
        assert_eq!(kept, Some(policy));
    }
    store.reconcile(pass(1, Resume::AsRecorded)).await?;
    let look = Look { now: Millis(9), most: 10, reach: Reach::default(), except: Vec::new() };
    let taken = store.claim_wanting(worker("v"), look).await?;
    let taken: Vec<_> = taken.into_iter().map(|(lane, _)| lane).collect();
    assert_eq!(taken, [lane("b")]);
    assert_eq!(run(&store, "a").await?.map(|run| run.resume_available), Some(true));
    Ok(())
}

/// A person who wants such a run to go on makes it due.
pub async fn a_woken_run_is_due(store: Subject) -> Verdict {
    store.beat(worker("w")).await?;
    left_with(&store, "a", RunState::Running, Some(CheckpointKind::Input)).await?;
    store.reconcile(pass(1, Resume::Offered)).await?;
    assert!(store.wake(lane("a")).await?);
    assert_eq!(taken(&store).await?, 1);
    store.deliver(lane("idle"), note("k")).await?;
    assert!(!store.wake(lane("idle")).await?, "nothing is unfinished there");
    assert!(!store.wake(lane("nowhere")).await?);
    Ok(())
}

/// A run whose last checkpoint is not one to go on from is not taken up by itself.
pub async fn what_cannot_go_on_waits_for_a_person(store: Subject) -> Verdict {
    store.beat(worker("w")).await?;
    left_with(&store, "a", RunState::Running, Some(CheckpointKind::HumanPause)).await?;
    left_with(&store, "b", RunState::Running, None).await?;
    store.reconcile(pass(1, Resume::AtOnce)).await?;
    assert_eq!(taken(&store).await?, 0);
    assert_eq!(run(&store, "a").await?.map(|run| run.resume_available), Some(false));
    Ok(())
}

/// Whoever beats keeps everything, and a run that waits for a human goes on waiting.
pub async fn the_living_and_the_waiting(store: Subject) -> Verdict {
    store.beat(worker("w")).await?;
    let pause = Some(CheckpointKind::HumanPause);
    left_with(&store, "a", RunState::WaitingOnHuman, pause).await?;
    store.beat(worker("w")).await?;
    assert_eq!(store.reconcile(pass(1, Resume::AtOnce)).await?, []);
    let left = store.reconcile(pass(2, Resume::AtOnce)).await?;
    let free = Left { lane: lane("a"), timed_out: None, resume_available: false };
    assert_eq!(left, [free]);
    assert_eq!(run(&store, "a").await?.map(|run| run.state), Some(RunState::WaitingOnHuman));
    Ok(())
}
