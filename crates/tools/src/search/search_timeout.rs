//! Stops a search on timeout or when its call is dropped.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::message::raw_json::RawJson;
use windlass_runtime::ports::Clock;

use crate::files::run_blocking;
use crate::limits::SEARCH_TIMEOUT_MS;

/// Stop flag, polled by the search.
#[derive(Debug, Clone, Default)]
pub(super) struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns a reader of `reader` that ends when the flag is set.
    pub(super) fn stoppable_reader<R: Read>(&self, reader: R) -> StoppableReader<'_, R> {
        StoppableReader { stop: self, reader }
    }
}

/// A reader that ends when the stop flag is set.
pub(super) struct StoppableReader<'s, R> {
    stop: &'s StopFlag,
    reader: R,
}

impl<R: Read> Read for StoppableReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_set() { Ok(0) } else { self.reader.read(buffer) }
    }
}

/// Stops the search when the call is dropped.
struct StopOnDrop(StopFlag);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.set();
    }
}

/// Searches on a blocking thread. On timeout the search returns what it has found.
pub(super) async fn run_search_with_timeout(
    clock: &dyn Clock,
    search: impl FnOnce(&StopFlag) -> Result<RawJson, ToolError> + Send + 'static,
) -> ToolOutcome {
    let stop = StopFlag::default();
    let _dropped = StopOnDrop(stop.clone());
    let seen = stop.clone();
    let mut search = run_blocking(move || search(&seen));
    tokio::select! {
        outcome = &mut search => return outcome,
        () = clock.sleep(SEARCH_TIMEOUT_MS) => stop.set(),
    }
    search.await
}
