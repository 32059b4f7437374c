use std::sync::Arc;

use crate::log::ids::RunId;
use crate::log::inbox::InboxCommand;
use crate::settings::conversation_settings::{ModelSpec, Settings};
use crate::settings::run_settings::RunSettings;

fn prompt(settings: Option<RunSettings>) -> InboxCommand {
    let settings = settings.map(Arc::new);
    InboxCommand::Prompt { run: RunId::from("r"), blocks: Vec::new(), settings }
}

fn full_settings(system: &str) -> RunSettings {
    let mut settings = Settings::new(ModelSpec::with_defaults("m"));
    settings.system = Arc::from(system);
    RunSettings::from_settings(&settings)
}

fn settings_of(command: &InboxCommand) -> &Arc<RunSettings> {
    let InboxCommand::Prompt { settings: Some(settings), .. } = command else {
        panic!("a prompt with settings")
    };
    settings
}

#[test]
fn settings_are_written_as_they_are_whatever_was_written_before() {
    for system in ["a", "b", "b", "a"] {
        let own = full_settings(system);
        let json = serde_json::to_string(&prompt(Some(own.clone()))).unwrap();
        let plain = serde_json::to_string(&own).unwrap();
        assert!(json.contains(&format!("\"settings\":{plain}")), "{json}");
        assert_eq!(serde_json::from_str::<InboxCommand>(&json).unwrap(), prompt(Some(own)));
    }
    let none = serde_json::to_string(&prompt(None)).unwrap();
    assert!(!none.contains("settings"), "{none}");
    assert_eq!(serde_json::from_str::<InboxCommand>(&none).unwrap(), prompt(None));
}

#[test]
fn equal_settings_are_shared() {
    let json = serde_json::to_string(&prompt(Some(full_settings("a")))).unwrap();
    let read = || serde_json::from_str::<InboxCommand>(&json).unwrap();
    let (first, second) = (read(), read());
    assert!(Arc::ptr_eq(settings_of(&first), settings_of(&second)));
}

#[test]
fn settings_of_another_version_are_refused_with_their_name() {
    let json = r#"{"prompt/1":{"run":"r","blocks":[],"settings":{"unknown_thing":1}}}"#;
    let refused = serde_json::from_str::<InboxCommand>(json).unwrap_err().to_string();
    assert!(refused.contains("unknown_thing"), "{refused}");
}
