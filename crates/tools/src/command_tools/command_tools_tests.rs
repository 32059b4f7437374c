//! Argument lists and what is wrong with a table.

use serde_json::{Value, json};

use super::argument_template::{ArgumentTemplate, fill_arguments};
use super::config::{CommandToolConfig, CommandToolName};

fn fill(words: &[&str], values: Value) -> Result<Vec<String>, String> {
    let templates: Vec<_> =
        words.iter().map(|word| ArgumentTemplate::parse(word).unwrap()).collect();
    let Value::Object(values) = values else { panic!("values are an object") };
    fill_arguments(&templates, &values, "key")
}

#[test]
fn a_value_is_one_argument_whatever_is_in_it() {
    let hostile = "a b; rm -rf / $(id) `id` \n'\"*";
    let filled =
        fill(&["--name={name}", "x{name}y", "{idempotency_key}"], json!({"name": hostile}));
    let expected = [format!("--name={hostile}"), format!("x{hostile}y"), "key".to_owned()];
    assert_eq!(filled.unwrap(), expected);
    let filled = fill(&["{n}", "{b}", "{l}"], json!({"n": -3, "b": true, "l": ["a", 1]}));
    assert_eq!(filled.unwrap(), ["-3", "true", "[\"a\",1]"]);
    assert_eq!(fill(&["{{x}}", "a}}"], json!({})).unwrap(), ["{x}", "a}"]);
}

#[test]
fn an_argument_whose_value_was_left_out_is_dropped() {
    let filled = fill(&["a", "--to={to}", "b"], json!({}));
    assert_eq!(filled.unwrap(), ["a", "b"]);
    assert_eq!(fill(&["{to}"], json!({"to": null})).unwrap(), Vec::<String>::new());
    assert_eq!(fill(&["{to}"], json!({"to": ""})).unwrap(), [""]);
}

#[test]
fn a_value_cannot_become_an_option() {
    let value = json!({"file": "--output=/etc/x"});
    assert!(fill(&["{file}"], value.clone()).unwrap_err().contains("option"));
    assert_eq!(fill(&["--", "{file}"], value.clone()).unwrap(), ["--", "--output=/etc/x"]);
    assert_eq!(fill(&["--in={file}"], value).unwrap(), ["--in=--output=/etc/x"]);
    assert!(fill(&["{file}"], json!({"file": "a\0b"})).is_err());
}

fn error_of(table: Value) -> String {
    serde_json::from_value::<CommandToolConfig>(table).unwrap_err().to_string()
}

#[test]
fn what_is_wrong_with_a_table_is_said() {
    let with = |more: Value| {
        let mut table = json!({"description": "d", "argv": ["true"]});
        table.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        table
    };
    assert!(serde_json::from_value::<CommandToolConfig>(with(json!({}))).is_ok());
    for (more, says) in [
        (json!({"read_onyl": true}), "unknown field `read_onyl`"),
        (json!({"argv": []}), "begins with the program"),
        (json!({"argv": ["{x}"]}), "must begin with a program"),
        (json!({"argv": ["a", "{nmae}"], "input": {"name": "string"}}), "{nmae}, which the input"),
        (json!({"argv": ["awk", "{print}  "]}), "{print}, which the input"),
        (json!({"argv": ["awk", "{ print }"]}), "write {{ or }} for a brace"),
        (json!({"input": {"name": "text"}}), "use one of string, integer"),
        (json!({"input": {}, "schema": {"type": "object"}}), "keep one"),
        (json!({"schema": {"type": "string"}}), "`type = \"object\"`"),
        (json!({"timeout_ms": 0}), "`timeout_ms` must be between"),
        (json!({"description": ""}), "`description` is empty"),
        (json!({"verify": ["x"], "idempotent": true}), "`verify` has no effect"),
        (json!({"verify": ["x", "{y}"]}), "`verify` uses {y}"),
        (json!({"env": {"A=B": "x"}}), "not a name for an environment variable"),
    ] {
        let found = error_of(with(more.clone()));
        assert!(found.contains(says), "{more}: {found}");
    }
}

#[test]
fn no_name_shadows_a_built_in_tool() {
    let name = |text: &str| CommandToolName::try_from(text.to_owned());
    assert!(name("set_colors").is_ok());
    for (bad, says) in [
        ("Bash", "built-in"),
        ("read", "built-in"),
        ("mcp__x__y", "MCP"),
        ("a b", "is not a name"),
        ("", "is not a name"),
        ("1a", "is not a name"),
    ] {
        assert!(name(bad).unwrap_err().contains(says), "{bad}");
    }
}
