//! Runs the examples and checks their output: each is a process of its own, this test binary with
//! one test and its output shown.

#[path = "../../examples/custom_tool.rs"]
mod custom_tool;
#[path = "../../examples/function_hooks.rs"]
mod function_hooks;
#[path = "../../examples/live.rs"]
mod live;
#[path = "../../examples/progress.rs"]
mod progress;
#[path = "../../examples/result_only.rs"]
mod result_only;

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

#[test]
fn the_examples_print_what_they_show() {
    for (example, expected) in [
        ("result_only", &["Forty-two. [end_turn]"][..]),
        (
            "progress",
            &["asked the model (1)", "call 1.0 came back", "asked the model (2)", "end_turn"],
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
