//! The settings that a prompt sets for its run, and those that stay with the owner.

use std::sync::Arc;

use super::RunSettings;
use crate::message::raw_json::RawJson;
use crate::permission::{PermissionMode, PermissionRule};
use crate::settings::conversation_settings::{ModelSpec, Settings, ToolSpec};

fn settings(tools: &[&str]) -> Settings {
    let mut settings = Settings::new(ModelSpec::with_defaults("m"));
    settings.tools = tools
        .iter()
        .map(|name| ToolSpec {
            name: Arc::from(*name),
            description: Arc::from(""),
            input_schema: RawJson::encode(&()),
        })
        .collect();
    settings
}

#[test]
fn a_run_has_the_rules_of_its_prompt_and_the_folders_of_its_owner() {
    let mut owner = settings(&["Read", "Bash"]);
    owner.rules.allow.push(PermissionRule::parse("Bash").unwrap());
    owner.rules.root = Arc::from("/here");
    owner.user_context = Arc::from("files");
    let mut sent = settings(&["Read", "Write"]);
    sent.rules.mode = PermissionMode::Plan;
    sent.rules.root = Arc::from("/there");
    sent.system = Arc::from("be brief");
    sent.limits.tool_rounds = 3;
    let run = RunSettings::from_settings(&sent).apply_over(&owner);
    assert_eq!((run.rules.mode, run.rules.allow.len()), (PermissionMode::Plan, 0));
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
    assert_eq!(RunSettings::default().apply_over(&owner), owner);
    assert_eq!(RawJson::encode(&RunSettings::default()).text(), "{}");
    assert_eq!(RunSettings::from_settings(&owner).apply_over(&owner), owner);
}
