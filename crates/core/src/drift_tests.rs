use std::sync::Arc;

use crate::drift::what;
use crate::raw::Raw;
use crate::settings::{Model, Settings, ToolSpec};

fn settings(system: &str, tools: &[(&str, &str)]) -> Settings {
    let spec = |(name, about): &(&str, &str)| ToolSpec {
        name: Arc::from(*name),
        description: Arc::from(*about),
        input_schema: Raw::parse(r#"{"type":"object"}"#).unwrap(),
    };
    Settings {
        system: Arc::from(system),
        tools: tools.iter().map(spec).collect(),
        ..Settings::new(Model::named("m"))
    }
}

// spec: RESUME-10
#[test]
fn every_kind_of_change_is_named() {
    let old = settings("be kind", &[("read", "r"), ("write", "w"), ("bash", "b")]);
    let new = settings("be curt", &[("read", "r"), ("write", "writes"), ("fetch", "f")]);
    let said = what(&old.offer(), &new.offer());
    let [before, after] = [&old, &new].map(|settings| settings.offer().system[..8].to_owned());
    assert_eq!(
        &*said,
        format!(
            "since the run began something is different: the system prompt ({before} is now \
             {after}); changed tools: write; missing tools: bash; new tools: fetch"
        )
    );
}

#[test]
fn one_change_alone_is_all_that_is_said() {
    let two = settings("s", &[("a", "x"), ("b", "x")]);
    let said = |system: &str, tools: &[(&str, &str)]| {
        what(&two.offer(), &settings(system, tools).offer()).replace("since the run began ", "")
    };
    assert_eq!(said("s", &[("a", "x")]), "something is different: missing tools: b");
    assert_eq!(said("s", &[("a", "x"), ("b", "y")]), "something is different: changed tools: b");
    assert_eq!(
        said("s", &[("b", "x"), ("a", "x")]),
        "something is different: the order of the tools"
    );
    assert!(!said("t", &[("a", "x"), ("b", "x")]).contains("tools"));
}

#[test]
fn many_changes_are_a_sentence_still() {
    let names: Vec<String> = (0..500).map(|n| format!("tool{n}")).collect();
    let tools: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "x")).collect();
    let said = what(&settings("s", &tools).offer(), &settings("s", &[]).offer());
    assert!(said.ends_with("tool7 and 492 more"), "{said}");
}
