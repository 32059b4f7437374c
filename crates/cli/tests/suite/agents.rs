//! Agents that people wrote down: `.claude/agents/*.md`.

use serde_json::Value;

use crate::kit::{Place, Ran};

/// Whoever has a shell hands the counting to somebody else.
const COUNT: &str = r#"
when user is "count" and not tools include Bash
  say "Twelve, and I have no shell."

when results 0
  call Agent {"description": "count", "prompt": "count", "subagent_type": "counter"}

when any
  say "They say: ${result}"
"#;

const COUNTER: &str = "---\nname: counter\ndescription: Counts things\ntools: [Read, Grep]\n\
     model: haiku\n---\n\nYou count tiles and nothing else.\n";

fn place(agents: &[(&str, &str)]) -> Place {
    let place = Place::new(COUNT);
    std::fs::create_dir_all(place.path(".claude/agents")).unwrap();
    for (name, text) in agents {
        place.write(&format!(".claude/agents/{name}"), text);
    }
    place
}

fn init(ran: &Ran) -> Value {
    serde_json::from_str(ran.out.lines().next().unwrap()).unwrap()
}

const STREAM: &[&str] = &["--output-format", "stream-json", "--verbose"];

#[test]
fn a_child_is_the_agent_that_its_task_names() {
    let place = place(&[("counter.md", COUNTER)]);
    assert_eq!(place.run_bare(&["trust", "."]).code, 0);
    let ran = place.alone("how many?", &["--conversation", "c"]);
    assert_eq!(ran.out, "They say: Twelve, and I have no shell.\n", "{}", ran.err);
    let store = std::fs::read(place.path("w.db")).unwrap();
    let stored = String::from_utf8_lossy(&store);
    assert!(stored.contains("You count tiles and nothing else."));
    assert!(stored.contains("- counter: Counts things"));
    let init = init(&place.alone("how many?", STREAM));
    assert_eq!(init["agents"], serde_json::json!(["general-purpose", "counter"]));
}

#[test]
fn agents_of_a_folder_nobody_trusts_are_not_there() {
    let place = place(&[("counter.md", COUNTER)]);
    let ran = place.alone("how many?", &[]);
    assert!(ran.out.contains("there is no agent counter"), "{}", ran.out);
    // The user's own always are.
    std::fs::create_dir_all(place.path("user/.claude/agents")).unwrap();
    place.write("user/.claude/agents/counter.md", COUNTER);
    assert!(place.alone("how many?", &[]).out.contains("no shell"), "{}", ran.out);
    let ran = place.alone("how many?", &["--setting-sources", ""]);
    assert!(ran.out.contains("there is no agent counter"), "{}", ran.out);
}

#[test]
fn a_file_that_is_no_agent_is_left_out_in_one_sentence() {
    let place = place(&[
        ("README.md", "# Our agents\n"),
        ("nameless.md", "---\ndescription: x\n---\nbody"),
        ("mute.md", "---\nname: mute\ndescription: x\n---\n"),
        ("counter.md", COUNTER),
    ]);
    assert_eq!(place.run_bare(&["trust", "."]).code, 0);
    let ran = place.alone("how many?", &[]);
    assert!(ran.code == 0 && ran.out.contains("no shell"), "{}", ran.err);
    for (file, why) in [
        ("README.md", "it has no head"),
        ("nameless.md", "lacks `name`"),
        ("mute.md", "nothing below its head"),
    ] {
        let told = |line: &&str| line.contains(file) && line.contains(why);
        assert_eq!(ran.err.lines().filter(told).count(), 1, "{file}: {}", ran.err);
    }
    let doctor = place.run(&["doctor"]).out;
    assert!(doctor.contains("available sub-agents: counter"), "{doctor}");
    assert!(doctor.contains("mute.md is left out: there is nothing below its head"), "{doctor}");
}

// spec: TOOLS-05
#[test]
fn tools_have_the_names_that_people_know_them_by() {
    let place = Place::new(
        "when user is \"ask\" and results 0\n  \
         call AskUserQuestion {\"questions\": [{\"question\": \"Which?\"}]}\n\
         when tools include AskUserQuestion\n  say \"can ask\"\n\
         when tools include Agent\n  say \"can hand out\"\nwhen any\n  say \"neither\"\n",
    );
    assert_eq!(place.alone("go", &["--tools", "ask_human"]).out, "can ask\n");
    assert_eq!(place.alone("go", &["--tools", "Task"]).out, "can hand out\n");
    assert_eq!(place.alone("go", &["--disallowedTools", "Task,ask_human"]).out, "neither\n");
    assert!(init(&place.alone("go", STREAM))["tools"].to_string().contains("\"Task\""));
    // In a profile, too: what counts is that the human was asked.
    std::fs::create_dir(place.path("home")).unwrap();
    place.write("home/config.toml", "[profiles.careful]\nchecklist = { ask_human = 1 }\n");
    let ran = place.ask("ask", &["--profile", "careful", "--conversation", "c"]);
    assert!(ran.code == 3 && ran.err.contains("Which?"), "{}", ran.err);
    let profile = ["--script", "a.script", "--profile", "careful"];
    let ran = place.run(&[&["answer", "c", "1", "text", "this one"], &profile[..]].concat());
    assert_eq!((ran.code, ran.out.as_str()), (0, "can ask\n"), "{}", ran.err);
    let ran = place.ask("go", &["--profile", "careful"]);
    assert!(ran.err.contains("the answer was rejected by the checklist"), "{}", ran.err);
}
