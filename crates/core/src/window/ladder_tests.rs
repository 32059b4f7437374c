use super::ladder::{Recoveries, Rung};
use crate::limits::Limits;

fn most(recoveries: u32) -> Limits {
    Limits { recoveries, ..Limits::default() }
}

fn climbed(rungs: &[(Rung, u32)]) -> Recoveries {
    let mut used = Recoveries::default();
    rungs.iter().for_each(|(rung, at)| used.climbed(*rung, *at));
    used
}

// spec: WINDOW-10, WINDOW-11
#[test]
fn rungs_come_in_order_within_twenty_iterations() {
    use Rung::{AskHuman, Compact, DeepPrune};
    let next = |used: &[(Rung, u32)], at| climbed(used).next(at, &most(4));
    assert_eq!(next(&[], 1), Some(Compact));
    assert_eq!(next(&[(Compact, 1)], 21), Some(DeepPrune));
    assert_eq!(next(&[(Compact, 1)], 22), Some(Compact));
    assert_eq!(next(&[(Compact, 1), (DeepPrune, 5)], 25), Some(AskHuman));
    assert_eq!(next(&[(Compact, 1), (DeepPrune, 5)], 26), Some(Compact));
    assert_eq!(next(&[(Compact, 10), (DeepPrune, 5)], 26), Some(DeepPrune));
    // A human who answered gives a fresh start.
    assert_eq!(next(&[(Compact, 1), (DeepPrune, 2), (AskHuman, 3)], 4), Some(Compact));
}

#[test]
fn after_so_many_there_is_none() {
    let four = [(Rung::Compact, 1), (Rung::DeepPrune, 2), (Rung::AskHuman, 3), (Rung::Compact, 4)];
    assert_eq!(climbed(&four).next(500, &most(4)), None);
    assert!(climbed(&four).next(500, &most(5)).is_some());
    assert_eq!(Recoveries::default().next(1, &most(0)), None);
    let used = climbed(&four);
    assert_eq!((used.compactions, used.prunes, used.total), (2, 1, 4));
}

#[test]
fn how_soon_is_too_soon_can_be_set() {
    let limits = Limits { recovery_iterations: 5, ..Limits::default() };
    let next = |at| climbed(&[(Rung::Compact, 1)]).next(at, &limits);
    assert_eq!((next(6), next(7)), (Some(Rung::DeepPrune), Some(Rung::Compact)));
}

#[test]
fn as_many_messages_stay_as_are_set_and_four_after_a_deep_prune() {
    for kept_messages in [1, 4, 10, 30] {
        let limits = Limits { kept_messages, ..Limits::default() };
        assert_eq!(Rung::Compact.kept_messages(&limits), kept_messages);
        assert_eq!(Rung::DeepPrune.kept_messages(&limits), kept_messages.min(4));
    }
    assert_eq!(Limits::default().kept_messages, 10);
}
