//! The examples are run, not only compiled.

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
fn the_three_ways_of_consuming_run() {
    result_only::main().unwrap();
    progress::main().unwrap();
    live::main().unwrap();
}

#[test]
fn a_tool_of_ones_own_runs() {
    custom_tool::main().unwrap();
}

#[test]
fn hooks_written_in_rust_run() {
    function_hooks::main().unwrap();
}
