use std::sync::Arc;

use crate::budget::Caps;
use crate::child::{Away, Back, Ending, Recalled, lane_of};
use crate::ids::{CallId, LaneId};

fn back(text: &str, ending: Ending) -> Option<Back> {
    Some(Back { text: Arc::from(text), ending })
}

#[test]
fn who_is_out_is_at_work_or_waits() {
    let mut away = Away::new(3, Caps::default());
    away.sent = 2;
    assert_eq!((away.at_work(), away.out(), away.is_over()), (2, 3, false));
    away.back = vec![back("a", Ending::Answered), None, None];
    assert_eq!(away.at_work_parts().collect::<Vec<_>>(), [1]);
    away.back = vec![back("a", Ending::Answered), back("b", Ending::Failed), None];
    assert!(!away.is_over(), "the third waits for room");
    away.recalled = Recalled::Yes;
    assert!(away.is_over());
    assert_eq!(away.text(100), "[1] a\n\n[2] failed: b\n\n[3] was not begun");
}

#[test]
fn all_failed_is_a_failure() {
    let mut away = Away::new(1, Caps::default());
    away.back = vec![back("b", Ending::Failed)];
    assert!(away.failed());
    assert_eq!(away.text(100), "failed: b");
    away.back.push(back("a", Ending::Answered));
    assert!(!away.failed());
}

#[test]
fn a_child_has_a_lane_of_its_own() {
    let lane = LaneId::from("conversation:1");
    let of = |ask, index, part| lane_of(&lane, CallId { ask, index }, part).to_string();
    assert_eq!(of(3, 1, 2), "conversation:1/3.1-2");
    assert_ne!(of(3, 1, 2), of(3, 12, 0));
}
