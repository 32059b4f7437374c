//! Deadlines of one call: silence, and the whole.
//!
//! What counts against silence are pieces of a reply. A server that only sends pings is silent. One
//! timer is enough: when it rings, it is looked whether something came meanwhile.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll};

use windlass_runtime::ports::{Clock, Task};

use crate::fault::Fault;
use crate::options::Deadlines;

pub(crate) struct Watch<'a> {
    clock: &'a dyn Clock,
    deadlines: Deadlines,
    began: u64,
    last: u64,
    timer: Option<Task<'a, ()>>,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(clock: &'a dyn Clock, deadlines: Deadlines) -> Self {
        let now = clock.monotonic_ms();
        Self { clock, deadlines, began: now, last: now, timer: None }
    }

    /// Something of the reply came.
    pub(crate) fn content(&mut self) {
        self.last = self.clock.monotonic_ms();
    }

    /// Waits for `wanted`, but not longer than is allowed.
    pub(crate) async fn wait<T>(&mut self, wanted: impl Future<Output = T>) -> Result<T, Fault> {
        let mut wanted = pin!(wanted);
        poll_fn(|cx| {
            if let Poll::Ready(value) = wanted.as_mut().poll(cx) {
                return Poll::Ready(Ok(value));
            }
            self.poll_over(cx).map(Err)
        })
        .await
    }

    /// Ready when time is up.
    fn poll_over(&mut self, cx: &mut Context<'_>) -> Poll<Fault> {
        loop {
            if let Some(timer) = &mut self.timer {
                if timer.as_mut().poll(cx).is_pending() {
                    return Poll::Pending;
                }
                self.timer = None;
            }
            match self.left() {
                Ok(ms) => self.timer = Some(self.clock.sleep(ms)),
                Err(fault) => return Poll::Ready(fault),
            }
        }
    }

    /// How long there is still time, or what it is too late for.
    fn left(&self) -> Result<u64, Fault> {
        let now = self.clock.monotonic_ms();
        let Deadlines { idle_ms, total_ms, .. } = self.deadlines;
        let total = total_ms.saturating_sub(now.saturating_sub(self.began));
        let idle = idle_ms.saturating_sub(now.saturating_sub(self.last));
        match (total, idle) {
            (0, _) => Err(Fault::Late(total_ms)),
            (_, 0) => Err(Fault::Silent(idle_ms)),
            (total, idle) => Ok(total.min(idle)),
        }
    }
}
