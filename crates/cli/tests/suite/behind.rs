//! A prompt that waits behind another: nobody is torn from their work by a process that has its own
//! result.

use serde_json::Value;

use crate::kit::Place;

const WORK: &str = r#"
when user is "one" and results 0
  call Bash {"command": "touch one"}

when user is "two" and results 0
  call Bash {"command": "sleep 0.5; touch two"}

when any
  say "said ${user}"
"#;

const LEAVE: &[&str] =
    &["answer", "c", "1", "allow", "--script", "a.script", "--allowedTools", "Bash"];

/// The first prompt waits for leave, the second one behind it.
fn place() -> Place {
    let place = Place::new(WORK);
    let rules = r#"{"permissions": {"ask": ["Bash(touch one)"]}}"#;
    place.ask("one", &["--conversation", "c", "--allowedTools", "Bash", "--settings", rules]);
    let ran = place.alone("two", &["--conversation", "c", "--detach"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    place
}

#[test]
fn what_waits_is_seen_to_its_end_and_everything_is_said_once() {
    let place = place();
    let ran = place.run(LEAVE);
    assert_eq!((ran.code, ran.out.as_str()), (0, "said one\nsaid two\n"), "{}", ran.err);
    assert!(ran.err.contains("another prompt waits here; going on with it"), "{}", ran.err);
    assert!(place.path("two").exists());
    for run in place.json(&["runs"]) {
        assert_eq!(run["state"], "completed", "{run}");
    }
}

#[test]
fn a_program_gets_one_result() {
    let place = place();
    let ran = place.run(&[LEAVE, &["--output-format", "json"]].concat());
    let result: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, &result["result"]), (0, &"said one".into()), "{}", ran.err);
    assert!(place.path("two").exists());
}
