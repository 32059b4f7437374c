//! Deadlines of one call: idle timeout and total timeout.
//!
//! Only pieces of a reply reset the idle timeout; a server that only sends pings is idle. One timer
//! is enough: when it fires, it is checked whether a piece arrived meanwhile.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll};

use windlass_runtime::ports::{BoxFuture, Clock};

use crate::call::call_options::CallDeadlines;
use crate::error::call_error::CallError;

pub(crate) struct CallTimer<'a> {
    clock: &'a dyn Clock,
    deadlines: CallDeadlines,
    started_ms: u64,
    last_content_ms: u64,
    timer: Option<BoxFuture<'a, ()>>,
}

impl<'a> CallTimer<'a> {
    pub(crate) fn new(clock: &'a dyn Clock, deadlines: CallDeadlines) -> Self {
        let now = clock.monotonic_ms();
        Self { clock, deadlines, started_ms: now, last_content_ms: now, timer: None }
    }

    /// Resets the idle timeout: a piece of the reply arrived.
    pub(crate) fn reset_idle(&mut self) {
        self.last_content_ms = self.clock.monotonic_ms();
    }

    /// Waits for `wanted`, but not longer than the deadlines allow.
    pub(crate) async fn run_until_deadline<T>(
        &mut self,
        wanted: impl Future<Output = T>,
    ) -> Result<T, CallError> {
        let mut wanted = pin!(wanted);
        poll_fn(|cx| {
            if let Poll::Ready(value) = wanted.as_mut().poll(cx) {
                return Poll::Ready(Ok(value));
            }
            self.poll_expired(cx).map(Err)
        })
        .await
    }

    /// Ready when a deadline has passed.
    fn poll_expired(&mut self, cx: &mut Context<'_>) -> Poll<CallError> {
        loop {
            if let Some(timer) = &mut self.timer {
                if timer.as_mut().poll(cx).is_pending() {
                    return Poll::Pending;
                }
                self.timer = None;
            }
            match self.remaining_ms() {
                Ok(ms) => self.timer = Some(self.clock.sleep(ms)),
                Err(fault) => return Poll::Ready(fault),
            }
        }
    }

    /// The time left until the next deadline, or the error of the deadline that has passed.
    fn remaining_ms(&self) -> Result<u64, CallError> {
        let now = self.clock.monotonic_ms();
        let CallDeadlines { idle_ms, total_ms, .. } = self.deadlines;
        let total = total_ms.saturating_sub(now.saturating_sub(self.started_ms));
        let idle = idle_ms.saturating_sub(now.saturating_sub(self.last_content_ms));
        match (total, idle) {
            (0, _) => Err(CallError::TotalTimeout(total_ms)),
            (_, 0) => Err(CallError::IdleTimeout(idle_ms)),
            (total, idle) => Ok(total.min(idle)),
        }
    }
}
