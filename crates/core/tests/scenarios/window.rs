//! Pruning without a model call: stages, thresholds, and what blocks a call.

use windlass_core::context::{PruneStage, StageSwitch};
use windlass_core::log::record::Record;
use windlass_core::stop::StopCause;

use crate::kit::{Lane, call, calls, page, paid_only, small, text};

/// The stages that acted in the last entry, in order.
fn stages(lane: &Lane) -> Vec<PruneStage> {
    let stage = |record: &Record| match record {
        Record::Pruned { stage, .. } => Some(*stage),
        _ => None,
    };
    lane.last.iter().filter_map(stage).collect()
}

/// Nine rounds of 6,000 characters: over 70 % with the last.
fn filled(
    change: impl FnOnce(&mut windlass_core::settings::conversation_settings::Settings),
) -> Lane {
    let lane = Lane::with(|settings| {
        small(settings);
        change(settings);
    });
    lane.prompt("go").fills(0..8, 6_000)
}

#[test]
fn below_seventy_per_cent_nothing_is_touched() {
    filled(|_| {})
        .so(|lane| assert!(lane.share() <= 70, "{}", lane.share()))
        .records("call_returned result_finalized round_closed model_call_started")
        .so(|lane| assert_eq!(lane.live.transcript.generation(), 0));
}

// spec: WINDOW-01, WINDOW-06
#[test]
fn over_seventy_per_cent_the_cheapest_stage_that_frees_enough_acts() {
    filled(|_| {})
        .reads(8, 6_000)
        .records("call_returned result_finalized round_closed pruned model_call_started")
        .so(|lane| {
            assert_eq!(stages(lane), [PruneStage::Micro]);
            assert!(lane.share() <= 50, "{}", lane.share());
            assert_eq!(lane.live.transcript.generation(), 1);
        });
    // Nothing was summarised, and the newest results are complete.
    filled(|_| {})
        .reads(8, 6_000)
        .tells(&page(8, 6_000))
        .tells("characters omitted")
        .hides("summary");
}

#[test]
fn stages_are_switched_one_by_one() {
    let off = |stage: fn(&mut windlass_core::context::WindowSettings)| {
        filled(move |settings| stage(&mut settings.window)).reads(8, 6_000)
    };
    off(|window| window.micro = StageSwitch::Off)
        .records("call_returned result_finalized round_closed compacted model_call_started");
    off(|window| window.snip = StageSwitch::Off)
        .so(|lane| assert_eq!(stages(lane), [PruneStage::Micro]));
    // The summary is left, and cannot be switched off.
    off(|window| {
        window.snip = StageSwitch::Off;
        window.micro = StageSwitch::Off;
        window.collapse = StageSwitch::Off;
    })
    .records("call_returned result_finalized round_closed compacted model_call_started");
}

#[test]
fn a_stage_that_does_not_free_enough_leaves_no_trace() {
    // One result per round, each short: nothing to truncate, nothing repeated.
    let lane = Lane::with(small).prompt("go").fills(0..28, 1_900);
    let lane = lane.so(|lane| assert_eq!(lane.count("pruned"), 0));
    lane.so(|lane| assert_eq!(lane.count("compacted"), 1));
}

#[test]
fn results_of_calls_made_again_give_way_to_a_pointer() {
    let again = |lane: Lane, nth: usize| {
        let id = format!("t{nth}");
        lane.says(calls([call(&id, "read", "/same")])).returns(0, &page(nth, 1_900))
    };
    let lane = Lane::with(|settings| {
        small(settings);
        settings.window.thresholds.gain = 60;
    });
    let lane = (0..28).fold(lane.prompt("go"), again);
    lane.so(|lane| {
        let mut acted = lane.log.iter().flat_map(|entry| &entry.records);
        let collapsed =
            |record: &Record| matches!(record, Record::Pruned { stage: PruneStage::Collapse, .. });
        assert!(acted.any(collapsed));
    })
    .tells("older result of a call that was repeated later")
    .tells(&page(27, 1_900));
}

// spec: TRANSCRIPT-09
#[test]
fn thoughts_and_notes_go_first_and_only_the_old_ones() {
    let thinking = |nth: usize| {
        format!(r#"{{"type":"thinking","thinking":"{}","signature":"s{nth}"}}"#, page(nth, 5_000))
    };
    let mut lane = Lane::with(small).prompt("go");
    for nth in 0..11 {
        let id = format!("t{nth}");
        let reply = calls([]).json(&thinking(nth)).block(call(&id, "read", &format!("/{nth}")));
        lane = lane.says(reply).returns(0, "ok");
    }
    lane.so(|lane| assert!(lane.count("pruned") > 0, "{}", lane.share())).so(|lane| {
        let thoughts = lane.live.transcript.thinking_removals();
        // The last five rounds keep theirs: the API requires them unchanged.
        assert!((5..11).contains(&thoughts.len()), "{}", thoughts.len());
        let all = format!("{:?}", lane.live.transcript);
        assert!(all.contains(&page(10, 5_000)));
    });
}

#[test]
fn the_latest_turn_is_never_pruned_however_few_messages_are_kept() {
    let thinking = r#"{"type":"thinking","thinking":"hm","signature":"s"}"#;
    let lane = Lane::with(|settings| {
        small(settings);
        settings.limits.kept_messages = 0;
    });
    let lane = lane.prompt("go").fills(0..2, 20_000);
    let reply = calls([]).json(thinking).block(call("t9", "read", "/9"));
    lane.says(reply).returns(0, &page(9, 15_000)).so(|lane| {
        assert!(lane.count("pruned") > 0);
        let all = format!("{:?}", lane.live.transcript);
        assert!(all.contains(thinking) && all.contains(&page(9, 15_000)));
    });
}

#[test]
fn cheap_stages_leave_the_summary_and_the_journal_alone() {
    let lane = Lane::with(|settings| {
        small(settings);
        settings.window.micro = StageSwitch::Off;
    });
    let lane = lane.prompt("go").says(calls([call("n", "note", "objective: haul")]));
    let lane = lane.fills(0..10, 6_000).so(|lane| assert_eq!(lane.count("compacted"), 1));
    let mut settings = (**lane.live.settings.as_ref().unwrap()).clone();
    settings.window.micro = StageSwitch::On;
    let lane = lane.says(text("done")).configure(settings).prompt("more").fills(20..25, 6_000);
    lane.so(|lane| assert!(lane.count("pruned") > 0, "{}", lane.share()))
        .tells("[summary of the earlier conversation")
        .tells("# Run journal")
        .tells("## Objective\nhaul");
}

// spec: WINDOW-13
#[test]
fn over_the_blocking_limit_no_call_is_made() {
    Lane::with(small)
        .prompt(&page(0, 80_000))
        .records("prompt_queued run_started run_finished")
        .ends(StopCause::BlockingLimit)
        .so(|lane| {
            assert_eq!(lane.ended().counters.model_calls, 0);
            assert!(lane.ended().cause.is_resumable());
        })
        // The conversation is unchanged; a larger window continues it.
        .configure(crate::kit::settings())
        .prompt("go on")
        .wants("model 1");
}

#[test]
fn a_window_of_nothing_is_always_full() {
    for (window, output) in [(0, 0), (0, u64::MAX), (1, 1)] {
        Lane::with(|settings| {
            settings.model.window_tokens = window;
            settings.model.max_tokens = output;
        })
        .prompt("hi")
        .ends(StopCause::BlockingLimit)
        .prompt("again")
        .ends(StopCause::BlockingLimit);
    }
    Lane::with(|settings| settings.model.window_tokens = u64::MAX).prompt("hi").wants("model 1");
}

#[test]
fn what_cheap_stages_free_is_used_before_a_run_is_blocked() {
    // Four recoveries are used up; the window is full; old results can still be truncated.
    let lane = Lane::with(|settings| {
        small(settings);
        settings.limits.recoveries = 0;
        settings.window.thresholds.gain = 5;
    });
    let lane = lane.prompt("go").fills(0..12, 6_000).reads(12, 7_000);
    lane.wants("model 14").so(|lane| {
        assert_eq!(lane.count("pruned"), 1);
        assert!(lane.share() < 98);
    });
}

// spec: WINDOW-12
#[test]
fn a_window_that_stays_tight_lets_the_run_go_on_until_it_is_full() {
    let lane = Lane::with(|settings| {
        paid_only(settings);
        settings.limits.recoveries = 0;
    });
    let lane = lane.prompt("go").fills(0..11, 6_000).wants("model 12");
    lane.so(|lane| assert!(lane.share() > 70)).reads(11, 8_000).ends(StopCause::BlockingLimit);
}

// spec: WINDOW-03
#[test]
fn results_over_their_limit_are_cut_before_they_are_first_sent() {
    Lane::with(|settings| settings.limits.result_chars = 500)
        .prompt("go")
        .reads(0, 6_000)
        .tells("[… 5500 characters omitted …]")
        .so(|lane| assert_eq!(lane.live.transcript.generation(), 0));
}

// spec: WINDOW-03
#[test]
fn results_of_one_message_share_its_budget() {
    let many: Vec<_> =
        (0..8).map(|nth| call(&format!("t{nth}"), "read", &format!("/{nth}"))).collect();
    let many: [windlass_core::message::content_block::ContentBlock; 8] = many.try_into().unwrap();
    let lane = Lane::with(small).prompt("go").says(calls(many));
    // Half of the window, 40,000 characters, is 5,000 for each of eight.
    let lane = (0..8).fold(lane, |lane, nth| lane.returns(nth, &page(nth, 30_000)));
    lane.wants("model 2").tells("[… 25000 characters omitted …]").so(|lane| {
        assert!(lane.share() < 70, "{}", lane.share());
        assert_eq!(lane.live.transcript.generation(), 0);
    });
}

/// A tight window with something for every stage: thinking, a long result, a repeated call.
fn something_for_all(
    change: impl FnOnce(&mut windlass_core::settings::conversation_settings::Settings),
) -> Lane {
    let thinking =
        format!(r#"{{"type":"thinking","thinking":"{}","signature":"s"}}"#, page(0, 4_000));
    let lane = Lane::with(|settings| {
        small(settings);
        settings.window.thresholds.gain = 50;
        change(settings);
    });
    let lane = lane.prompt("go").says(calls([]).json(&thinking).block(call("a", "fetch", "/x")));
    let lane = lane.returns(0, &page(1, 10_000));
    let again = |lane: Lane, nth: usize| {
        lane.says(calls([call(&format!("b{nth}"), "bash", "make")])).returns(0, &page(nth, 1_900))
    };
    let lane = (0..3).fold(lane, again).fills(0..5, 6_000);
    lane.so(|lane| assert_eq!(lane.count("pruned"), 0)).reads(9, 7_500)
}

// spec: WINDOW-01
#[test]
fn stages_act_in_their_order_and_the_paid_one_last() {
    something_for_all(|_| {}).so(|lane| {
        assert_eq!(
            stages(lane),
            [PruneStage::Snip, PruneStage::Micro, PruneStage::Collapse],
            "{}",
            lane.share()
        );
    });
    // Not even all of them free enough: then a summary is made, and nothing else is changed.
    something_for_all(|settings| settings.window.thresholds.gain = 1).so(|lane| {
        assert_eq!(stages(lane), []);
        assert!(lane.count("compacted") > 0);
    });
}

// spec: WINDOW-02
#[test]
fn any_subset_of_stages_composes() {
    for bits in 0..8_u8 {
        let on = |bit: u8| if bits & (1 << bit) == 0 { StageSwitch::Off } else { StageSwitch::On };
        let lane = something_for_all(|settings| {
            let window = &mut settings.window;
            (window.snip, window.micro, window.collapse) = (on(0), on(1), on(2));
            window.thresholds.gain = 69;
        });
        let window = &lane.live.settings.as_ref().unwrap().window;
        let is_on = |stage: &PruneStage| window.cheap_stages().any(|on| on == *stage);
        assert!(stages(&lane).iter().all(is_on), "{bits:b}");
        lane.wants("model 11");
    }
}
