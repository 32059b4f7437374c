//! Calls in the real loop: inputs validated against schemas, retries of tools that declare that a
//! repeat does no harm, and errors that stay sentences.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde::Deserialize;
use windlass::core::call::call_facts::{CallFacts, Repeatability};
use windlass::core::call::outcome::{ToolError, ToolOutcome};
use windlass::core::message::raw_json::RawJson;
use windlass::core::permission::PermissionMode;
use windlass::core::settings::conversation_settings::ToolSpec;
use windlass::memory::MemoryStore;
use windlass::ports::{BoxFuture, CallContext, Tool};
use windlass::tools::FunctionTool;
use windlass::tools::schemars::{self, JsonSchema};
use windlass::{AgentDefinition, BuildError, RunOutcome, Windlass};

use crate::kit::{ProbeTool, pause, windlass_builder};

const SCHEMA: &str = r#"{"type": "object", "properties": {
    "count": {"type": "integer", "minimum": 1},
    "tags": {"type": "array", "items": {"type": "string", "minLength": 1}}
}, "required": ["count"], "additionalProperties": false}"#;

/// A tool that does not check its input, as one written against the trait may do.
struct UncheckedTool {
    schema: &'static str,
    runs: Arc<AtomicU32>,
    assessed: Arc<AtomicU32>,
}

impl Tool for UncheckedTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: Arc::from("Order"),
            description: Arc::from("orders things"),
            input_schema: RawJson::parse(self.schema).unwrap(),
        }
    }

    fn assess(&self, _input: &RawJson) -> CallFacts {
        self.assessed.fetch_add(1, Ordering::SeqCst);
        CallFacts::default()
    }

    fn run(&self, _context: CallContext, _input: RawJson) -> BoxFuture<'_, ToolOutcome> {
        self.runs.fetch_add(1, Ordering::SeqCst);
        Box::pin(std::future::ready(ToolOutcome::Done(RawJson::string("ordered"))))
    }
}

async fn final_answer(windlass: &Windlass) -> String {
    match windlass.session("lane").send("go").await.unwrap().wait_for_end().await.unwrap() {
        RunOutcome::Finished(ended) => ended.text.to_string(),
        other => panic!("{other:?}"),
    }
}

fn script(tool: &str, input: &str) -> String {
    format!("when ask 1\n  call {tool} {input}\nwhen any\n  say \"${{result}}\"\n")
}

// spec: ROUNDS-07, ROUNDS-08
#[tokio::test]
async fn an_input_that_does_not_fit_the_schema_reaches_no_tool() {
    let rows = [
        (r#"{"count": 0}"#, "count: 0 is less than the minimum of 1"),
        (r#"{"count": "one"}"#, "count: \\\"one\\\" is not of type"),
        ("{}", "is a required property"),
        (r#"{"count": 1, "colour": "red"}"#, "'colour' was unexpected"),
        (r#"{"count": 1, "tags": ["a", ""]}"#, "tags.1: "),
    ];
    let (runs, assessed) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let tool = || UncheckedTool { schema: SCHEMA, runs: runs.clone(), assessed: assessed.clone() };
    for (input, reason) in rows {
        let w = windlass_builder(&script("Order", input), MemoryStore::new(), &[]).tool(tool());
        let output = final_answer(&w.start().await.unwrap()).await;
        assert!(output.contains("invalid_input") && output.contains(reason), "{input}: {output}");
    }
    assert_eq!((runs.load(Ordering::SeqCst), assessed.load(Ordering::SeqCst)), (0, 0));
    // `null` for an omitted property, as some models write it, is accepted.
    for input in [r#"{"count": 2}"#, r#"{"count": 2, "tags": null}"#] {
        let w = windlass_builder(&script("Order", input), MemoryStore::new(), &[]).tool(tool());
        assert_eq!(final_answer(&w.start().await.unwrap()).await, "ordered", "{input}");
    }
    let broken = UncheckedTool { schema: r#"{"type": 5}"#, runs: runs.clone(), assessed };
    let w = windlass_builder(&script("Order", "{}"), MemoryStore::new(), &[]).tool(broken);
    let output = final_answer(&w.start().await.unwrap()).await;
    assert!(output.contains("invalid_schema"), "{output}");
    assert_eq!(runs.load(Ordering::SeqCst), 2);
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// A tool that fails twice with the error of `fail` and then succeeds.
async fn run_failing_tool(
    name: &str,
    repeat: Option<Repeatability>,
    fail: fn() -> ToolError,
) -> (String, u32) {
    let runs = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&runs);
    let run = move |_: CallContext, _: Nothing| {
        let attempt = counted.fetch_add(1, Ordering::SeqCst);
        async move { if attempt < 2 { Err(fail()) } else { Ok("found".to_owned()) } }
    };
    let tool = FunctionTool::new(name, "A tool.", run);
    let tool = match repeat {
        Some(repeat) => tool.repeatability(repeat),
        None => tool,
    };
    let w = windlass_builder(&script(name, "{}"), MemoryStore::new(), &[]).tool(tool);
    let w = w.settings(|settings| settings.limits.tool_retry_ms = vec![1, 1, 1]);
    let output = final_answer(&w.start().await.unwrap()).await;
    (output, runs.load(Ordering::SeqCst))
}

// spec: ROUNDS-15
#[tokio::test]
async fn a_tool_that_declares_it_is_tried_again_after_a_transient_failure() {
    let refused = || ToolError::from_io(&io::ErrorKind::ConnectionRefused.into(), "wait");
    let busy = || ToolError::from_http_status(503, "wait");
    let limited = || ToolError::from_http_status(429, "wait");
    for fail in [refused as fn() -> ToolError, busy, limited] {
        let (output, runs) =
            run_failing_tool("lookup", Some(Repeatability::Repeatable), fail).await;
        assert_eq!((output.as_str(), runs), ("found", 3));
    }
    let gone = || ToolError::from_http_status(404, "look elsewhere");
    let (output, runs) = run_failing_tool("lookup", Some(Repeatability::Repeatable), gone).await;
    assert!(output.contains("http_404") && runs == 1, "{output}");
}

/// Names that look like those of lookups, and of tools that change something.
// spec: ROUNDS-17
#[tokio::test]
async fn a_name_alone_makes_no_tool_repeatable() {
    let busy = || ToolError::from_http_status(503, "wait");
    for name in [
        "search_knowledge",
        "get_notes",
        "list_orders",
        "find_replace",
        "check_in_guest",
        "query_drop_table",
        "fetch_charge_card",
        "get_refund",
        "send_email",
    ] {
        let (output, runs) = run_failing_tool(name, None, busy).await;
        assert!(output.contains("http_503") && runs == 1, "{name}: {output}");
        let (output, runs) = run_failing_tool(name, Some(Repeatability::OnceOnly), busy).await;
        assert!(output.contains("http_503") && runs == 1, "{name}: {output}");
    }
}

// spec: ROUNDS-15, ROUNDS-16
#[tokio::test]
async fn a_lookup_that_times_out_is_tried_again() {
    for (repeat, expected) in [(Repeatability::Repeatable, 2), (Repeatability::OnceOnly, 1)] {
        let runs = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&runs);
        let run = move |_: CallContext, _: Nothing| {
            let attempt = counted.fetch_add(1, Ordering::SeqCst);
            async move {
                if attempt == 0 {
                    pause(600_000).await;
                }
                Ok("found".to_owned())
            }
        };
        let tool =
            FunctionTool::new("lookup", "A tool.", run).repeatability(repeat).timeout_ms(2_000);
        let w = windlass_builder(&script("lookup", "{}"), MemoryStore::new(), &[]).tool(tool);
        let w = w.settings(|settings| settings.limits.tool_retry_ms = vec![1, 1, 1]);
        let output = final_answer(&w.start().await.unwrap()).await;
        assert_eq!(output == "found", expected == 2, "{output}");
        assert_eq!(runs.load(Ordering::SeqCst), expected);
    }
}

/// A tool that puts a stack trace into its message, without anything around it that removes it.
struct InvalidSchemaTool;

impl Tool for InvalidSchemaTool {
    fn spec(&self) -> ToolSpec {
        let input_schema = RawJson::parse(r#"{"type": "object"}"#).unwrap();
        ToolSpec { name: Arc::from("Careless"), description: Arc::from("fails"), input_schema }
    }

    fn assess(&self, _input: &RawJson) -> CallFacts {
        CallFacts::default()
    }

    fn run(&self, _context: CallContext, _input: RawJson) -> BoxFuture<'_, ToolOutcome> {
        let message = "the server is down\nTraceback (most recent call last):\n  File \"x.py\"\n";
        let error = ToolError::new("down", message, "wait");
        Box::pin(std::future::ready(ToolOutcome::Failed(error)))
    }
}

// spec: ERRORS-05
#[tokio::test]
async fn no_tool_puts_a_stack_trace_before_the_model() {
    let w = windlass_builder(&script("Careless", "{}"), MemoryStore::new(), &[])
        .tool(InvalidSchemaTool);
    let output = final_answer(&w.start().await.unwrap()).await;
    assert!(output.contains("the server is down") && !output.contains("Traceback"), "{output}");
}

// spec: PERMISSIONS-11
#[tokio::test]
async fn root_may_not_bypass_permissions_through_the_library_either() {
    let is_refused = windlass::process_rights() == windlass::core::permission::ProcessRights::Root;
    let bypass = |settings: &mut windlass::core::settings::conversation_settings::Settings| {
        settings.rules.mode = PermissionMode::BypassPermissions;
    };
    let start = || {
        windlass_builder("when any\n  say \"x\"\n", MemoryStore::new(), &[ProbeTool::read("Look")])
    };
    let own = start().settings(bypass).start().await;
    assert_eq!(matches!(own, Err(BuildError::RefusedForRoot(_))), is_refused);
    let child =
        start().sub_agent("child", AgentDefinition::new("a child").settings(bypass)).start().await;
    assert_eq!(matches!(child, Err(BuildError::RefusedForRoot(_))), is_refused);
    assert!(start().start().await.is_ok());
}
