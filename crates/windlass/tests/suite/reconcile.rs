//! What a dead process abandons, and which process resumes it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;
use tracing::field::{Field, Visit};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use windlass::WorkerSettings;
use windlass::core::log::ids::{LaneId, UnixMillis};
use windlass::core::stop::RunState;
use windlass::ports::{ResumeOverride, RunInfo, Store, WorkerEventPage};
use windlass::sqlite::SqliteStore;

use crate::kit::{ProbeTool, pause, wait_until, with_subscriber};
use crate::workers::{TIMES, on, process, send};

/// A lane whose owner died while its tool hung.
fn abandon_run(path: &Path, outside: &SqliteStore) {
    let hung = ProbeTool::read("Look").with_gate(&Arc::new(Notify::new()));
    let dying = process();
    dying.block_on(async {
        let w = on(path, &hung).await;
        tokio::spawn(async move { w.run_worker_with(TIMES).await });
        send(outside, "lane").await;
        wait_until("it hangs", || hung.run_count() == 1).await;
    });
    dying.shutdown_background();
}

async fn run(store: &dyn Store) -> RunInfo {
    store.list_runs(Some(LaneId::from("lane")), 1).await.unwrap().pop().unwrap()
}

async fn wait_for_state(store: &dyn Store, state: RunState) -> RunInfo {
    for _ in 0..1_000 {
        let now = run(store).await;
        if now.state == state {
            return now;
        }
        pause(10).await;
    }
    panic!("it never was {state:?}");
}

// spec: RESUME-07, RESUME-08, RESUME-09
#[test]
fn where_resuming_is_offered_the_run_waits_for_somebody_to_say_so() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("w.db");
    let outside = SqliteStore::open(&path).unwrap();
    abandon_run(&path, &outside);
    process().block_on(async {
        let probe = ProbeTool::read("Look");
        let w = on(&path, &probe).await;
        tokio::spawn({
            let (w, times) =
                (w.clone(), WorkerSettings { resume: ResumeOverride::OnRequest, ..TIMES });
            async move { w.run_worker_with(times).await }
        });
        let left = wait_for_state(&outside, RunState::TimedOut).await;
        assert!(left.resume_available);
        pause(300).await;
        assert_eq!(probe.run_count(), 0, "nobody takes it up by himself");
        w.session("lane").resume().await.unwrap().wait_for_end().await.unwrap();
        let done = wait_for_state(&outside, RunState::Completed).await;
        assert!(!done.resume_available);
        assert_eq!((probe.run_count(), done.run), (1, left.run));
        w.hand_over();
    });
}

/// Records the passes of the reconciler.
#[derive(Clone, Default)]
struct ReconcilePasses(Arc<Mutex<Vec<BTreeMap<&'static str, u64>>>>);

#[derive(Default)]
struct Reader(BTreeMap<&'static str, u64>, bool);

impl Visit for Reader {
    fn record_u64(&mut self, field: &Field, value: u64) {
        self.0.insert(field.name(), value);
    }

    fn record_str(&mut self, _field: &Field, value: &str) {
        self.1 |= value == "agent_run.reconcile";
    }

    fn record_debug(&mut self, _field: &Field, _value: &dyn std::fmt::Debug) {}
}

impl<S: tracing::Subscriber> Layer<S> for ReconcilePasses {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        let mut reader = Reader::default();
        event.record(&mut reader);
        // The rows of single runs are emitted under the same name, without counts.
        if reader.1 && reader.0.contains_key("timed_out") {
            self.0.lock().unwrap().push(reader.0);
        }
    }
}

// spec: RESUME-07, RESUME-09, SCALE-02
#[test]
fn a_run_whose_worker_died_goes_on_by_itself_and_is_counted() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("w.db");
    let outside = SqliteStore::open(&path).unwrap();
    abandon_run(&path, &outside);
    let passes = ReconcilePasses::default();
    let subscriber = tracing_subscriber::registry().with(passes.clone());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    with_subscriber(subscriber, || {
        runtime.block_on(async {
            let probe = ProbeTool::read("Look");
            let w = on(&path, &probe).await;
            let working = tokio::spawn({
                let (w, times) = (w.clone(), WorkerSettings { reconcile_interval_ms: 50, ..TIMES });
                async move { w.run_worker_with(times).await }
            });
            wait_for_state(&outside, RunState::Completed).await;
            wait_until("another pass", || passes.0.lock().unwrap().len() > 1).await;
            w.hand_over();
            // What was not reported yet is reported at the end.
            working.await.unwrap().unwrap();
        });
    });
    let passes = passes.0.lock().unwrap();
    assert!(passes.len() > 1, "at the start and again and again: {passes:?}");
    for name in ["timed_out", "failed", "cancelled"] {
        assert!(passes.iter().all(|pass| pass.contains_key(name)), "{name}: {passes:?}");
    }
    let timed_out: u64 = passes.iter().filter_map(|pass| pass.get("timed_out")).sum();
    assert_eq!(timed_out, 1, "{passes:?}");
    // The same counts are stored for later; a pass that did nothing is not reported.
    let stored = process()
        .block_on(async { outside.worker_events(WorkerEventPage::Newest, 99).await.unwrap() });
    let stored: Vec<_> =
        stored.iter().map(|it| (it.event.name.to_string(), it.event.fields.text())).collect();
    let counts = r#"{"timed_out":1,"resume_available":1,"failed":0,"cancelled":0}"#;
    assert_eq!(stored, [("agent_run.reconcile".to_owned(), counts)]);
}

/// A lane that is released during a run was not reconciled: nothing timed out.
#[test]
fn a_planned_hand_over_is_not_counted_as_timed_out() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("w.db");
    let outside = SqliteStore::open(&path).unwrap();
    process().block_on(async {
        let hung = ProbeTool::read("Look").with_gate(&Arc::new(Notify::new()));
        let w = on(&path, &hung).await;
        let working = tokio::spawn({
            let w = w.clone();
            async move { w.run_worker_with(TIMES).await }
        });
        send(&outside, "lane").await;
        wait_until("it hangs", || hung.run_count() == 1).await;
        w.hand_over();
        working.await.unwrap().unwrap();
        let w = on(&path, &ProbeTool::read("Look")).await;
        tokio::spawn({
            let w = w.clone();
            async move { w.run_worker_with(WorkerSettings { reconcile_interval_ms: 50, ..TIMES }).await }
        });
        wait_for_state(&outside, RunState::Completed).await;
        pause(200).await;
        w.hand_over();
        assert_eq!(outside.worker_events(WorkerEventPage::Newest, 99).await.unwrap(), []);
        let counted = outside.event_counts(UnixMillis(0)).await.unwrap();
        assert!(counted.iter().all(|event| &*event.name != "agent_run.reconcile"), "{counted:?}");
        assert!(counted.iter().any(|event| &*event.name == "agent_run.resumed"), "{counted:?}");
    });
}
