use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Notify;
use windlass_core::log::ids::UnixMillis;

use super::wait_for_silence;
use crate::ports::{BoxFuture, CallHeartbeat, Clock};

/// A clock that a test moves.
#[derive(Default)]
struct ManualClock {
    ms: AtomicU64,
    moved: Notify,
}

impl ManualClock {
    fn advance(&self, ms: u64) {
        self.ms.fetch_add(ms, Ordering::SeqCst);
        self.moved.notify_waiters();
    }
}

impl Clock for ManualClock {
    fn now(&self) -> UnixMillis {
        UnixMillis(self.monotonic_ms())
    }

    fn monotonic_ms(&self) -> u64 {
        self.ms.load(Ordering::SeqCst)
    }

    fn sleep(&self, ms: u64) -> BoxFuture<'_, ()> {
        let until = self.monotonic_ms() + ms;
        Box::pin(async move {
            loop {
                let moved = self.moved.notified();
                if self.monotonic_ms() >= until {
                    return;
                }
                moved.await;
            }
        })
    }
}

/// Polls the future once and returns its value if it is ready.
async fn poll_once(silence: Pin<&mut impl Future<Output = u64>>) -> Option<u64> {
    tokio::select! {
        biased;
        after_ms = silence => Some(after_ms),
        () = tokio::task::yield_now() => None,
    }
}

// spec: ROUNDS-12
#[tokio::test]
async fn a_call_has_its_time_again_from_its_last_beat() {
    let (clock, heartbeat) = (ManualClock::default(), CallHeartbeat::default());
    let mut silence = pin!(wait_for_silence(&heartbeat, 100, &clock));
    assert_eq!(poll_once(silence.as_mut()).await, None);
    for _ in 0..5 {
        clock.advance(90);
        heartbeat.beat();
        assert_eq!(poll_once(silence.as_mut()).await, None);
    }
    clock.advance(99);
    assert_eq!(poll_once(silence.as_mut()).await, None);
    clock.advance(1);
    assert_eq!(poll_once(silence.as_mut()).await, Some(550), "the time it had in all");
}

// spec: ROUNDS-12
#[tokio::test]
async fn a_call_that_does_not_beat_has_its_time_once() {
    let (clock, heartbeat) = (ManualClock::default(), CallHeartbeat::default());
    let mut silence = pin!(wait_for_silence(&heartbeat, 100, &clock));
    assert_eq!(poll_once(silence.as_mut()).await, None);
    clock.advance(100);
    assert_eq!(poll_once(silence.as_mut()).await, Some(100));
}
