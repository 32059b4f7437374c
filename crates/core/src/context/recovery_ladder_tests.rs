use super::recovery_ladder::{RecoveryHistory, RecoveryStep};
use crate::settings::limits::Limits;

fn most(recoveries: u32) -> Limits {
    Limits { recoveries, ..Limits::default() }
}

fn climbed(rungs: &[(RecoveryStep, u32)]) -> RecoveryHistory {
    let mut used = RecoveryHistory::default();
    rungs.iter().for_each(|(step, at)| used.record_step(*step, *at));
    used
}

// spec: WINDOW-10, WINDOW-11
#[test]
fn rungs_come_in_order_within_twenty_iterations() {
    use RecoveryStep::{AskHuman, Compact, DeepPrune};
    let next = |used: &[(RecoveryStep, u32)], at| climbed(used).next_step(at, &most(4));
    assert_eq!(next(&[], 1), Some(Compact));
    assert_eq!(next(&[(Compact, 1)], 21), Some(DeepPrune));
    assert_eq!(next(&[(Compact, 1)], 22), Some(Compact));
    assert_eq!(next(&[(Compact, 1), (DeepPrune, 5)], 25), Some(AskHuman));
    assert_eq!(next(&[(Compact, 1), (DeepPrune, 5)], 26), Some(Compact));
    assert_eq!(next(&[(Compact, 10), (DeepPrune, 5)], 26), Some(DeepPrune));
    // The answer of a human resets the ladder.
    assert_eq!(next(&[(Compact, 1), (DeepPrune, 2), (AskHuman, 3)], 4), Some(Compact));
}

#[test]
fn after_so_many_there_is_none() {
    let four = [
        (RecoveryStep::Compact, 1),
        (RecoveryStep::DeepPrune, 2),
        (RecoveryStep::AskHuman, 3),
        (RecoveryStep::Compact, 4),
    ];
    assert_eq!(climbed(&four).next_step(500, &most(4)), None);
    assert!(climbed(&four).next_step(500, &most(5)).is_some());
    assert_eq!(RecoveryHistory::default().next_step(1, &most(0)), None);
    let used = climbed(&four);
    assert_eq!((used.compactions, used.prunes, used.total), (2, 1, 4));
}

#[test]
fn how_soon_is_too_soon_can_be_set() {
    let limits = Limits { recovery_iterations: 5, ..Limits::default() };
    let next = |at| climbed(&[(RecoveryStep::Compact, 1)]).next_step(at, &limits);
    assert_eq!((next(6), next(7)), (Some(RecoveryStep::DeepPrune), Some(RecoveryStep::Compact)));
}

#[test]
fn as_many_messages_stay_as_are_set_and_four_after_a_deep_prune() {
    for kept_messages in [1, 4, 10, 30] {
        let limits = Limits { kept_messages, ..Limits::default() };
        assert_eq!(RecoveryStep::Compact.kept_messages(&limits), kept_messages);
        assert_eq!(RecoveryStep::DeepPrune.kept_messages(&limits), kept_messages.min(4));
    }
    assert_eq!(Limits::default().kept_messages, 10);
}
