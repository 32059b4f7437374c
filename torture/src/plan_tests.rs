//! Plans are drawn from the seed, and each has something to lose.

use std::collections::BTreeSet;

use crate::dice::Dice;
use crate::plan::{Call, Plan, Step};

fn plans() -> Vec<Plan> {
    (0..500).map(|number| Plan::draw(number, &mut Dice::new(7, number))).collect()
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
    assert!(steps().any(|step| *step == Step::CutText));
    assert!(steps().any(|step| *step == Step::CutCall));
    assert!(steps().any(|step| step.effects().count() == 2));
    assert!(steps().any(|step| matches!(step, Step::Calls(_)) && step.effects().count() == 0));
}

#[test]
fn no_plan_wears_out_the_truncation_ladder() {
    let is_cut = |step: &&Step| matches!(step, Step::CutText | Step::CutCall);
    for plan in plans() {
        assert!(plan.steps.iter().filter(is_cut).count() <= 1, "{plan:?}");
    }
}

#[test]
fn no_plan_reads_in_circles() {
    for plan in plans() {
        let mut seen = BTreeSet::new();
        let calls = plan.steps.iter().filter_map(|step| match step {
            Step::Calls(calls) => Some(calls),
            Step::CutText | Step::CutCall => None,
        });
        for call in calls.flatten() {
            if let Call::Read { file } = call {
                assert!(*file < plan.files() && seen.insert(*file), "{plan:?}");
            }
        }
    }
}
