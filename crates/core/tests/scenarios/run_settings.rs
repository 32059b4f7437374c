//! The settings of a prompt apply to its run only; the user's files stand before the first prompt.

use std::sync::Arc;

use windlass_core::Input;
use windlass_core::log::ids::RunId;
use windlass_core::log::inbox::InboxCommand;
use windlass_core::permission::{PermissionMode, PermissionRule};
use windlass_core::settings::conversation_settings::Settings;
use windlass_core::settings::run_settings::RunSettings;

use crate::kit::{Lane, say, settings, text};

fn with_rule(rule: &str) -> Settings {
    let mut settings = settings();
    settings.rules.allow = vec![PermissionRule::parse(rule).unwrap()];
    settings
}

fn prompt(run: &str, own: &Settings) -> InboxCommand {
    let settings = Some(Arc::new(RunSettings::from_settings(own)));
    InboxCommand::Prompt { run: RunId::from(run), blocks: say(run), settings }
}

fn allowed(lane: &Lane) -> Vec<String> {
    let rules = &lane.live.settings.as_ref().unwrap().rules;
    rules.allow.iter().map(|rule| rule.text().to_string()).collect()
}

// spec: LANES-14
#[test]
fn a_prompt_that_waits_keeps_its_own_settings() {
    let mut second = with_rule("Edit");
    second.rules.mode = PermissionMode::Plan;
    second.limits.tool_rounds = 2;
    Lane::new()
        .send_command(prompt("one", &with_rule("Bash")))
        .so(|lane| assert_eq!(allowed(lane), ["Bash"]))
        .send_command(prompt("two", &second))
        .so(|lane| {
            assert_eq!(allowed(lane), ["Bash"], "a run's rules do not change under its feet");
        })
        .reply(text("1"))
        .so(|lane| {
            assert_eq!(allowed(lane), ["Edit"]);
            let settings = lane.live.settings.as_ref().unwrap();
            assert_eq!(
                (settings.rules.mode, settings.limits.tool_rounds),
                (PermissionMode::Plan, 2)
            );
        })
        .send_command(InboxCommand::prompt(RunId::from("three"), say("three")))
        .reply(text("2"))
        .so(|lane| {
            assert!(!allowed(lane).contains(&"Edit".to_owned()), "the owner's, and nothing else");
        });
}

// spec: LANES-14
#[test]
fn after_a_crash_the_next_run_has_what_its_new_owner_has() {
    let owner = Arc::new(with_rule("Read"));
    let adopted = |lane: Lane| {
        let prompt_hash = owner.prompt_hash();
        let settings = Some(Arc::clone(&owner));
        lane.crash().input(Input::OwnerChanged {
            epoch: 2,
            prompt_hash,
            prompt_fingerprint: None,
            settings,
        })
    };
    let lane = Lane::new().send_command(prompt("one", &with_rule("Bash")));
    adopted(lane)
        .so(|lane| assert_eq!(allowed(lane), ["Bash"], "the run goes on as it began"))
        .send_command(InboxCommand::prompt(RunId::from("two"), say("two")))
        .reply(text("1"))
        .so(|lane| assert_eq!(allowed(lane), ["Read"]));
}

// spec: MODELS-02
#[test]
fn what_the_users_files_say_stands_before_the_first_prompt_and_again_when_it_changed() {
    let context = |text: &str| {
        let mut settings = settings();
        settings.user_context = Arc::from(text);
        settings
    };
    Lane::with(|settings| settings.user_context = Arc::from("Be brief."))
        .prompt("one")
        .reply(text("1"))
        .prompt("two")
        .reply(text("2"))
        .configure(context("Be long."))
        .prompt("three")
        .reply(text("3"))
        .shows([
            "user: Be brief. | one",
            "assistant: 1",
            "user: two",
            "assistant: 2",
            "user: Be long. | three",
            "assistant: 3",
        ]);
}
