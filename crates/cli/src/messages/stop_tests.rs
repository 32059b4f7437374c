//! One reason and one next step per stop cause.

use windlass::StopCause;
use windlass::core::log::ids::LaneId;

use super::{next_step, stop_reason};

#[test]
fn reasons_are_clauses_and_next_steps_are_sentences() {
    let lane = LaneId::from("q z");
    for cause in StopCause::all() {
        let (reason, step) = (stop_reason(cause), next_step(cause, &lane));
        assert!(reason.starts_with(char::is_lowercase) && !reason.ends_with('.'), "{reason}");
        assert!(step.starts_with(char::is_uppercase) && step.ends_with('.'), "{step}");
        assert!(!step.contains(" q z"), "the id is quoted for a shell: {step}");
    }
}
