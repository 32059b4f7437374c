//! What a prompt brings along, and what stays with the owner.

use std::sync::Arc;

use super::RunSettings;
use crate::permission::{Mode, Rule};
use crate::raw::Raw;
use crate::settings::{Model, Settings, ToolSpec};

fn settings(tools: &[&str]) -> Settings {
    let mut settings = Settings::new(Model::named("m"));
    settings.tools = tools
        .iter()
        .map(|name| ToolSpec {
            name: Arc::from(*name),
            description: Arc::from(""),
            input_schema: Raw::encode(&()),
        })
        .collect();
    settings
}

#[test]
fn a_run_has_the_rules_of_its_prompt_and_the_folders_of_its_owner() {
    let mut owner = settings(&["Read", "Bash"]);
    owner.rules.allow.push(Rule::parse("Bash").unwrap());
    owner.rules.root = Arc::from("/here");
    owner.user_context = Arc::from("files");
    let mut sent = settings(&["Read", "Write"]);
    sent.rules.mode = Mode::Plan;
    sent.rules.root = Arc::from("/there");
    sent.system = Arc::from("be brief");
    sent.limits.tool_rounds = 3;
    let run = RunSettings::of(&sent).over(&owner);
    assert_eq!((run.rules.mode, run.rules.allow.len()), (Mode::Plan, 0));
    assert_eq!(
        (&*run.rules.root, &*run.system, &*run.user_context),
        ("/here", "be brief", "files")
    );
    assert_eq!(run.limits.tool_rounds, 3);
    let names: Vec<&str> = run.tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["Read"]);
}

#[test]
fn what_is_not_said_is_the_owners() {
    let owner = settings(&["Read"]);
    assert_eq!(RunSettings::default().over(&owner), owner);
    assert_eq!(Raw::encode(&RunSettings::default()).text(), "{}");
    assert_eq!(RunSettings::of(&owner).over(&owner), owner);
}
