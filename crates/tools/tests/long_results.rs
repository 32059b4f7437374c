//! A result that is longer than a model is shown can be paged through.

use windlass_core::call::outcome::{CallResult, SideEffects, ToolError, ToolOutcome};
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::truncate;
use windlass_runtime::ToolRegistry;
use windlass_runtime::ports::{CallContext, Tool};
use windlass_tools::schemars::{self, JsonSchema};
use windlass_tools::{FunctionTool, ReadTool, standard_tools, with_long_results};

use crate::fixture::{TestWorkspace, call_context, json, success_text};

/// Maximum number of characters of a result that a model is shown by default.
const SHOWN_CHARS: u64 = 32_000;

#[derive(serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

fn long_text() -> String {
    (1..=20_000).map(|number| format!("number {number}\n")).collect()
}

/// Returns what the model is shown of an outcome, as text.
fn shown_to_model(outcome: &ToolOutcome) -> String {
    CallResult::from_outcome(outcome, SHOWN_CHARS, SideEffects::Unknown).content.read().unwrap()
}

/// Returns the file that the last line names.
fn named_file(text: &str) -> &str {
    text.rsplit_once(" bytes): ").unwrap().1.split_once("; read it").unwrap().0
}

/// Pages through a file from its beginning to its end; returns the lines without their numbers.
async fn paged_through(workspace: &TestWorkspace, path: &str) -> String {
    let mut whole = String::new();
    let mut offset = 1;
    loop {
        let input = serde_json::json!({ "file_path": path, "offset": offset }).to_string();
        let outcome = ReadTool::new(&workspace.context).run(call_context(), json(&input)).await;
        let page = success_text(outcome.clone());
        assert_eq!(
            truncate::truncate_content(&RawJson::string(&page), SHOWN_CHARS),
            RawJson::string(&page),
            "not cut"
        );
        let lines = page.lines().filter_map(|line| line.split_once('\t'));
        whole.extend(lines.map(|(_, line)| format!("{line}\n")));
        match page.rsplit_once("[more lines: continue with offset ") {
            Some((_, next)) => offset = next.trim_end_matches("]\n").parse().unwrap(),
            None => return whole,
        }
    }
}

// spec: ROUNDS-14, TOOLS-07
#[tokio::test]
async fn what_was_cut_is_in_a_file_that_the_last_line_names() {
    let workspace = TestWorkspace::new();
    workspace.write("long.txt", long_text());
    let own = FunctionTool::new("Own", "Says much.", |_: CallContext, _: Nothing| async {
        Ok(long_text())
    });
    let tools = standard_tools(&workspace.context)
        .merge(with_long_results(&ToolRegistry::default().with(own), &workspace.context));
    let grep = r#"{"pattern": "number", "output_mode": "content", "head_limit": 5000}"#;
    for (name, input) in [("Own", "{}"), ("Grep", grep), ("Bash", r#"{"command": "cat long.txt"}"#)]
    {
        let outcome = tools.get(name).unwrap().run(call_context(), json(input)).await;
        let (whole, output) = (success_text(outcome.clone()), shown_to_model(&outcome));
        assert!(output.contains("characters omitted") || name == "Bash", "{name} is not long");
        let kept = paged_through(&workspace, named_file(&output)).await;
        let (said, _) = whole.rsplit_once("[full ").unwrap();
        match name {
            "Bash" => assert_eq!(kept, long_text()),
            _ => assert_eq!(kept.trim_end(), said.trim_end(), "{name}"),
        }
        assert!(kept.contains("number 2500\n"), "{name}: the middle is there");
    }
    // `Read` pages through the file itself: no copy of it is made.
    let page = success_text(workspace.read(r#"{"file_path": "long.txt"}"#).await);
    assert!(page.contains("[more lines: continue with offset "), "{page}");
    assert_eq!(paged_through(&workspace, "long.txt").await, long_text());
}

// spec: TOOLS-07
#[tokio::test]
async fn an_error_that_says_too_much_is_kept_too_and_what_is_short_is_left_alone() {
    let workspace = TestWorkspace::new();
    let fails = FunctionTool::new("Fails", "Fails.", |_: CallContext, _: Nothing| async {
        Err(ToolError::new("loud", &long_text(), "speak up less"))
    });
    let short = FunctionTool::new("Short", "Is short.", |_: CallContext, _: Nothing| async {
        Ok("short".to_owned())
    });
    let tools = ToolRegistry::default().with(fails).with(short);
    let tools = with_long_results(&tools, &workspace.context);
    let outcome = tools.get("Fails").unwrap().run(call_context(), json("{}")).await;
    let output = shown_to_model(&outcome);
    assert!(output.len() < 40_000, "{}", output.len());
    assert_eq!(paged_through(&workspace, named_file(&output)).await, long_text());
    let outcome = tools.get("Short").unwrap().run(call_context(), json("{}")).await;
    assert_eq!(success_text(outcome), "short");
}

/// A tool whose result is a list of blocks.
struct BlocksTool(String);

impl Tool for BlocksTool {
    fn spec(&self) -> windlass_core::settings::conversation_settings::ToolSpec {
        let input_schema = json(r#"{"type":"object"}"#);
        let (name, description) = ("Blocks".into(), "Lists.".into());
        windlass_core::settings::conversation_settings::ToolSpec { name, description, input_schema }
    }

    fn assess(&self, _input: &RawJson) -> windlass_core::call::call_facts::CallFacts {
        windlass_core::call::call_facts::CallFacts::default()
    }

    fn run(
        &self,
        _context: CallContext,
        _input: RawJson,
    ) -> windlass_runtime::ports::BoxFuture<'_, ToolOutcome> {
        Box::pin(std::future::ready(ToolOutcome::Done(RawJson::parse(&self.0).unwrap())))
    }
}

// spec: ROUNDS-14
#[tokio::test]
async fn a_list_of_texts_is_kept_as_text_and_a_picture_stays_a_picture() {
    let workspace = TestWorkspace::new();
    let text = serde_json::json!({"type": "text", "text": long_text()});
    let list = serde_json::json!([{"type": "text", "text": "first"}, text]).to_string();
    let tools =
        with_long_results(&ToolRegistry::default().with(BlocksTool(list)), &workspace.context);
    let outcome = tools.get("Blocks").unwrap().run(call_context(), json("{}")).await;
    let output = shown_to_model(&outcome);
    assert!(output.starts_with("first\n") && output.contains("characters omitted"), "{output}");
    let kept = paged_through(&workspace, named_file(&output)).await;
    assert_eq!(kept.trim_end(), format!("first\n{}", long_text()).trim_end());
    let data = "A".repeat(200_000);
    let source = serde_json::json!({"type": "base64", "media_type": "image/png", "data": data});
    let picture = serde_json::json!([{"type": "image", "source": source}]).to_string();
    let tools = with_long_results(
        &ToolRegistry::default().with(BlocksTool(picture.clone())),
        &workspace.context,
    );
    let outcome = tools.get("Blocks").unwrap().run(call_context(), json("{}")).await;
    assert!(matches!(outcome, ToolOutcome::Done(content) if content.text() == picture));
}
