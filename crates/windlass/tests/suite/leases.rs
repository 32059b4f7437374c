//! What a process believes of its lease.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use windlass::core::block::Block;
use windlass::core::ids::{LaneId, Millis, RunId};
use windlass::core::mail::MailBody;
use windlass::core::permission::Otherwise;
use windlass::memory::{MemoryStore, Operation};
use windlass::ports::{Clock, Letter, SeenBeat, Store, StoreError, Task};
use windlass::scripted::{Script, ScriptedModel};
use windlass::{Agent, DriveError, LeaseTimes, ModelSettings, Settings, SystemClock};
use windlass_runtime::feed::Feed;
use windlass_runtime::lease::Lease;
use windlass_runtime::{Driver, Rest, Toolbox};

use crate::kit::Probe;

/// A clock that stands still unless it is told otherwise.
#[derive(Clone, Default)]
struct Still(Arc<AtomicU64>);

impl Clock for Still {
    fn now(&self) -> Millis {
        Millis(self.monotonic_ms())
    }

    fn monotonic_ms(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    fn sleep(&self, _ms: u64) -> Task<'_, ()> {
        Box::pin(std::future::pending())
    }
}

/// A store whose beats take so long.
fn slow(clock: &Still, ms: &Arc<AtomicU64>) -> MemoryStore {
    let (clock, ms) = (clock.clone(), Arc::clone(ms));
    MemoryStore::new().with_hook(Arc::new(move |operation| {
        if operation == Operation::Beat {
            clock.0.fetch_add(ms.load(Ordering::SeqCst), Ordering::SeqCst);
        }
        Box::pin(std::future::ready(()))
    }))
}

#[tokio::test]
async fn a_beat_counts_from_when_it_was_sent_and_a_slow_one_is_not_fresh() {
    let (clock, takes) = (Still::default(), Arc::new(AtomicU64::new(0)));
    let store = slow(&clock, &takes);
    let times = LeaseTimes { beat_ms: 3_000, expiry_ms: 9_000 };
    let lease = Lease::new("w".into(), times, Arc::new(clock.clone()));
    assert!(!lease.is_fresh(), "nobody was asked yet");
    lease.beat(&store).await.unwrap();
    assert!(lease.is_fresh());
    let before = lease.lapses();
    takes.store(6_000, Ordering::SeqCst);
    lease.beat(&store).await.unwrap();
    assert!(!lease.is_fresh(), "others count from the beat, which is old by now");
    takes.store(0, Ordering::SeqCst);
    lease.beat(&store).await.unwrap();
    assert!(lease.is_fresh());
    assert_eq!(lease.lapses(), before + 1, "in between the lanes may have been lost");
}

/// Too long for an effect to be started on, too short for the driver to stop by itself.
const FROZEN_MS: u64 = 8_000;

type Interlude = Box<dyn FnOnce() + Send>;

/// A clock that lets things happen to a process that is frozen just as it looks at the time.
#[derive(Clone)]
struct Frozen {
    clock: Arc<SystemClock>,
    jumped_ms: Arc<AtomicU64>,
    /// What others do meanwhile.
    meanwhile: Arc<Mutex<Option<Interlude>>>,
    freezes: Arc<AtomicBool>,
}

impl Clock for Frozen {
    fn now(&self) -> Millis {
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

    fn sleep(&self, ms: u64) -> Task<'_, ()> {
        self.clock.sleep(ms)
    }
}

/// What happened while the process was frozen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meanwhile {
    /// Nobody took the lane.
    Nothing,
    /// Another process took it.
    Taken,
    /// Another process took it, and the first thing this one does is to beat.
    TakenThenBeaten,
}

/// The value of a future that waits for nothing.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    match Box::pin(future).as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("it waits"),
    }
}

/// A process that is frozen for so long that its lease is not fresh, between the append that records a call
/// and the call's start. Says how the driver ended, and how often the call was made.
async fn frozen_before_a_call(what: Meanwhile) -> (Result<Rest, DriveError>, u32) {
    let send = Probe::once_only("Send");
    let clock = Frozen {
        clock: Arc::new(SystemClock::start()),
        jumped_ms: Arc::default(),
        meanwhile: Arc::default(),
        freezes: Arc::default(),
    };
    // The appends of a run with one call: its beginning, then the reply that makes the call.
    let (appends, freezes) = (AtomicU64::new(0), Arc::clone(&clock.freezes));
    let store = Arc::new(MemoryStore::new().with_hook(Arc::new(move |operation| {
        if operation == Operation::Append && appends.fetch_add(1, Ordering::SeqCst) == 1 {
            freezes.store(true, Ordering::SeqCst);
        }
        Box::pin(std::future::ready(()))
    })));
    let script =
        Script::parse("when results 0\n  call Send {}\nwhen any\n  say \"sent\"\n").unwrap();
    let mut settings = Settings::new(ModelSettings::named("scripted"));
    settings.rules.otherwise = Otherwise::Allow;
    let agent = Agent::new(
        Arc::new(ScriptedModel::new(script, Arc::new(clock.clone()))),
        Arc::clone(&store) as Arc<dyn Store>,
        Arc::new(clock.clone()),
        Toolbox::default().with(send.clone()),
        settings,
    );
    let lane = LaneId::from("lane");
    let body = MailBody::prompt(RunId::derived("lane"), vec![Block::text("go")]);
    store.deliver(lane.clone(), Letter { key: Arc::from("go"), body }).await.unwrap();
    let lease = Lease::new("first".into(), LeaseTimes::default(), Arc::new(clock.clone()));
    lease.beat(store.as_ref()).await.unwrap();
    let claim = store.claim(lane.clone(), lease.worker.clone(), None).await.unwrap();
    let meanwhile = {
        let (store, lane, lease) = (Arc::clone(&store), lane.clone(), lease.clone());
        move || {
            if what != Meanwhile::Nothing {
                let dead: Option<SeenBeat> = at_once(store.owners()).unwrap().pop();
                at_once(store.claim(lane, "second".into(), dead)).unwrap();
            }
            if what == Meanwhile::TakenThenBeaten {
                at_once(lease.beat(store.as_ref())).unwrap();
            }
        }
    };
    *clock.meanwhile.lock().unwrap() = Some(Box::new(meanwhile));
    let driver = Driver::load(agent, lane, claim, lease, Feed::default(), None).await.unwrap();
    let rest = Box::new(driver).drive(Default::default()).await;
    assert!(!clock.freezes.load(Ordering::SeqCst) && clock.meanwhile.lock().unwrap().is_none());
    (rest, send.count())
}

#[tokio::test]
async fn no_effect_starts_after_the_lease_lapsed_before_the_store_was_asked() {
    let (rest, calls) = frozen_before_a_call(Meanwhile::Taken).await;
    assert!(matches!(rest, Err(DriveError::Store(StoreError::Fenced { .. }))), "{rest:?}");
    assert_eq!(calls, 0, "another process has the lane and makes the call");
}

#[tokio::test]
async fn a_beat_after_the_lease_lapsed_does_not_give_the_lanes_back() {
    let (rest, calls) = frozen_before_a_call(Meanwhile::TakenThenBeaten).await;
    assert!(matches!(rest, Err(DriveError::Store(StoreError::Fenced { .. }))), "{rest:?}");
    assert_eq!(calls, 0, "the beat is fresh, the lane is another's");
}

#[tokio::test]
async fn a_process_that_was_frozen_and_lost_nothing_goes_on() {
    let (rest, calls) = frozen_before_a_call(Meanwhile::Nothing).await;
    assert!(matches!(rest, Ok(Rest::Idle(_))), "{rest:?}");
    assert_eq!(calls, 1);
}
