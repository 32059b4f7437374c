use std::sync::Arc;

use crate::message::raw_json::RawJson;
use crate::run::prompt_change::describe_changes;
use crate::settings::conversation_settings::{ModelSpec, Settings, ToolSpec};

fn settings(system: &str, tools: &[(&str, &str)]) -> Settings {
    let spec = |(name, about): &(&str, &str)| ToolSpec {
        name: Arc::from(*name),
        description: Arc::from(*about),
        input_schema: RawJson::parse(r#"{"type":"object"}"#).unwrap(),
    };
    Settings {
        system: Arc::from(system),
        tools: tools.iter().map(spec).collect(),
        ..Settings::new(ModelSpec::with_defaults("m"))
    }
}

// spec: RESUME-10
#[test]
fn every_kind_of_change_is_named() {
    let old = settings("be kind", &[("read", "r"), ("write", "w"), ("bash", "b")]);
    let new = settings("be curt", &[("read", "r"), ("write", "writes"), ("fetch", "f")]);
    let output = describe_changes(&old.prompt_fingerprint(), &new.prompt_fingerprint());
    let [before, after] =
        [&old, &new].map(|settings| settings.prompt_fingerprint().system[..8].to_owned());
    assert_eq!(
        &*output,
        format!(
            "changed since the run started: system prompt changed ({before} to {after}); changed tools: write; missing tools: bash; new tools: fetch"
        )
    );
}

#[test]
fn one_change_alone_is_all_that_is_said() {
    let two = settings("s", &[("a", "x"), ("b", "x")]);
    let said = |system: &str, tools: &[(&str, &str)]| {
        describe_changes(&two.prompt_fingerprint(), &settings(system, tools).prompt_fingerprint())
            .replace("changed since the run started: ", "")
    };
    assert_eq!(said("s", &[("a", "x")]), "missing tools: b");
    assert_eq!(said("s", &[("a", "x"), ("b", "y")]), "changed tools: b");
    assert_eq!(said("s", &[("b", "x"), ("a", "x")]), "order of the tools changed");
    assert!(!said("t", &[("a", "x"), ("b", "x")]).contains("tools"));
}

#[test]
fn many_changes_are_a_sentence_still() {
    let names: Vec<String> = (0..500).map(|n| format!("tool{n}")).collect();
    let tools: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "x")).collect();
    let output = describe_changes(
        &settings("s", &tools).prompt_fingerprint(),
        &settings("s", &[]).prompt_fingerprint(),
    );
    assert!(output.ends_with("tool7 and 492 more"), "{output}");
}
