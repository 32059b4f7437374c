//! `windlass journal`.

use crate::test_home::TestHome;

const SCRIPT: &str = "when results 0\n  call update_run_journal {\"objective\": \"mend the roof\"}\n  \
    call append_run_journal_entry {\"section\": \"blockers\", \"entry\": \"it rains\"}\n  \
    call append_run_journal_entry {\"section\": \"blockers\", \"entry\": \"no nails\\u001b[31m\"}\n\
    when results 3\n  call edit_run_journal_entry {\"entry\": 1, \"action\": \"resolve\", \"version\": 3}\n\
    when ask 3\n  call edit_run_journal_entry {\"entry\": 1, \"action\": \"remove\", \"version\": 3}\n\
    when any\n  say \"done\"\n";

// spec: JOURNAL-07, JOURNAL-06
#[test]
fn the_whole_journal_is_printed() {
    let home = TestHome::new(SCRIPT);
    let ran = home.run_prompt("go", &["--conversation", "c"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let ran = home.run(&["journal", "c"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    for expected in [
        "Run journal of c (version 4)",
        "Objective\n  mend the roof",
        "Blockers\n  #1 (resolved) it rains\n  #2 no nails",
    ] {
        assert!(ran.out.contains(expected), "{expected:?} is missing in\n{}", ran.out);
    }
    assert!(!ran.out.contains('\u{1b}'), "{:?}", ran.out);
    let json = &home.json(&["journal", "c"])[0];
    assert_eq!((&json["version"], &json["objective"]), (&4.into(), &"mend the roof".into()));
    assert_eq!(json["current_state"], serde_json::Value::Null);
    let blockers = &json["blockers"];
    assert_eq!((&blockers[0]["id"], &blockers[0]["resolved"]), (&1.into(), &true.into()));
    assert_eq!((&blockers[1]["id"], &blockers[1]["resolved"]), (&2.into(), &false.into()));
    // The change that came too late was rejected, and the model was told.
    let ran = home.run(&["show", "c", "--json"]);
    assert!(ran.out.contains("entry #1 was changed in version 4"), "{}", ran.out);
}

#[test]
fn an_empty_journal_says_so() {
    let home = TestHome::new("when any\n  say \"x\"\n");
    home.run_prompt("go", &["--conversation", "c"]);
    let ran = home.run(&["journal", "c"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.starts_with("The journal of c is empty"), "{}", ran.out);
    assert_eq!(home.json(&["journal", "c"])[0]["blockers"], serde_json::json!([]));
    assert_ne!(home.run(&["journal", "nobody"]).code, 0);
}
