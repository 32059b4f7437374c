//! The last line is read by scripts.

use crate::args::StoreKind;
use crate::fault::Fault;
use crate::report::line;
use crate::tally::{Blows, RunEnd, Tally, Verdict};

fn verdict(end: RunEnd, faults: Vec<Fault>) -> Verdict {
    Verdict { end, faults, blows: Blows::default() }
}

#[test]
fn the_last_line_has_every_count() {
    let mut tally = Tally { kills: 9, ..Tally::default() };
    tally.add(&verdict(RunEnd::Completed, Vec::new()));
    tally.add(&verdict(RunEnd::Surfaced, Vec::new()));
    assert!(tally.is_clean());
    assert_eq!(
        line(StoreKind::Sqlite, &tally),
        "torture: store=sqlite kills=9 runs=2 completed=1 surfaced=1 needless=0 lost=0 duplicated=0 stale_writes=0"
    );
}

#[test]
fn every_fault_is_counted_and_none_is_clean() {
    let faults = [Fault::needless, Fault::lost, Fault::duplicated, Fault::stale_write];
    for fault in faults {
        let mut tally = Tally::default();
        tally.add(&verdict(RunEnd::Completed, vec![fault("planted".to_owned())]));
        assert!(!tally.is_clean());
        assert_eq!(tally.faulty, 1);
    }
}

#[test]
fn a_run_without_an_end_is_not_clean_and_neither_is_no_run() {
    let mut tally = Tally::default();
    assert!(!tally.is_clean());
    tally.add(&verdict(RunEnd::Never, Vec::new()));
    assert!(!tally.is_clean());
}
