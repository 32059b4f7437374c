//! Prints progress every few seconds.

use std::thread::ScopedJoinHandle;
use std::time::Duration;

use crate::campaign::TortureCampaign;
use crate::process::clock::{Deadline, Stopwatch, pause};
use crate::report;

const REPORT_INTERVAL: Duration = Duration::from_secs(5);
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Prints progress until the last of `workers` is done.
pub(crate) fn report_until_done(
    campaign: &TortureCampaign<'_>,
    since: Stopwatch,
    workers: &[ScopedJoinHandle<'_, ()>],
) {
    let mut next = Deadline::after(REPORT_INTERVAL);
    while !workers.iter().all(ScopedJoinHandle::is_finished) {
        if next.has_passed() {
            let tally = campaign.snapshot();
            report::print_progress(since.elapsed(), tally.kills, &tally);
            next = Deadline::after(REPORT_INTERVAL);
        }
        pause(POLL_INTERVAL);
    }
}
