//! Passes what a running call reports on to the readers of its lane.

use std::convert::Infallible;

use windlass_core::log::ids::{CallId, UnixMillis};

use crate::feed::LaneReaders;
use crate::ports::{Clock, ProgressReporter};

/// The shortest time between two reports of a call, in milliseconds. What comes in between is joined.
const REPORT_INTERVAL_MS: u64 = 250;

/// The call whose reports are passed on.
pub(super) struct ReportedCall {
    pub(super) call: CallId,
    pub(super) started_at: UnixMillis,
    pub(super) progress: ProgressReporter,
}

/// Passes reports on until it is dropped. A slow owner of the run delays only its next report.
pub(super) async fn publish_progress(
    reported: ReportedCall,
    readers: LaneReaders,
    clock: &dyn Clock,
) -> Infallible {
    loop {
        reported.progress.wait_for_report().await;
        clock.sleep(REPORT_INTERVAL_MS).await;
        if !readers.want_call_progress() {
            continue;
        }
        if let Some(report) = reported.progress.take_report() {
            let elapsed_ms = clock.now().ms_since(reported.started_at);
            readers.publish_progress(reported.call, elapsed_ms, report).await;
        }
    }
}
