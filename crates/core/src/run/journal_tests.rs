use std::sync::Arc;

use crate::run::journal::{Journal, JournalChange, JournalField, JournalList};

fn set(field: JournalField, text: &str) -> JournalChange {
    JournalChange::Set { field, text: Arc::from(text) }
}

fn append(list: JournalList, text: &str) -> JournalChange {
    JournalChange::Append { list, text: Arc::from(text) }
}

fn journal(changes: &[JournalChange]) -> Journal {
    let mut journal = Journal::default();
    changes.iter().for_each(|change| journal.apply(change));
    journal
}

fn full() -> Journal {
    journal(&[
        set(JournalField::Objective, "haul it up"),
        set(JournalField::CurrentState, "half way"),
        append(JournalList::VerifiedFindings, "it is heavy"),
        append(JournalList::VerifiedFindings, "it is wet"),
        append(JournalList::VerifiedFindings, "it is old"),
        append(JournalList::VerifiedFindings, "it is red"),
        append(JournalList::Decisions, "by hand, because it is safer"),
        append(JournalList::Artifacts, "/tmp/rope.md"),
        append(JournalList::OpenQuestions, "who owns it"),
        append(JournalList::Blockers, "the rope is short"),
        append(JournalList::Blockers, "it rains"),
        set(JournalField::HandoffNextAction, "splice the rope"),
    ])
}

// spec: JOURNAL-02
#[test]
fn every_section_is_rendered_in_its_place() {
    let expected = "# Run journal (version 12)\n\n## Objective\nhaul it up\n\n\
        ## Current state\nhalf way\n\n\
        ## Next action\nsplice the rope\n\n## Verified findings\n- #1 it is heavy\n- #2 it is wet\n\
        - #3 it is old\n- #4 it is red\n\n## Decisions\n- #5 by hand, because it is safer\n\n\
        ## Artifacts\n- #6 /tmp/rope.md\n\n## Open questions\n- #7 who owns it\n\n\
        ## Blockers\n- #8 the rope is short\n- #9 it rains\n";
    assert_eq!(full().render(), expected);
    assert_eq!(Journal::default().render(), "# Run journal (version 0)\n");
}

// spec: JOURNAL-02
#[test]
fn sections_have_the_names_they_are_known_by() {
    let names = |changes: &[JournalChange]| serde_json::to_string(changes).unwrap();
    let fields =
        [JournalField::Objective, JournalField::CurrentState, JournalField::HandoffNextAction];
    let lists = [
        JournalList::VerifiedFindings,
        JournalList::Decisions,
        JournalList::Artifacts,
        JournalList::OpenQuestions,
        JournalList::Blockers,
    ];
    let output =
        names(&fields.map(|field| set(field, ""))) + &names(&lists.map(|list| append(list, "")));
    for name in [
        "objective",
        "current_state",
        "handoff_next_action",
        "verified_findings",
        "decisions",
        "artifacts",
        "open_questions",
        "blockers",
    ] {
        assert!(output.contains(&format!("\"{name}\"")), "{name}");
    }
}

// spec: JOURNAL-04
#[test]
fn the_digest_holds_what_matters_first() {
    assert_eq!(
        full().digest(),
        "Objective: haul it up\nState: half way\nBlocker: the rope is short\nNext: splice the rope\n\
         Found: it is red\nFound: it is old\nFound: it is wet"
    );
    assert_eq!(Journal::default().digest(), "");
}

// spec: JOURNAL-04
#[test]
fn the_digest_never_passes_five_hundred_characters_and_keeps_every_part() {
    let long = "ש".repeat(3_000);
    let digest = journal(&[
        set(JournalField::Objective, &long),
        set(JournalField::CurrentState, "line one\nline two"),
        append(JournalList::Blockers, &long),
        set(JournalField::HandoffNextAction, "splice"),
        append(JournalList::VerifiedFindings, &long),
        append(JournalList::VerifiedFindings, &long),
        append(JournalList::VerifiedFindings, &long),
    ])
    .digest();
    assert!(digest.chars().count() <= 500, "{}", digest.chars().count());
    assert_eq!(digest.lines().count(), 7);
    assert!(digest.contains("State: line one line two\n") && digest.contains("Next: splice\n"));
    let one = journal(&[set(JournalField::Objective, &long)]).digest();
    assert!((490..=500).contains(&one.chars().count()) && one.ends_with('…'));
}

#[test]
fn texts_and_lists_have_an_end() {
    let mut journal = journal(&[set(JournalField::Objective, &"x".repeat(100_000))]);
    assert!(journal.field(JournalField::Objective).unwrap().len() < 2_100);
    for nth in 0..300 {
        journal.apply(&append(JournalList::Decisions, &nth.to_string()));
    }
    let kept: Vec<&str> = journal.open_entries(JournalList::Decisions).collect();
    assert_eq!((kept.len(), kept[0], kept[99]), (100, "200", "299"));
    assert_eq!(journal.version(), 301);
    assert!(!journal.is_empty());
}

#[test]
fn whoever_takes_over_reads_three_lines() {
    let journal = full();
    let handoff = journal.handoff();
    assert_eq!(handoff.objective, Some("haul it up"));
    assert_eq!((handoff.state, handoff.next_action), (Some("half way"), Some("splice the rope")));
    let json = serde_json::to_string(&Journal::default().handoff()).unwrap();
    assert_eq!(json, r#"{"objective":null,"state":null,"next_action":null}"#);
}

// spec: JOURNAL-01, JOURNAL-04
#[test]
fn entries_are_changed_resolved_reopened_and_removed() {
    let mut journal = full();
    journal.apply(&JournalChange::Resolve { entry: 8 });
    assert!(journal.digest().contains("Blocker: it rains"), "{}", journal.digest());
    assert!(journal.render().contains("- #8 (resolved) the rope is short\n- #9 it rains"));
    journal.apply(&JournalChange::Edit { entry: 9, text: Arc::from("it pours") });
    assert_eq!(journal.open_entries(JournalList::Blockers).collect::<Vec<_>>(), ["it pours"]);
    journal.apply(&JournalChange::Remove { entry: 9 });
    assert!(!journal.digest().contains("Blocker"), "{}", journal.digest());
    journal.apply(&JournalChange::Reopen { entry: 8 });
    assert!(journal.digest().contains("Blocker: the rope is short"), "{}", journal.digest());
    journal.apply(&JournalChange::Resolve { entry: 4 });
    assert!(!journal.digest().contains("it is red"), "{}", journal.digest());
    // A number is given once.
    journal.apply(&append(JournalList::Blockers, "the crane is gone"));
    assert!(journal.render().contains("- #10 the crane is gone"));
    journal.apply(&set(JournalField::Objective, "  "));
    assert_eq!(journal.field(JournalField::Objective), None);
    let before = journal.render();
    journal.apply(&JournalChange::Remove { entry: 9 });
    journal.apply(&JournalChange::Edit { entry: u32::MAX, text: Arc::from("x") });
    let (old, new) = (before.lines().skip(1), journal.render());
    assert!(old.eq(new.lines().skip(1)), "{new}");
}

// spec: JOURNAL-06
#[test]
fn only_what_was_written_since_is_a_conflict() {
    let mut journal = full();
    let read = journal.version();
    let resolve = [JournalChange::Resolve { entry: 8 }];
    assert_eq!(journal.check_version(read, &resolve), Ok(()));
    journal.apply(&JournalChange::Edit { entry: 8, text: Arc::from("the rope is thin") });
    let conflict = journal.check_version(read, &resolve).unwrap_err().to_string();
    assert_eq!(conflict, "entry #8 was changed in version 13, after version 12 was read");
    assert_eq!(journal.check_version(read + 1, &resolve), Ok(()));
    // Other entries and fields were not touched.
    assert_eq!(journal.check_version(read, &[JournalChange::Remove { entry: 9 }]), Ok(()));
    assert_eq!(journal.check_version(read, &[set(JournalField::Objective, "x")]), Ok(()));
    assert_eq!(journal.check_version(0, &[append(JournalList::Blockers, "x")]), Ok(()));
    let both = [set(JournalField::CurrentState, "x"), JournalChange::Reopen { entry: 77 }];
    assert_eq!(
        journal.check_version(read, &both).unwrap_err().to_string(),
        "there is no entry #77"
    );
    let early =
        journal.check_version(1, &[set(JournalField::CurrentState, "x")]).unwrap_err().to_string();
    assert_eq!(early, "Current state was changed in version 2, after version 1 was read");
    let late = journal.check_version(99, &[]).unwrap_err().to_string();
    assert_eq!(late, "there is no version 99; the journal is at version 13");
}

#[test]
fn a_full_list_gives_up_what_is_resolved_first() {
    let mut journal = Journal::default();
    for nth in 0..100 {
        journal.apply(&append(JournalList::Blockers, &nth.to_string()));
    }
    journal.apply(&JournalChange::Resolve { entry: 51 });
    journal.apply(&append(JournalList::Blockers, "one more"));
    assert_eq!(journal.open_entries(JournalList::Blockers).count(), 100);
    journal.apply(&append(JournalList::Blockers, "and one"));
    let kept: Vec<&str> = journal.open_entries(JournalList::Blockers).collect();
    assert_eq!((kept.len(), kept[0], kept[99]), (100, "1", "and one"));
}
