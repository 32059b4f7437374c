//! What a process knows about its lease.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use windlass::core::log::ids::{LaneId, RunId, UnixMillis};
use windlass::core::log::inbox::InboxCommand;
use windlass::core::message::content_block::ContentBlock;
use windlass::core::permission::DefaultDecision;
use windlass::memory::{MemoryStore, StoreOperation};
use windlass::ports::{BoxFuture, Clock, ObservedHeartbeat, OutboxMessage, Store, StoreError};
use windlass::scripted::{Script, ScriptedModel};
use windlass::{Agent, DriveError, LeaseTimes, ModelSettings, Settings, SystemClock};
use windlass_runtime::feed::LaneFeed;
use windlass_runtime::lease::WorkerLease;
use windlass_runtime::{DriveOutcome, Driver, ToolRegistry};

use crate::kit::ProbeTool;

/// A clock that stands still unless the test moves it.
#[derive(Clone, Default)]
struct StoppedClock(Arc<AtomicU64>);

impl Clock for StoppedClock {
    fn now(&self) -> UnixMillis {
        UnixMillis(self.monotonic_ms())
    }

    fn monotonic_ms(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    fn sleep(&self, _ms: u64) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }
}

/// A store whose heartbeats take this long.
fn slow_store(clock: &StoppedClock, ms: &Arc<AtomicU64>) -> MemoryStore {
    let (clock, ms) = (clock.clone(), Arc::clone(ms));
    MemoryStore::new().with_hook(Arc::new(move |operation| {
        if operation == StoreOperation::Heartbeat {
            clock.0.fetch_add(ms.load(Ordering::SeqCst), Ordering::SeqCst);
        }
        Box::pin(std::future::ready(()))
    }))
}

#[tokio::test]
async fn a_beat_counts_from_when_it_was_sent_and_a_slow_one_is_not_fresh() {
    let (clock, takes) = (StoppedClock::default(), Arc::new(AtomicU64::new(0)));
    let store = slow_store(&clock, &takes);
    let times = LeaseTimes { heartbeat_ms: 3_000, expiry_ms: 9_000 };
    let lease = WorkerLease::new("w".into(), times, Arc::new(clock.clone()));
    assert!(!lease.is_fresh(), "nobody was asked yet");
    lease.renew(&store).await.unwrap();
    assert!(lease.is_fresh());
    let before = lease.lapse_count();
    takes.store(6_000, Ordering::SeqCst);
    lease.renew(&store).await.unwrap();
    assert!(!lease.is_fresh(), "others count from the beat, which is old by now");
    takes.store(0, Ordering::SeqCst);
    lease.renew(&store).await.unwrap();
    assert!(lease.is_fresh());
    assert_eq!(lease.lapse_count(), before + 1, "in between the lanes may have been lost");
}

/// Too long without a heartbeat for an effect to be started, too short for the driver to stop by
/// itself.
const FROZEN_MS: u64 = 8_000;

type Interlude = Box<dyn FnOnce() + Send>;

/// A clock that lets things happen while the process is frozen at the moment it reads the time.
#[derive(Clone)]
struct FreezingClock {
    clock: Arc<SystemClock>,
    jumped_ms: Arc<AtomicU64>,
    /// What other processes do meanwhile.
    meanwhile: Arc<Mutex<Option<Interlude>>>,
    freezes: Arc<AtomicBool>,
}

impl Clock for FreezingClock {
    fn now(&self) -> UnixMillis {
        self.clock.now()
    }

    fn monotonic_ms(&self) -> u64 {
        if self.freezes.swap(false, Ordering::SeqCst) {
            self.jumped_ms.fetch_add(FROZEN_MS, Ordering::SeqCst);
            let meanwhile = self.meanwhile.lock().unwrap().take();
            meanwhile.unwrap()();
        }
        self.clock.monotonic_ms() + self.jumped_ms.load(Ordering::SeqCst)
    }

    fn sleep(&self, ms: u64) -> BoxFuture<'_, ()> {
        self.clock.sleep(ms)
    }
}

/// What happened while the process was frozen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DuringFreeze {
    /// No process took the lane.
    Nothing,
    /// Another process took the lane.
    Taken,
    /// Another process took the lane, and the first thing this one does is to send a heartbeat.
    TakenThenBeaten,
}

/// The value of a future that is ready at once.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    match Box::pin(future).as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("it waits"),
    }
}

/// A process that is frozen for so long that its lease is not fresh, between the append that
/// records a call and the start of the call. Returns how the driver ended, and how often the call
/// was made.
async fn frozen_before_a_call(what: DuringFreeze) -> (Result<DriveOutcome, DriveError>, u32) {
    let send = ProbeTool::once_only("Send");
    let clock = FreezingClock {
        clock: Arc::new(SystemClock::start()),
        jumped_ms: Arc::default(),
        meanwhile: Arc::default(),
        freezes: Arc::default(),
    };
    // The appends of a run with one call: its start, then the reply that makes the call.
    let (appends, freezes) = (AtomicU64::new(0), Arc::clone(&clock.freezes));
    let store = Arc::new(MemoryStore::new().with_hook(Arc::new(move |operation| {
        if operation == StoreOperation::Append && appends.fetch_add(1, Ordering::SeqCst) == 1 {
            freezes.store(true, Ordering::SeqCst);
        }
        Box::pin(std::future::ready(()))
    })));
    let script =
        Script::parse("when results 0\n  call Send {}\nwhen any\n  say \"sent\"\n").unwrap();
    let mut settings = Settings::new(ModelSettings::with_defaults("scripted"));
    settings.rules.default_decision = DefaultDecision::Allow;
    let agent = Agent::new(
        Arc::new(ScriptedModel::new(script, Arc::new(clock.clone()))),
        Arc::clone(&store) as Arc<dyn Store>,
        Arc::new(clock.clone()),
        ToolRegistry::default().with(send.clone()),
        settings,
    );
    let lane = LaneId::from("lane");
    let body = InboxCommand::prompt(RunId::from_name("lane"), vec![ContentBlock::text("go")]);
    store
        .enqueue_message(lane.clone(), OutboxMessage { idempotency_key: Arc::from("go"), body })
        .await
        .unwrap();
    let lease = WorkerLease::new("first".into(), LeaseTimes::default(), Arc::new(clock.clone()));
    lease.renew(store.as_ref()).await.unwrap();
    let claim = store.claim_lane(lane.clone(), lease.worker.clone(), None).await.unwrap();
    let meanwhile = {
        let (store, lane, lease) = (Arc::clone(&store), lane.clone(), lease.clone());
        move || {
            if what != DuringFreeze::Nothing {
                let dead: Option<ObservedHeartbeat> =
                    at_once(store.owner_heartbeats()).unwrap().pop();
                at_once(store.claim_lane(lane, "second".into(), dead)).unwrap();
            }
            if what == DuringFreeze::TakenThenBeaten {
                at_once(lease.renew(store.as_ref())).unwrap();
            }
        }
    };
    *clock.meanwhile.lock().unwrap() = Some(Box::new(meanwhile));
    let driver = Driver::load(agent, lane, claim, lease, LaneFeed::default(), None).await.unwrap();
    let rest = Box::new(driver).drive(Default::default()).await;
    assert!(!clock.freezes.load(Ordering::SeqCst) && clock.meanwhile.lock().unwrap().is_none());
    (rest, send.run_count())
}

#[tokio::test]
async fn no_effect_starts_after_the_lease_lapsed_before_the_store_was_asked() {
    let (rest, calls) = frozen_before_a_call(DuringFreeze::Taken).await;
    assert!(matches!(rest, Err(DriveError::Store(StoreError::Fenced { .. }))), "{rest:?}");
    assert_eq!(calls, 0, "another process has the lane and makes the call");
}

#[tokio::test]
async fn a_beat_after_the_lease_lapsed_does_not_give_the_lanes_back() {
    let (rest, calls) = frozen_before_a_call(DuringFreeze::TakenThenBeaten).await;
    assert!(matches!(rest, Err(DriveError::Store(StoreError::Fenced { .. }))), "{rest:?}");
    assert_eq!(calls, 0, "the beat is fresh, the lane is another's");
}

#[tokio::test]
async fn a_process_that_was_frozen_and_lost_nothing_goes_on() {
    let (rest, calls) = frozen_before_a_call(DuringFreeze::Nothing).await;
    assert!(matches!(rest, Ok(DriveOutcome::Idle(_))), "{rest:?}");
    assert_eq!(calls, 1);
}
