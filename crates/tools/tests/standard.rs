//! Properties of every standard tool.

use serde::Deserialize;
use serde_json::{Value, json as value};
use windlass_core::call::call_facts::Repeatability;
use windlass_core::call::call_order::TouchedResources;
use windlass_core::call::outcome::ToolError;
use windlass_runtime::ports::{CallContext, Tool};
use windlass_tools::schemars::{self, JsonSchema};
use windlass_tools::{FunctionTool, select_standard_tools, standard_tool_names, standard_tools};

use crate::fixture::{TestWorkspace, call_context, failure_of, json, success_text};

#[test]
fn the_standard_tools_are_all_there() {
    let workspace = TestWorkspace::new();
    let names: Vec<String> = standard_tools(&workspace.context)
        .specs()
        .iter()
        .map(|spec| spec.name.to_string())
        .collect();
    assert!(names.into_iter().eq(standard_tool_names()));
    let few = select_standard_tools(&workspace.context, ["Read", "Bash", "Nonsense"]);
    let names: Vec<String> = few.specs().iter().map(|spec| spec.name.to_string()).collect();
    assert_eq!(names, ["Bash", "Read"]);
}

/// Checks that a schema is accepted by every provider: closed objects, plain types.
fn check(schema: &Value, at: &str) {
    if let Some(kind) = schema.get("type") {
        assert!(kind.is_string(), "{at}: {kind}");
    }
    for key in ["$ref", "$defs", "$schema", "title", "format", "anyOf", "oneOf"] {
        let is_enum = key == "oneOf" && schema.get("const").is_none();
        assert!(schema.get(key).is_none() || is_enum, "{at}: {key}");
    }
    if schema["type"] == "object" {
        assert_eq!(schema["additionalProperties"], false, "{at}");
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        assert!(property.get("description").is_some(), "{at}.{name} is not described");
        check(property, &format!("{at}.{name}"));
    }
    if let Some(items) = schema.get("items") {
        check(items, &format!("{at}[]"));
    }
}

#[test]
fn every_schema_comes_from_its_type_and_is_closed() {
    for spec in standard_tools(&TestWorkspace::new().context).specs() {
        let schema: Value = spec.input_schema.read().unwrap();
        assert_eq!(schema["type"], "object", "{}", spec.name);
        check(&schema, &spec.name);
    }
}

#[test]
fn the_schemas_are_those_that_callers_know() {
    let workspace = TestWorkspace::new();
    let tools = standard_tools(&workspace.context);
    let schema =
        |name: &str| -> Value { tools.get(name).unwrap().spec().input_schema.read().unwrap() };
    let names = |name: &str| -> Vec<String> {
        let schema = schema(name);
        let mut names: Vec<String> =
            schema["properties"].as_object().unwrap().keys().cloned().collect();
        names.sort_unstable();
        names
    };
    assert_eq!(
        names("Bash"),
        ["command", "dangerouslyDisableSandbox", "description", "run_in_background", "timeout"]
    );
    assert_eq!(names("Read"), ["allow_large", "file_path", "limit", "offset", "pages"]);
    assert_eq!(names("Write"), ["content", "file_path"]);
    assert_eq!(names("Edit"), ["file_path", "new_string", "old_string", "replace_all"]);
    assert_eq!(schema("Edit")["properties"]["replace_all"]["default"], false);
    assert_eq!(schema("Edit")["required"], value!(["file_path", "old_string", "new_string"]));
    assert_eq!(schema("Bash")["required"], value!(["command"]));
    assert_eq!(schema("Bash")["properties"]["timeout"]["maximum"], 600_000);
}

/// Returns a valid input for each tool, by name.
fn valid_input(name: &str) -> Value {
    match name {
        "AskUserQuestion" => value!({ "questions": [{ "question": "Which?" }] }),
        "Bash" => value!({ "command": "true" }),
        "Edit" => value!({ "file_path": "a", "old_string": "b", "new_string": "c" }),
        "Glob" | "Grep" => value!({ "pattern": "a" }),
        "TaskOutput" | "TaskStop" => value!({ "task_id": "x" }),
        "Read" => value!({ "file_path": "a" }),
        "TodoWrite" => value!({ "todos": [] }),
        "Write" => value!({ "file_path": "a", "content": "b" }),
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn case_97_an_input_that_says_something_twice_or_more_than_it_may_is_refused() {
    let workspace = TestWorkspace::new();
    let tools = standard_tools(&workspace.context);
    for name in standard_tool_names() {
        let tool = tools.get(name).unwrap();
        let fits = valid_input(name).to_string();
        assert_eq!(tool.assess(&json(&fits)).problem, None, "{fits}");
        let body = fits.trim_matches(['{', '}']);
        let first = body.split_once(':').unwrap().0.trim_matches('"');
        let spelled = format!("\\u{:04x}{}", first.as_bytes()[0], &first[1..]);
        let twice = [
            format!("{{{body},{body}}}"),
            format!("{{{body},{}}}", body.replacen(first, &spelled, 1)),
            format!(r#"{{{body},"__proto__":{{}}}}"#),
            format!("[{fits}]"),
            format!("{fits:?}"),
            "{}".to_owned(),
            "null".to_owned(),
        ];
        for input in twice {
            let problem = tool.assess(&json(&input)).problem;
            let problem = problem.unwrap_or_else(|| panic!("{name} takes {input}"));
            assert_eq!(&*problem.code, "invalid_input", "{name} {input}");
            if name != "AskUserQuestion" {
                assert_eq!(
                    failure_of(tool.run(call_context(), json(&input)).await),
                    problem,
                    "{input}"
                );
            }
        }
    }
}

/// The summary of a call that a human is shown is one line, and nothing in it moves a cursor, sets
/// a clipboard or changes the writing direction.
#[test]
fn case_94_99_what_is_shown_of_a_call_is_one_harmless_line() {
    let workspace = TestWorkspace::new();
    let tools = standard_tools(&workspace.context);
    let hostile = "a\u{1b}]52;c;eA==\u{7}\u{1b}[2J\n2026-01-01 ERROR forged\r\u{202e}b\u{200b}";
    let inputs = [
        ("Bash", value!({ "command": hostile, "description": hostile })),
        ("Read", value!({ "file_path": hostile })),
        ("Write", value!({ "file_path": hostile, "content": "" })),
        ("Edit", value!({ "file_path": hostile, "old_string": "a", "new_string": "b" })),
        ("Glob", value!({ "pattern": hostile })),
        ("Grep", value!({ "pattern": hostile })),
        ("TaskOutput", value!({ "task_id": hostile })),
        ("TaskStop", value!({ "task_id": hostile })),
        ("AskUserQuestion", value!({ "questions": [{ "question": hostile }] })),
    ];
    for (name, input) in inputs {
        let facts = tools.get(name).unwrap().assess(&json(&input.to_string()));
        let summary = facts.summary.unwrap_or_else(|| panic!("{name}: {:?}", facts.problem));
        assert!(!summary.chars().any(char::is_control), "{name}: {summary:?}");
        assert!(!summary.contains(['\u{202e}', '\u{200b}']), "{name}: {summary:?}");
        assert!(summary.contains("forged"), "{name}: {summary:?}");
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Add {
    /// One number
    a: i64,
    /// Another
    b: i64,
}

#[tokio::test]
async fn a_tool_is_a_function_and_a_type() {
    let add =
        FunctionTool::new("Add", "Adds two numbers.", |_: CallContext, add: Add| async move {
            let sum = add.a.checked_add(add.b);
            sum.map(|sum| sum.to_string()).ok_or_else(|| {
                ToolError::new("overflow", "the sum is too large", "use smaller numbers")
            })
        });
    let schema: Value = add.spec().input_schema.read().unwrap();
    check(&schema, "Add");
    let facts = add.assess(&json(r#"{"a": 1, "b": 2}"#));
    assert_eq!(
        (facts.touches, facts.repeat),
        (TouchedResources::Exclusive, Repeatability::OnceOnly)
    );
    assert_eq!(success_text(add.run(call_context(), json(r#"{"a": 1, "b": 2}"#)).await), "3");
    let large = json(&value!({ "a": i64::MAX, "b": 1 }).to_string());
    assert_eq!(&*failure_of(add.run(call_context(), large).await).code, "overflow");
    assert!(add.assess(&json(r#"{"a": 1, "b": 2, "c": 3}"#)).problem.is_some());
    let add = add.read_only();
    let facts = add.assess(&json(r#"{"a": 1, "b": 2}"#));
    assert_eq!(
        (facts.touches, facts.repeat),
        (TouchedResources::Reads(vec![]), Repeatability::Repeatable)
    );
}
