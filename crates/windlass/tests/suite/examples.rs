//! Runs the examples and checks their output: each is a process of its own, this test binary with
//! one test and its output shown.

#[path = "../../examples/approval.rs"]
mod approval;
#[path = "../../examples/conversation.rs"]
mod conversation;
#[path = "../../examples/custom_tool.rs"]
mod custom_tool;
#[path = "../../examples/durable.rs"]
mod durable;
#[path = "../../examples/function_hooks.rs"]
mod function_hooks;
#[path = "../../examples/limits.rs"]
mod limits;
#[path = "../../examples/live.rs"]
mod live;
#[path = "../../examples/partial_messages.rs"]
mod partial_messages;
#[path = "../../examples/progress.rs"]
mod progress;
#[path = "../../examples/result_only.rs"]
mod result_only;
#[path = "../../examples/structured_output.rs"]
mod structured_output;
#[path = "../../examples/sub_agent.rs"]
mod sub_agent;

#[test]
fn result_only_runs() {
    result_only::main().unwrap();
}

#[test]
fn progress_runs() {
    progress::main().unwrap();
}

#[test]
fn live_runs() {
    live::main().unwrap();
}

#[test]
fn custom_tool_runs() {
    custom_tool::main().unwrap();
}

#[test]
fn function_hooks_runs() {
    function_hooks::main().unwrap();
}

#[test]
fn approval_runs() {
    approval::main().unwrap();
}

#[test]
fn conversation_runs() {
    conversation::main().unwrap();
}

#[test]
fn durable_runs() {
    durable::main().unwrap();
}

#[test]
fn limits_runs() {
    limits::main().unwrap();
}

#[test]
fn partial_messages_runs() {
    partial_messages::main().unwrap();
}

#[test]
fn structured_output_runs() {
    structured_output::main().unwrap();
}

#[test]
fn sub_agent_runs() {
    sub_agent::main().unwrap();
}

#[expect(clippy::disallowed_methods, reason = "only a process has an output that can be read")]
fn printed(example: &str) -> String {
    let this = std::env::current_exe().unwrap();
    let test = format!("examples::{example}_runs");
    let ran = std::process::Command::new(this).args(["--exact", &test, "--nocapture"]).output();
    let ran = ran.unwrap();
    let out = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success() && out.contains("1 passed"), "{example}: {out}");
    out
}

// spec: FEED-04
#[test]
fn the_examples_print_what_they_show() {
    for (example, expected) in [
        ("result_only", &["Forty-two. [end_turn]"][..]),
        (
            "progress",
            &[
                "says I look for it.",
                "calls Glob",
                "gets a result",
                "ends (end_turn) after 2 turns",
            ],
        ),
        ("approval", &["Bash wants {\"command\":\"rm -rf build\"}", "Finished: built"]),
        ("conversation", &["You said one", "You said two", "You said three, in the copy"]),
        ("durable", &["You said before the crash", "You said after it", "2 prompts"]),
        ("limits", &["stopped (max_turns): Some([\"the limit of rounds"]),
        ("partial_messages", &["Piece by piece, as the provider sends them.\n[end_turn]"]),
        ("structured_output", &["4 stars: Does what it says."]),
        (
            "sub_agent",
            &["agent calls Agent", "sub-agent calls Glob", "The counter says: no file at all"],
        ),
        ("live", &["One word after the other, as they come.\n[end_turn]"]),
        ("custom_tool", &["High water is at 07:12. [end_turn]"]),
        ("function_hooks", &["this came back: ", "nothing is removed here"]),
    ] {
        let out = printed(example);
        for text in expected {
            assert!(out.contains(text), "{example} should print {text:?}: {out}");
        }
    }
}
