use std::sync::Arc;

use crate::journal::{Change, Field, Journal, List};

fn set(field: Field, text: &str) -> Change {
    Change::Set { field, text: Arc::from(text) }
}

fn append(list: List, text: &str) -> Change {
    Change::Append { list, text: Arc::from(text) }
}

fn journal(changes: &[Change]) -> Journal {
    let mut journal = Journal::default();
    changes.iter().for_each(|change| journal.apply(change));
    journal
}

fn full() -> Journal {
    journal(&[
        set(Field::Objective, "haul it up"),
        set(Field::CurrentState, "half way"),
        append(List::VerifiedFindings, "it is heavy"),
        append(List::VerifiedFindings, "it is wet"),
        append(List::VerifiedFindings, "it is old"),
        append(List::VerifiedFindings, "it is red"),
        append(List::Decisions, "by hand, because it is safer"),
        append(List::Artifacts, "/tmp/rope.md"),
        append(List::OpenQuestions, "who owns it"),
        append(List::Blockers, "the rope is short"),
        append(List::Blockers, "it rains"),
        set(Field::HandoffNextAction, "splice the rope"),
    ])
}

// spec: JOURNAL-02
#[test]
fn every_section_is_rendered_in_its_place() {
    let expected = "# Run journal\n\n## Objective\nhaul it up\n\n## Current state\nhalf way\n\n\
        ## Next action\nsplice the rope\n\n## Verified findings\n- it is heavy\n- it is wet\n\
        - it is old\n- it is red\n\n## Decisions\n- by hand, because it is safer\n\n\
        ## Artifacts\n- /tmp/rope.md\n\n## Open questions\n- who owns it\n\n\
        ## Blockers\n- the rope is short\n- it rains\n";
    assert_eq!(full().render(), expected);
    assert_eq!(Journal::default().render(), "# Run journal\n");
}

// spec: JOURNAL-02
#[test]
fn sections_have_the_names_they_are_known_by() {
    let names = |changes: &[Change]| serde_json::to_string(changes).unwrap();
    let fields = [Field::Objective, Field::CurrentState, Field::HandoffNextAction];
    let lists = [
        List::VerifiedFindings,
        List::Decisions,
        List::Artifacts,
        List::OpenQuestions,
        List::Blockers,
    ];
    let said =
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
        assert!(said.contains(&format!("\"{name}\"")), "{name}");
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
        set(Field::Objective, &long),
        set(Field::CurrentState, "line one\nline two"),
        append(List::Blockers, &long),
        set(Field::HandoffNextAction, "splice"),
        append(List::VerifiedFindings, &long),
        append(List::VerifiedFindings, &long),
        append(List::VerifiedFindings, &long),
    ])
    .digest();
    assert!(digest.chars().count() <= 500, "{}", digest.chars().count());
    assert_eq!(digest.lines().count(), 7);
    assert!(digest.contains("State: line one line two\n") && digest.contains("Next: splice\n"));
    let one = journal(&[set(Field::Objective, &long)]).digest();
    assert!((490..=500).contains(&one.chars().count()) && one.ends_with('…'));
}

#[test]
fn texts_and_lists_have_an_end() {
    let mut journal = journal(&[set(Field::Objective, &"x".repeat(100_000))]);
    assert!(journal.field(Field::Objective).unwrap().len() < 2_100);
    for nth in 0..300 {
        journal.apply(&append(List::Decisions, &nth.to_string()));
    }
    let kept: Vec<&str> = journal.list(List::Decisions).collect();
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
