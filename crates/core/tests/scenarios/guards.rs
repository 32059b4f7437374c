//! The watch for circles: hint, directive, human; and what is no circle.

use std::sync::Arc;

use windlass_core::mail::Answer;
use windlass_core::record::{Record, ToolChoice};
use windlass_core::settings::Forcing;
use windlass_core::thrash::{Level, Tier};

use crate::kit::{Lane, call, calls, text};

/// A round of one call that brings back this.
fn round(lane: Lane, tool: &str, on: &str, result: &str) -> Lane {
    let id = format!("t{}", lane.live.asks);
    lane.reply(calls([call(&id, tool, on)])).returns(0, result)
}

/// The same call with the same result, so often.
fn circles(lane: Lane, times: usize) -> Lane {
    (0..times).fold(lane, |lane, _| round(lane, "read", "/a", "the same"))
}

fn level(lane: &Lane) -> Level {
    lane.run().guard.level()
}

/// What the last entry says of a circle.
fn found(lane: &Lane) -> Option<(Tier, String)> {
    lane.last.iter().find_map(|record| match record {
        Record::Watched { found: Some(found), .. } => Some((found.tier, found.tool.to_string())),
        _ => None,
    })
}

fn choice(lane: &Lane) -> ToolChoice {
    lane.run().asking().unwrap().choice.clone()
}

// spec: GUARDS-02, GUARDS-05
#[test]
fn the_same_call_three_times_in_six_is_hinted_at() {
    let lane = circles(Lane::new().prompt("go"), 2);
    let lane = lane.settles("completed settled round_closed asked");
    circles(lane, 1)
        .settles("completed settled round_closed watched noted asked")
        .so(|lane| {
            assert_eq!(found(lane), Some((Tier::Identical, "read".to_owned())));
            assert_eq!(level(lane), Level::Nudge);
        })
        .tells("try a different approach or a different tool");
}

// spec: GUARDS-02
#[test]
fn the_same_tool_four_times_without_anything_new_is_hinted_at() {
    let lane = Lane::new().prompt("go");
    let lane = ["/a", "/b", "/c"].iter().fold(lane, |lane, on| round(lane, "read", on, ""));
    let lane = lane.so(|lane| assert_eq!(level(lane), Level::Calm));
    round(lane, "read", "/d", "").so(|lane| {
        assert_eq!(found(lane), Some((Tier::Pattern, "read".to_owned())));
        assert_eq!(level(lane), Level::Nudge);
    });
}

#[test]
fn a_circle_in_company_is_found_too() {
    let pair = |lane: Lane, nth: usize| {
        let (a, b) = (format!("a{nth}"), format!("b{nth}"));
        let other = format!("/other{nth}");
        lane.reply(calls([call(&a, "read", "/a"), call(&b, "fetch", &other)]))
            .returns(0, "same")
            .returns(1, "")
    };
    (0..3).fold(Lane::new().prompt("go"), pair).so(|lane| {
        assert_eq!(found(lane), Some((Tier::Identical, "read".to_owned())));
    });
}

// spec: GUARDS-06
#[test]
fn hint_directive_human_in_this_order() {
    let lane = Lane::with(|settings| settings.guards.lookup_tool = Some(Arc::from("send")));
    let lane = circles(lane.prompt("go"), 3).so(|lane| assert_eq!(choice(lane), ToolChoice::Open));
    let lane = circles(lane, 1).settles("completed settled round_closed watched noted asked");
    let lane = lane.tells("stop repeating these calls").so(|lane| {
        assert_eq!(level(lane), Level::Directive);
        assert_eq!(choice(lane), ToolChoice::Only(Arc::from("send")));
    });
    circles(lane, 1)
        .settles("completed settled round_closed watched questioned")
        .asks("I keep calling read without getting anywhere")
        .parked()
        .answer(Answer::Text { text: Arc::from("look in /b") })
        .settles("answered guided asked")
        .tells("look in /b")
        .so(|lane| assert_eq!(level(lane), Level::Calm));
}

#[test]
fn after_guidance_the_past_is_past() {
    let asked = circles(Lane::new().prompt("go"), 5).parked();
    let lane = asked.clone().answer(Answer::Continue {}).wants("ask 6");
    circles(lane, 2).so(|lane| assert_eq!(level(lane), Level::Calm));
    asked.answer(Answer::Abandon {}).ends(windlass_core::stop::StopCause::UserCancel);
}

#[test]
fn without_a_lookup_tool_the_directive_is_words_alone() {
    circles(Lane::new().prompt("go"), 4).so(|lane| assert_eq!(choice(lane), ToolChoice::Open));
    // A tool that is not offered cannot be called for.
    let lane = Lane::with(|settings| settings.guards.lookup_tool = Some(Arc::from("oracle")));
    circles(lane.prompt("go"), 4).so(|lane| assert_eq!(choice(lane), ToolChoice::Open));
}

// spec: GUARDS-07
#[test]
fn a_model_that_cannot_be_forced_is_offered_nothing_else() {
    let lane = Lane::with(|settings| {
        settings.guards.lookup_tool = Some(Arc::from("send"));
        settings.model.forcing = Forcing::Impossible;
    });
    let lane = circles(lane.prompt("go"), 4);
    let lane = lane.so(|lane| assert_eq!(choice(lane), ToolChoice::Only(Arc::from("send"))));
    // If it goes on in circles, the runtime asks by itself.
    circles(lane, 1).parked();
}

// spec: GUARDS-03, GUARDS-04
#[test]
fn progress_holds_the_level_and_says_nothing() {
    // Twenty files are work.
    let lane = (0..20).fold(Lane::new().prompt("go"), |lane, nth| {
        round(lane, "read", &format!("/{nth}"), &format!("text {nth}"))
    });
    lane.so(|lane| {
        assert_eq!(level(lane), Level::Calm);
        assert!(found(lane).is_some(), "every detection is told");
        assert_eq!(lane.count("noted"), 0);
    });
    // A level that falls has nothing to say.
    let lane = circles(Lane::new().prompt("go"), 4);
    let noted = lane.count("noted");
    round(lane, "read", "/new", "something new").so(|lane| {
        assert_eq!(level(lane), Level::Nudge);
        assert_eq!(lane.count("noted"), noted);
    });
}

// spec: GUARDS-04
#[test]
fn failed_denied_and_empty_results_are_no_progress() {
    let lane = Lane::new().prompt("go");
    let denied = |lane: Lane, nth: usize| {
        lane.reply(calls([call(&format!("t{nth}"), "rm", &format!("/{nth}"))]))
    };
    (0..4).fold(lane, denied).so(|lane| assert_eq!(level(lane), Level::Nudge));
    let lane = Lane::new().prompt("go");
    let failing = |lane: Lane, nth: usize| {
        let lane = lane.reply(calls([call(&format!("t{nth}"), "write", &format!("/{nth}"))]));
        lane.errs(0, windlass_core::outcome::ToolError::new("no", "no", "no"))
    };
    (0..6).fold(lane, failing).parked();
}

#[test]
fn looking_again_after_a_change_is_careful_work() {
    let edit_and_test = |lane: Lane, nth: usize| {
        let lane = round(lane, "write", &format!("/src{nth}"), "written");
        round(lane, "bash", "make test", "1 failed")
    };
    (0..8).fold(Lane::new().prompt("go"), edit_and_test).so(|lane| {
        assert!(level(lane) < Level::Directive, "{:?}", level(lane));
    });
}

// spec: GUARDS-04
#[test]
fn exempt_tools_are_never_counted_and_never_raise_anything() {
    let lane = Lane::with(|settings| settings.guards.exempt = vec![Arc::from("read")]);
    circles(lane.prompt("go"), 12).so(|lane| assert_eq!(lane.count("watched"), 0));
    let lane = Lane::with(|settings| settings.guards.exempt = vec![Arc::from("fetch")]);
    let lane = circles(lane.prompt("go"), 3).so(|lane| assert_eq!(level(lane), Level::Nudge));
    round(lane, "fetch", "/x", "").so(|lane| {
        assert_eq!(level(lane), Level::Nudge);
        assert_eq!(found(lane), None);
    });
}

#[test]
fn a_run_that_ends_here_needs_no_advice() {
    let lane = Lane::with(|settings| settings.limits.model_calls = 3);
    circles(lane.prompt("go"), 3)
        .settles("completed settled round_closed watched finished")
        .ends(windlass_core::stop::StopCause::MaxModelCalls);
    let asked = circles(Lane::new().prompt("go"), 5);
    asked.cancel().ends(windlass_core::stop::StopCause::UserCancel);
}

#[test]
fn the_watch_begins_anew_with_every_run() {
    let lane = circles(Lane::new().prompt("go"), 4).reply(text("done")).prompt("again");
    lane.so(|lane| assert_eq!(level(lane), Level::Calm));
}

#[test]
fn a_level_survives_a_crash() {
    circles(Lane::new().prompt("go"), 4).adopted().so(|lane| {
        assert_eq!(level(lane), Level::Directive);
    });
}
