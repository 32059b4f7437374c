//! Ending a search that takes too long, or that nobody waits for any more.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use windlass_core::outcome::{Outcome, ToolError};
use windlass_core::raw::Raw;
use windlass_runtime::ports::Clock;

use crate::files::blocking;
use crate::limits::SEARCH_MS;

/// Says when to stop. Whoever searches looks at it often.
#[derive(Debug, Clone, Default)]
pub(super) struct Stop(Arc<AtomicBool>);

impl Stop {
    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Reads `from` until it is time to stop.
    pub(super) fn reading<R: Read>(&self, from: R) -> Stopping<'_, R> {
        Stopping { stop: self, from }
    }
}

/// A reader that comes to its end when it is time to stop.
pub(super) struct Stopping<'s, R> {
    stop: &'s Stop,
    from: R,
}

impl<R: Read> Read for Stopping<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_set() { Ok(0) } else { self.from.read(buffer) }
    }
}

/// Stops the search when the call is dropped.
struct Dropped(Stop);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.set();
    }
}

/// Searches on a thread of its own. When time is up the search says what it has.
pub(super) async fn within(
    clock: &dyn Clock,
    search: impl FnOnce(&Stop) -> Result<Raw, ToolError> + Send + 'static,
) -> Outcome {
    let stop = Stop::default();
    let _dropped = Dropped(stop.clone());
    let seen = stop.clone();
    let mut search = blocking(move || search(&seen));
    tokio::select! {
        outcome = &mut search => return outcome,
        () = clock.sleep(SEARCH_MS) => stop.set(),
    }
    search.await
}
