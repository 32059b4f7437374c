//! The examples of `docs/scripted.md` are scripts.

use windlass_providers::scripted::Script;

const PAGE: &str = include_str!("../../../../docs/scripted.md");

/// The text of every block that is fenced as a script.
fn scripts() -> Vec<&'static str> {
    let blocks = PAGE.split("```script\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap()).collect()
}

#[test]
fn every_example_is_a_script_with_rules() {
    let scripts = scripts();
    assert!(scripts.len() >= 8, "{} examples", scripts.len());
    for script in scripts {
        let read = Script::parse(script).unwrap_or_else(|error| panic!("{error} in\n{script}"));
        assert!(!read.rules.is_empty(), "{script}");
    }
}
