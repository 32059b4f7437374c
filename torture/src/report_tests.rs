//! The last line, which scripts parse.

use crate::args::StoreKind;
use crate::campaign_tally::{CampaignTally, ConversationEnd, ConversationResult, FaultCounts};
use crate::observe::violation::Violation;
use crate::report::format_last_line;

fn verdict(end: ConversationEnd, faults: Vec<Violation>) -> ConversationResult {
    ConversationResult { end, faults, fault_counts: FaultCounts::default() }
}

#[test]
fn the_last_line_has_every_count() {
    let mut tally = CampaignTally { kills: 9, ..CampaignTally::default() };
    tally.add(&verdict(ConversationEnd::Completed, Vec::new()));
    tally.add(&verdict(ConversationEnd::Surfaced, Vec::new()));
    assert!(tally.is_clean());
    assert_eq!(
        format_last_line(StoreKind::Sqlite, &tally),
        "torture: store=sqlite kills=9 runs=2 completed=1 surfaced=1 needless=0 lost=0 duplicated=0 stale_writes=0"
    );
}

#[test]
fn every_fault_is_counted_and_none_is_clean() {
    let faults = [
        Violation::needless_question,
        Violation::lost_data,
        Violation::duplicated_effect,
        Violation::stale_write,
    ];
    for fault in faults {
        let mut tally = CampaignTally::default();
        tally.add(&verdict(ConversationEnd::Completed, vec![fault("planted".to_owned())]));
        assert!(!tally.is_clean());
        assert_eq!(tally.faulty, 1);
    }
}

#[test]
fn a_run_without_an_end_is_not_clean_and_neither_is_no_run() {
    let mut tally = CampaignTally::default();
    assert!(!tally.is_clean());
    tally.add(&verdict(ConversationEnd::Never, Vec::new()));
    assert!(!tally.is_clean());
}
