//! What a process that died leaves behind, and who takes it up.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;
use tracing::field::{Field, Visit};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use windlass::WorkTimes;
use windlass::core::ids::{LaneId, Millis};
use windlass::core::stop::RunState;
use windlass::ports::{Resume, RunInfo, Store, WorkerEventPage};
use windlass::sqlite::SqliteStore;

use crate::kit::{Probe, eventually, pause, with_subscriber};
use crate::workers::{TIMES, on, process, send};

/// A lane whose owner died while its tool hung.
fn left_behind(path: &Path, outside: &SqliteStore) {
    let hung = Probe::read("Look").gated(&Arc::new(Notify::new()));
    let dying = process();
    dying.block_on(async {
        let w = on(path, &hung).await;
        tokio::spawn(async move { w.work_with(TIMES).await });
        send(outside, "lane").await;
        eventually("it hangs", || hung.count() == 1).await;
    });
    dying.shutdown_background();
}

async fn run(store: &dyn Store) -> RunInfo {
    store.runs(Some(LaneId::from("lane")), 1).await.unwrap().pop().unwrap()
}

async fn until(store: &dyn Store, state: RunState) -> RunInfo {
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
    left_behind(&path, &outside);
    process().block_on(async {
        let look = Probe::read("Look");
        let w = on(&path, &look).await;
        tokio::spawn({
            let (w, times) = (w.clone(), WorkTimes { resume: Resume::Offered, ..TIMES });
            async move { w.work_with(times).await }
        });
        let left = until(&outside, RunState::TimedOut).await;
        assert!(left.resume_available);
        pause(300).await;
        assert_eq!(look.count(), 0, "nobody takes it up by himself");
        w.session("lane").resume().await.unwrap().end().await.unwrap();
        let done = until(&outside, RunState::Completed).await;
        assert!(!done.resume_available);
        assert_eq!((look.count(), done.run), (1, left.run));
        w.hand_over();
    });
}

/// Keeps the passes of the reconciler.
#[derive(Clone, Default)]
struct Passes(Arc<Mutex<Vec<BTreeMap<&'static str, u64>>>>);

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

impl<S: tracing::Subscriber> Layer<S> for Passes {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        let mut reader = Reader::default();
        event.record(&mut reader);
        // The rows of single runs are told under the same name, without counts.
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
    left_behind(&path, &outside);
    let passes = Passes::default();
    let subscriber = tracing_subscriber::registry().with(passes.clone());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    with_subscriber(subscriber, || {
        runtime.block_on(async {
            let look = Probe::read("Look");
            let w = on(&path, &look).await;
            let working = tokio::spawn({
                let (w, times) = (w.clone(), WorkTimes { reconcile_ms: 50, ..TIMES });
                async move { w.work_with(times).await }
            });
            until(&outside, RunState::Completed).await;
            eventually("another pass", || passes.0.lock().unwrap().len() > 1).await;
            w.hand_over();
            // What was not told yet is told at the end.
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
    // The same counts are stored, for whoever looks later; a pass that did nothing is no news.
    let stored = process()
        .block_on(async { outside.worker_events(WorkerEventPage::Newest, 99).await.unwrap() });
    let stored: Vec<_> =
        stored.iter().map(|it| (it.event.name.to_string(), it.event.fields.text())).collect();
    let counts = r#"{"timed_out":1,"resume_available":1,"failed":0,"cancelled":0}"#;
    assert_eq!(stored, [("agent_run.reconcile".to_owned(), counts)]);
}

/// A lane that is given back in the middle was not reconciled: nothing timed out.
#[test]
fn a_planned_hand_over_is_not_counted_as_timed_out() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("w.db");
    let outside = SqliteStore::open(&path).unwrap();
    process().block_on(async {
        let hung = Probe::read("Look").gated(&Arc::new(Notify::new()));
        let w = on(&path, &hung).await;
        let working = tokio::spawn({
            let w = w.clone();
            async move { w.work_with(TIMES).await }
        });
        send(&outside, "lane").await;
        eventually("it hangs", || hung.count() == 1).await;
        w.hand_over();
        working.await.unwrap().unwrap();
        let w = on(&path, &Probe::read("Look")).await;
        tokio::spawn({
            let w = w.clone();
            async move { w.work_with(WorkTimes { reconcile_ms: 50, ..TIMES }).await }
        });
        until(&outside, RunState::Completed).await;
        pause(200).await;
        w.hand_over();
        assert_eq!(outside.worker_events(WorkerEventPage::Newest, 99).await.unwrap(), []);
        let counted = outside.event_counts(Millis(0)).await.unwrap();
        assert!(counted.iter().all(|event| &*event.name != "agent_run.reconcile"), "{counted:?}");
        assert!(counted.iter().any(|event| &*event.name == "agent_run.resumed"), "{counted:?}");
    });
}
