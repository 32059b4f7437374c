//! A line every few seconds, so that nobody wonders.

use std::thread::ScopedJoinHandle;
use std::time::Duration;

use crate::campaign::Campaign;
use crate::clock::{Deadline, Stopwatch, pause};
use crate::report;

const EVERY: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(50);

/// Reports until the last of `workers` is done.
pub(crate) fn watch(
    campaign: &Campaign<'_>,
    since: Stopwatch,
    workers: &[ScopedJoinHandle<'_, ()>],
) {
    let mut next = Deadline::after(EVERY);
    while !workers.iter().all(ScopedJoinHandle::is_finished) {
        if next.has_passed() {
            let tally = campaign.so_far();
            report::progress(since.elapsed(), tally.kills, &tally);
            next = Deadline::after(EVERY);
        }
        pause(LOOK);
    }
}
