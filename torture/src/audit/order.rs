//! The log is dense, says of itself where it stands, and its epochs never go back: an entry of an
//! older epoch behind one of a newer was written by an owner that had lost the lane.

use crate::fault::Fault;
use crate::log::number;
use crate::store::{Lane, Row};

pub(super) fn faults(lane: &Lane) -> Vec<Fault> {
    let mut faults: Vec<Fault> = (1..).zip(&lane.entries).filter_map(gap).collect();
    faults.extend(head(lane));
    faults.extend(lane.entries.iter().filter_map(misplaced));
    faults.extend(stale(&lane.entries));
    faults.extend(from_nowhere(lane));
    faults
}

fn gap((due, row): (i64, &Row)) -> Option<Fault> {
    let wrong = row.seq != due;
    wrong.then(|| Fault::lost(format!("entry {} stands where {due} was due", row.seq)))
}

fn head(lane: &Lane) -> Option<Fault> {
    let last = lane.entries.last().map_or(0, |row| row.seq);
    let says = || format!("the lane's head is {}, its last entry {last}", lane.head);
    (last != lane.head).then(|| Fault::lost(says()))
}

/// Whoever wrote it believed to stand elsewhere.
fn misplaced(row: &Row) -> Option<Fault> {
    let believed = number(&row.body, "seq");
    let wrong = believed != u64::try_from(row.seq).ok();
    wrong.then(|| Fault::stale_write(format!("entry {} calls itself {believed:?}", row.seq)))
}

fn stale(entries: &[Row]) -> Vec<Fault> {
    let mut newest = 0;
    let mut faults = Vec::new();
    for row in entries {
        if row.epoch < newest {
            let Row { seq, epoch, .. } = row;
            let what = format!("entry {seq} of epoch {epoch} follows one of epoch {newest}");
            faults.push(Fault::stale_write(what));
        }
        newest = newest.max(row.epoch);
    }
    faults
}

/// Nobody can write in an epoch that has not begun.
fn from_nowhere(lane: &Lane) -> Vec<Fault> {
    let early = lane.entries.iter().filter(|row| row.epoch > lane.epoch);
    let what = |row: &Row| format!("entry {} of epoch {} is ahead of the lane", row.seq, row.epoch);
    early.map(|row| Fault::stale_write(what(row))).collect()
}
