//! A result that is longer than a model is shown can be paged through.

use windlass_core::cut;
use windlass_core::outcome::{Outcome, Reach, Shown, ToolError};
use windlass_core::raw::Raw;
use windlass_runtime::Toolbox;
use windlass_runtime::ports::{CallContext, Tool};
use windlass_tools::schemars::{self, JsonSchema};
use windlass_tools::{Custom, Read, paged, standard};

use crate::fixture::{Workspace, context, done, json};

/// Characters of a result that a model is shown, unless the settings say otherwise.
const SHOWN_CHARS: u64 = 32_000;

#[derive(serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

fn long_text() -> String {
    (1..=20_000).map(|number| format!("number {number}\n")).collect()
}

/// What the model is shown of an outcome, as text.
fn shown(outcome: &Outcome) -> String {
    Shown::of(outcome, SHOWN_CHARS, Reach::Unknown).content.read().unwrap()
}

/// The file that the last line names.
fn named(text: &str) -> &str {
    text.rsplit_once(" are in ").unwrap().1.split_once(": page").unwrap().0
}

/// Pages through a file from its beginning to its end; the lines without their numbers.
async fn paged_through(workspace: &Workspace, path: &str) -> String {
    let mut whole = String::new();
    let mut offset = 1;
    loop {
        let input = serde_json::json!({ "file_path": path, "offset": offset }).to_string();
        let outcome = Read::new(&workspace.workplace).run(context(), json(&input)).await;
        let page = done(outcome.clone());
        assert_eq!(cut::content(&Raw::string(&page), SHOWN_CHARS), Raw::string(&page), "not cut");
        let lines = page.lines().filter_map(|line| line.split_once('\t'));
        whole.extend(lines.map(|(_, line)| format!("{line}\n")));
        match page.rsplit_once("[the file goes on: read it with offset ") {
            Some((_, next)) => offset = next.trim_end_matches("]\n").parse().unwrap(),
            None => return whole,
        }
    }
}

// spec: ROUNDS-14, TOOLS-07
#[tokio::test]
async fn what_was_cut_is_in_a_file_that_the_last_line_names() {
    let workspace = Workspace::new();
    workspace.write("long.txt", long_text());
    let own =
        Custom::new("Own", "Says much.", |_: CallContext, _: Nothing| async { Ok(long_text()) });
    let tools = standard(&workspace.workplace)
        .and(paged(&Toolbox::default().with(own), &workspace.workplace));
    let grep = r#"{"pattern": "number", "output_mode": "content", "head_limit": 5000}"#;
    for (name, input) in [("Own", "{}"), ("Grep", grep), ("Bash", r#"{"command": "cat long.txt"}"#)]
    {
        let outcome = tools.get(name).unwrap().run(context(), json(input)).await;
        let (whole, shown) = (done(outcome.clone()), shown(&outcome));
        assert!(shown.contains("characters omitted") || name == "Bash", "{name} is not long");
        let kept = paged_through(&workspace, named(&shown)).await;
        let (said, _) = whole.rsplit_once("[all ").unwrap();
        match name {
            "Bash" => assert_eq!(kept, long_text()),
            _ => assert_eq!(kept.trim_end(), said.trim_end(), "{name}"),
        }
        assert!(kept.contains("number 2500\n"), "{name}: the middle is there");
    }
    // A file is its own: no copy of it is made.
    let page = done(workspace.read(r#"{"file_path": "long.txt"}"#).await);
    assert!(page.contains("[the file goes on: read it with offset "), "{page}");
    assert_eq!(paged_through(&workspace, "long.txt").await, long_text());
}

// spec: TOOLS-07
#[tokio::test]
async fn an_error_that_says_too_much_is_kept_too_and_what_is_short_is_left_alone() {
    let workspace = Workspace::new();
    let fails = Custom::new("Fails", "Fails.", |_: CallContext, _: Nothing| async {
        Err(ToolError::new("loud", &long_text(), "speak up less"))
    });
    let short = Custom::new("Short", "Is short.", |_: CallContext, _: Nothing| async {
        Ok("short".to_owned())
    });
    let tools = Toolbox::default().with(fails).with(short);
    let tools = paged(&tools, &workspace.workplace);
    let outcome = tools.get("Fails").unwrap().run(context(), json("{}")).await;
    let shown = shown(&outcome);
    assert!(shown.len() < 40_000, "{}", shown.len());
    assert_eq!(paged_through(&workspace, named(&shown)).await, long_text());
    let outcome = tools.get("Short").unwrap().run(context(), json("{}")).await;
    assert_eq!(done(outcome), "short");
}

/// A tool whose result is a list of blocks.
struct Blocks(String);

impl Tool for Blocks {
    fn spec(&self) -> windlass_core::settings::ToolSpec {
        let input_schema = json(r#"{"type":"object"}"#);
        let (name, description) = ("Blocks".into(), "Lists.".into());
        windlass_core::settings::ToolSpec { name, description, input_schema }
    }

    fn assess(&self, _input: &Raw) -> windlass_core::facts::Facts {
        windlass_core::facts::Facts::default()
    }

    fn run(
        &self,
        _context: CallContext,
        _input: Raw,
    ) -> windlass_runtime::ports::Task<'_, Outcome> {
        Box::pin(std::future::ready(Outcome::Done(Raw::parse(&self.0).unwrap())))
    }
}

// spec: ROUNDS-14
#[tokio::test]
async fn a_list_of_texts_is_kept_as_text_and_a_picture_stays_a_picture() {
    let workspace = Workspace::new();
    let text = serde_json::json!({"type": "text", "text": long_text()});
    let list = serde_json::json!([{"type": "text", "text": "first"}, text]).to_string();
    let tools = paged(&Toolbox::default().with(Blocks(list)), &workspace.workplace);
    let outcome = tools.get("Blocks").unwrap().run(context(), json("{}")).await;
    let shown = shown(&outcome);
    assert!(shown.starts_with("first\n") && shown.contains("characters omitted"), "{shown}");
    let kept = paged_through(&workspace, named(&shown)).await;
    assert_eq!(kept.trim_end(), format!("first\n{}", long_text()).trim_end());
    let data = "A".repeat(200_000);
    let source = serde_json::json!({"type": "base64", "media_type": "image/png", "data": data});
    let picture = serde_json::json!([{"type": "image", "source": source}]).to_string();
    let tools = paged(&Toolbox::default().with(Blocks(picture.clone())), &workspace.workplace);
    let outcome = tools.get("Blocks").unwrap().run(context(), json("{}")).await;
    assert!(matches!(outcome, Outcome::Done(content) if content.text() == picture));
}
