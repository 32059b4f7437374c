//! Calls in the real loop: inputs checked against schemas, retries of tools that declare that a repeat does
//! no harm, and errors that stay sentences.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde::Deserialize;
use windlass::core::facts::{Facts, Repeat};
use windlass::core::outcome::{Outcome, ToolError};
use windlass::core::permission::Mode;
use windlass::core::raw::Raw;
use windlass::core::settings::ToolSpec;
use windlass::memory::MemoryStore;
use windlass::ports::{CallContext, Task, Tool};
use windlass::tools::Custom;
use windlass::tools::schemars::{self, JsonSchema};
use windlass::{BuildError, Definition, End, Windlass};

use crate::kit::{Probe, builder, pause};

const SCHEMA: &str = r#"{"type": "object", "properties": {
    "count": {"type": "integer", "minimum": 1},
    "tags": {"type": "array", "items": {"type": "string", "minLength": 1}}
}, "required": ["count"], "additionalProperties": false}"#;

/// A tool that trusts its input, as one written against the trait may.
struct Trusting {
    schema: &'static str,
    runs: Arc<AtomicU32>,
    assessed: Arc<AtomicU32>,
}

impl Tool for Trusting {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: Arc::from("Order"),
            description: Arc::from("orders things"),
            input_schema: Raw::parse(self.schema).unwrap(),
        }
    }

    fn assess(&self, _input: &Raw) -> Facts {
        self.assessed.fetch_add(1, Ordering::SeqCst);
        Facts::default()
    }

    fn run(&self, _context: CallContext, _input: Raw) -> Task<'_, Outcome> {
        self.runs.fetch_add(1, Ordering::SeqCst);
        Box::pin(std::future::ready(Outcome::Done(Raw::string("ordered"))))
    }
}

async fn answer(windlass: &Windlass) -> String {
    match windlass.session("lane").send("go").await.unwrap().end().await.unwrap() {
        End::Finished(ended) => ended.text.to_string(),
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
    let tool = || Trusting { schema: SCHEMA, runs: runs.clone(), assessed: assessed.clone() };
    for (input, why) in rows {
        let w = builder(&script("Order", input), MemoryStore::new(), &[]).tool(tool());
        let said = answer(&w.start().await.unwrap()).await;
        assert!(said.contains("invalid_input") && said.contains(why), "{input}: {said}");
    }
    assert_eq!((runs.load(Ordering::SeqCst), assessed.load(Ordering::SeqCst)), (0, 0));
    // What some models write for what they leave out does not count against them.
    for input in [r#"{"count": 2}"#, r#"{"count": 2, "tags": null}"#] {
        let w = builder(&script("Order", input), MemoryStore::new(), &[]).tool(tool());
        assert_eq!(answer(&w.start().await.unwrap()).await, "ordered", "{input}");
    }
    let broken = Trusting { schema: r#"{"type": 5}"#, runs: runs.clone(), assessed };
    let w = builder(&script("Order", "{}"), MemoryStore::new(), &[]).tool(broken);
    let said = answer(&w.start().await.unwrap()).await;
    assert!(said.contains("invalid_schema"), "{said}");
    assert_eq!(runs.load(Ordering::SeqCst), 2);
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// A tool that fails twice with what `fail` says and then answers.
async fn tried(name: &str, repeat: Option<Repeat>, fail: fn() -> ToolError) -> (String, u32) {
    let runs = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&runs);
    let run = move |_: CallContext, _: Nothing| {
        let attempt = counted.fetch_add(1, Ordering::SeqCst);
        async move { if attempt < 2 { Err(fail()) } else { Ok("found".to_owned()) } }
    };
    let tool = Custom::new(name, "A tool.", run);
    let tool = match repeat {
        Some(repeat) => tool.repeat(repeat),
        None => tool,
    };
    let w = builder(&script(name, "{}"), MemoryStore::new(), &[]).tool(tool);
    let w = w.settings(|settings| settings.limits.tool_retry_ms = vec![1, 1, 1]);
    let said = answer(&w.start().await.unwrap()).await;
    (said, runs.load(Ordering::SeqCst))
}

// spec: ROUNDS-15
#[tokio::test]
async fn a_tool_that_declares_it_is_tried_again_after_a_transient_failure() {
    let refused = || ToolError::from_io(&io::ErrorKind::ConnectionRefused.into(), "wait");
    let busy = || ToolError::from_http_status(503, "wait");
    let limited = || ToolError::from_http_status(429, "wait");
    for fail in [refused as fn() -> ToolError, busy, limited] {
        let (said, runs) = tried("lookup", Some(Repeat::Repeatable), fail).await;
        assert_eq!((said.as_str(), runs), ("found", 3));
    }
    let gone = || ToolError::from_http_status(404, "look elsewhere");
    let (said, runs) = tried("lookup", Some(Repeat::Repeatable), gone).await;
    assert!(said.contains("http_404") && runs == 1, "{said}");
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
        let (said, runs) = tried(name, None, busy).await;
        assert!(said.contains("http_503") && runs == 1, "{name}: {said}");
        let (said, runs) = tried(name, Some(Repeat::OnceOnly), busy).await;
        assert!(said.contains("http_503") && runs == 1, "{name}: {said}");
    }
}

// spec: ROUNDS-15, ROUNDS-16
#[tokio::test]
async fn a_lookup_that_times_out_is_tried_again() {
    for (repeat, expected) in [(Repeat::Repeatable, 2), (Repeat::OnceOnly, 1)] {
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
        let tool = Custom::new("lookup", "A tool.", run).repeat(repeat).timeout_ms(2_000);
        let w = builder(&script("lookup", "{}"), MemoryStore::new(), &[]).tool(tool);
        let w = w.settings(|settings| settings.limits.tool_retry_ms = vec![1, 1, 1]);
        let said = answer(&w.start().await.unwrap()).await;
        assert_eq!(said == "found", expected == 2, "{said}");
        assert_eq!(runs.load(Ordering::SeqCst), expected);
    }
}

/// A tool that puts a stack trace into its message, without anything around it that cleans it.
struct Careless;

impl Tool for Careless {
    fn spec(&self) -> ToolSpec {
        let input_schema = Raw::parse(r#"{"type": "object"}"#).unwrap();
        ToolSpec { name: Arc::from("Careless"), description: Arc::from("fails"), input_schema }
    }

    fn assess(&self, _input: &Raw) -> Facts {
        Facts::default()
    }

    fn run(&self, _context: CallContext, _input: Raw) -> Task<'_, Outcome> {
        let message = "the server is down\nTraceback (most recent call last):\n  File \"x.py\"\n";
        let error = ToolError::new("down", message, "wait");
        Box::pin(std::future::ready(Outcome::Failed(error)))
    }
}

// spec: ERRORS-05
#[tokio::test]
async fn no_tool_puts_a_stack_trace_before_the_model() {
    let w = builder(&script("Careless", "{}"), MemoryStore::new(), &[]).tool(Careless);
    let said = answer(&w.start().await.unwrap()).await;
    assert!(said.contains("the server is down") && !said.contains("Traceback"), "{said}");
}

// spec: PERMISSIONS-11
#[tokio::test]
async fn root_may_not_bypass_permissions_through_the_library_either() {
    let is_refused = windlass::process_rights() == windlass::core::permission::Rights::Root;
    let bypass = |settings: &mut windlass::core::settings::Settings| {
        settings.rules.mode = Mode::BypassPermissions;
    };
    let start = || builder("when any\n  say \"x\"\n", MemoryStore::new(), &[Probe::read("Look")]);
    let own = start().settings(bypass).start().await;
    assert_eq!(matches!(own, Err(BuildError::Root(_))), is_refused);
    let child = start().agent("child", Definition::new("a child").settings(bypass)).start().await;
    assert_eq!(matches!(child, Err(BuildError::Root(_))), is_refused);
    assert!(start().start().await.is_ok());
}
