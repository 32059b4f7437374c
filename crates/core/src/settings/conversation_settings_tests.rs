use std::sync::Arc;

use crate::message::loaded_tools::LoadedTools;
use crate::permission::PermissionRule;

use crate::message::raw_json::RawJson;
use crate::settings::conversation_settings::{ModelSpec, Settings, StopAction, ToolSpec};

fn settings() -> Settings {
    Settings::new(ModelSpec::with_defaults("m"))
}

fn tool(name: &str) -> ToolSpec {
    let input_schema = RawJson::parse(r#"{"type":"object"}"#).unwrap();
    ToolSpec { name: Arc::from(name), description: Arc::from("d"), input_schema }
}

// spec: STOP-13
#[test]
fn the_map_that_ships_has_the_two_agreed_strings() {
    let settings = settings();
    let found: Vec<(&str, &StopAction)> =
        settings.stop_map.iter().map(|(key, action)| (&**key, action)).collect();
    let drift = StopAction::Reprompt { reason: Arc::from("roleplay_drift") };
    assert_eq!(found, [("\n---END---", &StopAction::Finish), ("\nUser:", &drift)]);
}

#[test]
fn the_prompt_hash_covers_prompt_and_tools_and_nothing_else() {
    let base = settings().prompt_hash();
    let mut same = settings();
    same.limits.tool_rounds = 1;
    same.model.max_tokens = 1;
    same.rules.deny.push(PermissionRule::parse("x").unwrap());
    assert_eq!(same.prompt_hash(), base);
    let mut system = settings();
    system.system = Arc::from("other");
    let mut tools = settings();
    tools.tools = vec![tool("a"), tool("b")];
    let mut order = settings();
    order.tools = vec![tool("b"), tool("a")];
    let mut hashes = vec![base, system.prompt_hash(), tools.prompt_hash(), order.prompt_hash()];
    hashes.sort();
    hashes.dedup();
    assert_eq!(hashes.len(), 4);
}

#[test]
fn the_prompt_hash_never_changes() {
    let mut settings = settings();
    settings.system = Arc::from("You haul.");
    settings.tools = vec![tool("read")];
    let stable =
        r#"["You haul.",[{"name":"read","description":"d","input_schema":{"type":"object"}}]]"#;
    assert_eq!(*settings.prompt_hash(), *crate::message::raw_json::sha256_hex(stable.as_bytes()));
    assert_eq!(settings.prompt_byte_count(&LoadedTools::default()), (9 + 4 + 1 + 17) as u64);
}

#[test]
fn settings_are_read_as_they_were_written() {
    let mut settings = settings();
    settings.tools = vec![tool("a")];
    let json = serde_json::to_string(&settings).unwrap();
    assert_eq!(serde_json::from_str::<Settings>(&json).unwrap(), settings);
}

#[test]
fn a_setting_nobody_knows_is_named() {
    let json = serde_json::to_string(&settings()).unwrap();
    for location in ["{\"agent\"", "\"model\":{", "\"limits\":{", "\"hooks\":{"] {
        let end = location.trim_start_matches("{\"agent\"");
        let odd = if end.is_empty() {
            "{\"warp\":9,\"agent\"".to_owned()
        } else {
            format!("{location}\"warp\":9,")
        };
        let error =
            serde_json::from_str::<Settings>(&json.replacen(location, &odd, 1)).unwrap_err();
        assert!(error.to_string().contains("unknown field `warp`"), "{location}: {error}");
    }
}
