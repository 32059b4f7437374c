use std::sync::Arc;

use crate::budget::spending::SpendingCaps;
use crate::log::ids::{CallId, LaneId};
use crate::run::child_runs::{
    ChildCancellation, ChildOutcome, ChildReply, PendingChildren, child_lane,
};

fn back(text: &str, ending: ChildOutcome) -> Option<ChildReply> {
    Some(ChildReply { text: Arc::from(text), ending })
}

#[test]
fn who_is_out_is_at_work_or_waits() {
    let mut away = PendingChildren::new(3, SpendingCaps::default());
    away.started = 2;
    assert_eq!((away.running_count(), away.outstanding_count(), away.is_complete()), (2, 3, false));
    away.replies = vec![back("a", ChildOutcome::Answered), None, None];
    assert_eq!(away.running_parts().collect::<Vec<_>>(), [1]);
    away.replies = vec![back("a", ChildOutcome::Answered), back("b", ChildOutcome::Failed), None];
    assert!(!away.is_complete(), "the third waits for room");
    away.cancellation = ChildCancellation::Requested;
    assert!(away.is_complete());
    assert_eq!(away.combined_text(100), "[1] a\n\n[2] failed: b\n\n[3] was not started");
}

#[test]
fn all_failed_is_a_failure() {
    let mut away = PendingChildren::new(1, SpendingCaps::default());
    away.replies = vec![back("b", ChildOutcome::Failed)];
    assert!(away.has_failed());
    assert_eq!(away.combined_text(100), "failed: b");
    away.replies.push(back("a", ChildOutcome::Answered));
    assert!(!away.has_failed());
}

#[test]
fn a_child_has_a_lane_of_its_own() {
    let lane = LaneId::from("conversation:1");
    let of =
        |model_call, index, part| child_lane(&lane, CallId { model_call, index }, part).to_string();
    assert_eq!(of(3, 1, 2), "conversation:1/3.1-2");
    assert_ne!(of(3, 1, 2), of(3, 12, 0));
}
