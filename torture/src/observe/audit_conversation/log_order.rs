//! Checks that the log has no gaps, that entries have their own sequence numbers, and that epochs
//! never decrease: an entry of an older epoch after one of a newer was written by an owner that had
//! lost the lane.

use crate::observe::log_reader::read_number;
use crate::observe::store::{StoredEntry, StoredLane};
use crate::observe::violation::Violation;

pub(super) fn find_violations(lane: &StoredLane) -> Vec<Violation> {
    let mut faults: Vec<Violation> = (1..).zip(&lane.entries).filter_map(check_gap).collect();
    faults.extend(check_head(lane));
    faults.extend(lane.entries.iter().filter_map(check_position));
    faults.extend(find_stale_writes(&lane.entries));
    faults.extend(find_future_epochs(lane));
    faults
}

fn check_gap((due, row): (i64, &StoredEntry)) -> Option<Violation> {
    let wrong = row.seq != due;
    wrong.then(|| Violation::lost_data(format!("found entry {} where {due} was expected", row.seq)))
}

fn check_head(lane: &StoredLane) -> Option<Violation> {
    let last = lane.entries.last().map_or(0, |row| row.seq);
    let says = || format!("the lane's head is {}, its last entry {last}", lane.head);
    (last != lane.head).then(|| Violation::lost_data(says()))
}

/// The entry's own sequence number differs from its position.
fn check_position(row: &StoredEntry) -> Option<Violation> {
    let believed = read_number(&row.body, "seq");
    let wrong = believed != u64::try_from(row.seq).ok();
    wrong.then(|| {
        Violation::stale_write(format!(
            "entry {} has the sequence number {believed:?} in its body",
            row.seq
        ))
    })
}

fn find_stale_writes(entries: &[StoredEntry]) -> Vec<Violation> {
    let mut newest = 0;
    let mut faults = Vec::new();
    for row in entries {
        if row.epoch < newest {
            let StoredEntry { seq, epoch, .. } = row;
            let what = format!("entry {seq} of epoch {epoch} follows one of epoch {newest}");
            faults.push(Violation::stale_write(what));
        }
        newest = newest.max(row.epoch);
    }
    faults
}

/// Finds entries of an epoch that has not started.
fn find_future_epochs(lane: &StoredLane) -> Vec<Violation> {
    let early = lane.entries.iter().filter(|row| row.epoch > lane.epoch);
    let what = |row: &StoredEntry| {
        format!("entry {} of epoch {} is ahead of the lane", row.seq, row.epoch)
    };
    early.map(|row| Violation::stale_write(what(row))).collect()
}
