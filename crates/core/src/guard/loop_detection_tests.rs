use std::sync::Arc;

use crate::guard::loop_detection::{
    CallObservation, EscalationLevel, LoopDetectorConfig, LoopDetectorTier, LoopGuard,
    ObservedEffect,
};
use crate::settings::conversation_settings::{ModelSpec, Settings};

/// The default thresholds.
fn usual(exempt: &[Arc<str>]) -> LoopDetectorConfig<'_> {
    let shipped = Settings::new(ModelSpec::with_defaults("m"));
    LoopDetectorConfig {
        exempt,
        ..LoopDetectorConfig { exempt: &[], ..LoopDetectorConfig::from_settings(&shipped) }
    }
}

fn seen(tool: &str, input: u64, result: Option<u64>) -> CallObservation {
    CallObservation { tool: Arc::from(tool), input, result, effect: ObservedEffect::ReadOnly }
}

fn watch(
    rounds: &[&[CallObservation]],
) -> (LoopGuard, Vec<Option<(LoopDetectorTier, EscalationLevel)>>) {
    let mut guard = LoopGuard::default();
    let mut all = Vec::new();
    for round in rounds {
        all.push(guard.observe(round, usual(&[])).map(|found| (found.tier, found.level)));
    }
    (guard, all)
}

// spec: GUARDS-02
#[test]
fn identical_is_three_in_the_last_six() {
    let same = [seen("read", 1, Some(9))];
    let other = |nth: u64| [seen("bash", 100 + nth, Some(200 + nth))];
    let (a, b, c, d) = (other(1), other(2), other(3), other(4));
    let (_, found) = watch(&[&same, &a, &same, &b, &same]);
    assert_eq!(
        found,
        [None, None, None, None, Some((LoopDetectorTier::Identical, EscalationLevel::Nudge))]
    );
    // The third within six calls, the other two at its far end.
    let write = [seen("write", 300, Some(400))];
    let (_, found) = watch(&[&same, &same, &a, &b, &write, &same]);
    assert_eq!(found.last(), Some(&Some((LoopDetectorTier::Identical, EscalationLevel::Nudge))));
    // With one more call between them the first is forgotten, and nothing else is found.
    let (_, found) = watch(&[&same, &same, &a, &b, &write, &c, &same]);
    assert_eq!(found, [None; 7]);
    // Four calls of another tool are a pattern of their own.
    let (_, found) = watch(&[&same, &same, &a, &b, &c, &d, &same]);
    assert_eq!(found[5..], [Some((LoopDetectorTier::Pattern, EscalationLevel::Calm)), None]);
}

#[test]
fn the_numbers_of_the_detectors_can_be_set() {
    let same = [seen("read", 1, Some(9))];
    let found_after = |detectors: LoopDetectorConfig<'_>| {
        let mut guard = LoopGuard::default();
        (1..20).find(|_| guard.observe(&same, detectors).is_some())
    };
    assert_eq!(found_after(usual(&[])), Some(3));
    assert_eq!(found_after(LoopDetectorConfig { identical: 2, ..usual(&[]) }), Some(2));
    assert_eq!(
        found_after(LoopDetectorConfig { identical: 5, same_tool: 6, window: 6, exempt: &[] }),
        Some(5)
    );
    assert_eq!(
        found_after(LoopDetectorConfig { identical: 6, same_tool: 5, window: 6, exempt: &[] }),
        Some(5)
    );
}

// spec: GUARDS-02
#[test]
fn pattern_is_four_in_the_last_six() {
    let empty = |nth: u64| [seen("read", nth, None)];
    let rounds: Vec<[CallObservation; 1]> = (0..4).map(empty).collect();
    let rounds: Vec<&[CallObservation]> = rounds.iter().map(|round| &round[..]).collect();
    let (_, found) = watch(&rounds);
    assert_eq!(
        found,
        [None, None, None, Some((LoopDetectorTier::Pattern, EscalationLevel::Nudge))]
    );
}

#[test]
fn the_level_rises_step_by_step_and_stays_at_a_human() {
    let same = [seen("read", 1, Some(9))];
    let (guard, found) = watch(&[&same[..]; 7]);
    let levels: Vec<EscalationLevel> =
        found.into_iter().flatten().map(|(_, level)| level).collect();
    use EscalationLevel::{Directive, Human, Nudge};
    assert_eq!(levels, [Nudge, Directive, Human, Human, Human]);
    assert_eq!(guard.level(), Human);
}

#[test]
fn a_new_result_takes_the_level_back() {
    let same = [seen("read", 1, Some(9))];
    let mut guard = LoopGuard::default();
    (0..4).for_each(|_| drop(guard.observe(&same, usual(&[]))));
    assert_eq!(guard.level(), EscalationLevel::Directive);
    let found = guard.observe(&[seen("read", 1, Some(10))], usual(&[])).unwrap();
    assert_eq!(found.level, EscalationLevel::Nudge);
    guard.observe(&[seen("bash", 5, Some(11))], usual(&[]));
    assert_eq!(guard.level(), EscalationLevel::Calm);
}

#[test]
fn a_round_without_calls_says_nothing() {
    let same = [seen("read", 1, Some(9))];
    let (mut guard, _) = watch(&[&same[..]; 3]);
    assert_eq!(guard.observe(&[], usual(&[])), None);
    assert_eq!(guard.level(), EscalationLevel::Nudge);
}

// spec: GUARDS-01, GUARDS-04
#[test]
fn an_exempt_tool_may_be_called_often_but_not_with_the_same_arguments() {
    let all = [Arc::from("read")];
    let mut guard = LoopGuard::default();
    for nth in 0..10 {
        assert_eq!(guard.observe(&[seen("read", nth, None)], usual(&all)), None, "{nth}");
    }
    let mut guard = LoopGuard::default();
    let same = [seen("read", 1, Some(9))];
    let tiers: Vec<Option<LoopDetectorTier>> =
        (0..5).map(|_| guard.observe(&same, usual(&all)).map(|found| found.tier)).collect();
    let identical = Some(LoopDetectorTier::Identical);
    assert_eq!(tiers, [None, None, identical, identical, identical]);
    assert_eq!(guard.level(), EscalationLevel::Human);
}

#[test]
fn what_is_remembered_is_bounded() {
    let mut guard = LoopGuard::default();
    for nth in 0..10_000 {
        guard.observe(&[seen("read", nth, Some(nth + 1_000_000))], usual(&[]));
    }
    assert!(format!("{guard:?}").len() < 6_000);
    guard.reset();
    assert_eq!(guard, LoopGuard::default());
}

#[test]
fn a_change_that_was_made_before_is_no_progress() {
    let change = CallObservation { effect: ObservedEffect::Mutating, ..seen("write", 1, Some(2)) };
    let (guard, _) = watch(&[std::slice::from_ref(&change); 4]);
    assert_eq!(guard.level(), EscalationLevel::Directive);
}
