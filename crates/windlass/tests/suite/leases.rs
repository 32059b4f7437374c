//! What a process believes of its lease.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use windlass::LeaseTimes;
use windlass::core::ids::Millis;
use windlass::memory::{MemoryStore, Operation};
use windlass::ports::{Clock, Task};
use windlass_runtime::lease::Lease;

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
