//! The journal: reading and changing it, its digest, and what it survives.

use windlass_core::run::journal::{JournalField, JournalList};
use windlass_core::stop::StopCause;

use crate::kit::{Lane, call, calls, messages, text};

fn note(lane: Lane, what: &str) -> Lane {
    let id = format!("n{}", lane.live.model_call_count);
    lane.reply(calls([call(&id, "note", what)]))
}

// spec: JOURNAL-01
#[test]
fn the_journal_answers_by_itself() {
    let lane = note(Lane::new().prompt("go"), "objective: haul it up");
    let lane =
        lane.records("model_replied round_opened permission_decided journal_changed result_finalized round_closed model_call_started");
    let lane = lane.shows_last("user: <n1 ok: the journal is at version 1>");
    let lane = note(lane, "verified_findings+ it is heavy");
    let lane = note(lane, "verified_findings+ it is wet");
    let lane = lane.reply(calls([call("r", "notes", "")]));
    lane.tells("# Run journal (version 3)\n\n## Objective\nhaul it up\n\n## Verified findings\n- #1 it is heavy\n- #2 it is wet")
        .so(|lane| {
            let journal = &lane.live.journal;
            assert_eq!((journal.version(), journal.field(JournalField::Objective)), (3, Some("haul it up")));
            assert_eq!(journal.list(JournalList::VerifiedFindings).count(), 2);
            assert_eq!(journal.handoff().objective, Some("haul it up"));
        });
}

// spec: JOURNAL-06
#[test]
fn the_last_writer_of_a_field_wins() {
    let both =
        calls([call("a", "note", "current_state: one"), call("b", "note", "current_state: two")]);
    Lane::new().prompt("go").reply(both).so(|lane| {
        assert_eq!(lane.live.journal.field(JournalField::CurrentState), Some("two"));
        assert_eq!(lane.live.journal.version(), 2);
    });
}

// spec: JOURNAL-06
#[test]
fn a_change_to_what_was_written_since_is_refused_whole() {
    let lane = note(Lane::new().prompt("go"), "blockers+ the rope is short");
    let lane = note(lane, "edit 1@1 the rope is thin").tells("the journal is at version 2");
    let lane = note(lane, "resolve 1@1");
    let lane = lane.tells("entry #1 was changed in version 2, after version 1 was read");
    let lane = lane.so(|lane| {
        assert_eq!(lane.live.journal.version(), 2);
        assert_eq!(lane.live.journal.open_entries(JournalList::Blockers).count(), 1);
    });
    let lane = note(lane, "remove 7@2").tells("there is no entry #7");
    let lane = note(lane, "resolve 1@2").tells("the journal is at version 3");
    lane.so(|lane| assert_eq!(lane.live.journal.open_entries(JournalList::Blockers).count(), 0));
}

#[test]
fn a_call_that_changes_nothing_is_answered_too() {
    note(Lane::new().prompt("go"), "what?").tells("the journal is at version 0");
    Lane::new().prompt("go").reply(calls([call("r", "notes", "")])).tells("# Run journal");
}

// spec: JOURNAL-04
#[test]
fn the_digest_changes_only_where_the_prefix_changes() {
    let lane = note(Lane::new().prompt("go"), "objective: haul");
    let lane = lane
        .so(|lane| assert_eq!(&*lane.live.model_request().unwrap().system_prompt(), "You haul."));
    let hash = lane.live.prompt_hash.clone();
    let lane = lane.reply(text("done")).prompt("more").so(|lane| {
        assert_eq!(
            &*lane.live.model_request().unwrap().system_prompt(),
            "You haul.\n\nObjective: haul"
        );
    });
    let lane = note(lane, "current_state: half way").so(|lane| {
        assert_eq!(
            &*lane.live.model_request().unwrap().system_prompt(),
            "You haul.\n\nObjective: haul"
        );
        assert_eq!(lane.live.prompt_hash, hash);
    });
    // It does not count as a prompt change.
    lane.owner_changes().wants("model 5");
}

// spec: JOURNAL-05
#[test]
fn the_whole_journal_is_shown_as_a_pair_when_a_run_starts_and_it_changed() {
    let lane = note(Lane::new().prompt("go"), "objective: haul").reply(text("done"));
    let lane =
        lane.prompt("more").records("prompt_queued journal_shown run_started model_call_started");
    let lane = lane.so(|lane| {
        let lines = messages(&lane.live);
        let [.., journal, read, prompt] = lines.as_slice() else { panic!("{lines:?}") };
        assert!(journal.starts_with("user: # Run journal"), "{journal}");
        assert_eq!(read, "assistant: I have read the run journal and continue from it.");
        assert_eq!(prompt, "user: more");
    });
    // Once: nothing was written since.
    lane.reply(text("done"))
        .prompt("again")
        .records("prompt_queued run_started model_call_started");
}

// spec: JOURNAL-01
#[test]
fn the_journal_outlives_the_iteration_limit_and_every_other_end() {
    let limited = || Lane::with(|settings| settings.limits.tool_rounds = 1).prompt("go");
    let ended = note(limited(), "handoff_next_action: run the tests");
    let lane = ended.clone().reply(calls([call("t", "read", "/a")])).ends(StopCause::MaxToolRounds);
    let lane = lane.so(|lane| {
        assert_eq!(lane.live.journal.handoff().next_action, Some("run the tests"));
    });
    lane.prompt("go on").tells("## Next action\nrun the tests");
    for end in
        [ended.clone().cancel().abort(), ended.clone().owner_changes().abort(), ended.fork("other")]
    {
        assert_eq!(end.live.journal.version(), 1);
    }
}

#[test]
fn the_journal_needs_no_leave_even_where_nothing_may_be_changed() {
    let plan = Lane::with(|settings| {
        settings.rules.mode = windlass_core::permission::PermissionMode::Plan;
    });
    note(plan.prompt("go"), "objective: plan")
        .so(|lane| assert_eq!(lane.live.journal.version(), 1));
    let none = Lane::with(|settings| {
        settings.rules.mode = windlass_core::permission::PermissionMode::PlanNone;
    });
    note(none.prompt("go"), "objective: plan").so(|lane| assert!(lane.live.journal.is_empty()));
}
