//! Guards around the futures of adapters: a panic ends the call it happened in and nothing else, and
//! a future that never finishes is abandoned.

use std::any::Any;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;

use crate::ports::Clock;

/// Waits for a future and returns its panic as an error. Boxed, because a future takes space for
/// every place that it passes through.
pub(crate) async fn catch_panic<F: Future>(future: F) -> Result<F::Output, String> {
    let caught = AssertUnwindSafe(Box::pin(future)).catch_unwind().await;
    caught.map_err(|panic| panic_message(panic.as_ref()))
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "panic".to_owned())
}

/// Waits for a future that may fail or never finish, for a limited time.
pub(crate) async fn with_timeout<T>(
    clock: &dyn Clock,
    limit_ms: u64,
    work: impl Future<Output = Result<T, String>>,
) -> Result<T, String> {
    tokio::select! {
        biased;
        done = work => done,
        () = clock.sleep(limit_ms) => Err(format!("no response within {limit_ms} ms")),
    }
}
