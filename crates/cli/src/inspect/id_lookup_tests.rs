use windlass::core::log::ids::{LaneId, RunId, UnixMillis};
use windlass::core::projection::RunDescription;
use windlass::core::stop::RunState;
use windlass::ports::RunInfo;

use super::{RunTarget, find_among};

fn run(run: &str, lane: &str) -> RunInfo {
    RunInfo {
        tenant: "default".into(),
        run: RunId::from(run),
        lane: LaneId::from(lane),
        state: RunState::Completed,
        cause: None,
        text: None,
        at: UnixMillis(1),
        resume_available: false,
        cancel_requested: false,
        description: RunDescription::default(),
        usd_micros: None,
    }
}

fn lane(lane: &str) -> RunTarget {
    RunTarget { lane: LaneId::from(lane), run: None }
}

fn of(run: &str, lane: &str) -> RunTarget {
    RunTarget { lane: LaneId::from(lane), run: Some(RunId::from(run)) }
}

#[test]
fn a_unique_beginning_is_enough_and_a_shared_one_is_not() {
    let runs = [run("01aa", "mine"), run("01ab", "mine"), run("02", "conversation:02b")];
    let rows = [
        ("01aa", Some(of("01aa", "mine"))),
        ("01ab", Some(of("01ab", "mine"))),
        ("m", Some(lane("mine"))),
        ("02b", Some(lane("conversation:02b"))),
        // The id of a run and of its conversation have the same prefix: the conversation wins.
        ("0", None),
        ("02", Some(of("02", "conversation:02b"))),
        ("01a", None),
        ("zzz", None),
    ];
    for (id, expected) in rows {
        assert_eq!(find_among(&runs, id).ok(), expected, "{id}");
    }
    let both = [run("0199aa", "conversation:0199ab")];
    assert_eq!(find_among(&both, "0199").ok(), Some(lane("conversation:0199ab")));
}

#[test]
fn what_is_not_found_says_what_to_do() {
    let said = |runs: &[RunInfo], id: &str| find_among(runs, id).unwrap_err().to_string();
    assert!(said(&[], "x").contains("windlass -p"));
    assert!(said(&[run("a", "b")], "x").contains("windlass runs"));
    let many = said(&[run("aa", "c"), run("ab", "d")], "a");
    assert!(
        many.contains("aa") && many.contains("ab") && many.contains("more characters"),
        "{many}"
    );
}
