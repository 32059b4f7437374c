//! Plans are generated from the seed, and each has effects.

use std::collections::BTreeSet;

use crate::plan::conversation_plan::{ConversationPlan, PlanStep, PlannedCall};
use crate::plan::seeded_random::SeededRandom;

fn plans() -> Vec<ConversationPlan> {
    (0..500)
        .map(|number| ConversationPlan::generate(number, &mut SeededRandom::new(7, number)))
        .collect()
}

#[test]
fn the_same_seed_draws_the_same_plans() {
    assert_eq!(plans(), plans());
}

#[test]
fn every_plan_has_effects_and_no_two_write_the_same_line() {
    let mut lines = BTreeSet::new();
    for plan in plans() {
        assert!(plan.effects().count() > 0, "{plan:?}");
        assert!((2..=7).contains(&plan.steps.len()), "{plan:?}");
        for effect in plan.effects() {
            assert!(lines.insert(effect.line.clone()), "{plan:?}");
        }
    }
}

#[test]
fn every_kind_of_step_is_drawn() {
    let plans = plans();
    let steps = || plans.iter().flat_map(|plan| &plan.steps);
    assert!(steps().any(|step| *step == PlanStep::CutText));
    assert!(steps().any(|step| *step == PlanStep::CutCall));
    assert!(steps().any(|step| step.effects().count() == 2));
    assert!(steps().any(|step| matches!(step, PlanStep::Calls(_)) && step.effects().count() == 0));
}

#[test]
fn no_plan_wears_out_the_truncation_ladder() {
    let is_cut = |step: &&PlanStep| matches!(step, PlanStep::CutText | PlanStep::CutCall);
    for plan in plans() {
        assert!(plan.steps.iter().filter(is_cut).count() <= 1, "{plan:?}");
    }
}

#[test]
fn no_plan_reads_in_circles() {
    for plan in plans() {
        let mut seen = BTreeSet::new();
        let calls = plan.steps.iter().filter_map(|step| match step {
            PlanStep::Calls(calls) => Some(calls),
            PlanStep::CutText | PlanStep::CutCall => None,
        });
        for call in calls.flatten() {
            if let PlannedCall::Read { file } = call {
                assert!(*file < plan.files() && seen.insert(*file), "{plan:?}");
            }
        }
    }
}
