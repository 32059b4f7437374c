//! What a prompt brings along is its run's alone; what the user's files say stands before the first
//! prompt.

use std::sync::Arc;

use windlass_core::Input;
use windlass_core::ids::RunId;
use windlass_core::mail::MailBody;
use windlass_core::permission::{Mode, Rule};
use windlass_core::run_settings::RunSettings;
use windlass_core::settings::Settings;

use crate::kit::{Lane, say, settings, text};

fn with_rule(rule: &str) -> Settings {
    let mut settings = settings();
    settings.rules.allow = vec![Rule::parse(rule).unwrap()];
    settings
}

fn prompt(run: &str, own: &Settings) -> MailBody {
    let settings = Some(Arc::new(RunSettings::of(own)));
    MailBody::Prompt { run: RunId::from(run), blocks: say(run), settings }
}

fn allowed(lane: &Lane) -> Vec<String> {
    let rules = &lane.live.settings.as_ref().unwrap().rules;
    rules.allow.iter().map(|rule| rule.text().to_string()).collect()
}

// spec: LANES-14
#[test]
fn a_prompt_that_waits_keeps_its_own_settings() {
    let mut second = with_rule("Edit");
    second.rules.mode = Mode::Plan;
    second.limits.tool_rounds = 2;
    Lane::new()
        .mail(prompt("one", &with_rule("Bash")))
        .so(|lane| assert_eq!(allowed(lane), ["Bash"]))
        .mail(prompt("two", &second))
        .so(|lane| {
            assert_eq!(allowed(lane), ["Bash"], "a run's rules do not change under its feet");
        })
        .reply(text("1"))
        .so(|lane| {
            assert_eq!(allowed(lane), ["Edit"]);
            let settings = lane.live.settings.as_ref().unwrap();
            assert_eq!((settings.rules.mode, settings.limits.tool_rounds), (Mode::Plan, 2));
        })
        .mail(MailBody::prompt(RunId::from("three"), say("three")))
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
        lane.crash().input(Input::Adopted { epoch: 2, prompt_hash, offer: None, settings })
    };
    let lane = Lane::new().mail(prompt("one", &with_rule("Bash")));
    adopted(lane)
        .so(|lane| assert_eq!(allowed(lane), ["Bash"], "the run goes on as it began"))
        .mail(MailBody::prompt(RunId::from("two"), say("two")))
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
