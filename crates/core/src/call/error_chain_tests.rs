use std::fmt;

use crate::call::outcome::{CallResult, OutcomeKind, ToolError};

#[derive(Debug)]
struct Layer(&'static str, Option<Box<Layer>>);

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Layer {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.1.as_deref().map(|cause| cause as _)
    }
}

/// What the model reads of an error.
fn shown(error: &ToolError) -> String {
    CallResult::from_error(OutcomeKind::Failed, error, 32_000).content.read().unwrap()
}

// spec: ERRORS-05
#[test]
fn a_chain_is_a_detail_and_its_first_sentence_the_message() {
    let deep = Layer("permission denied", None);
    let error = Layer(
        "the report cannot be saved",
        Some(Box::new(Layer("opening it", Some(Box::new(deep))))),
    );
    let told = ToolError::from_error("save_failed", &error, "choose another folder");
    assert_eq!(&*told.message, "the report cannot be saved");
    let story = "the report cannot be saved: opening it: permission denied";
    assert_eq!(told.detail.as_deref(), Some(story));
    assert!(!shown(&told).contains("permission denied"), "{}", shown(&told));
    let alone = ToolError::from_error("x", &Layer("just this", None), "h");
    assert_eq!(alone.detail, None, "nothing is said twice");
}

// spec: ERRORS-05
#[test]
fn a_stack_trace_never_reaches_the_model() {
    let traces = [
        ("it broke\nstack backtrace:\n   0: std::panicking\n", "it broke"),
        ("it broke\n\nCaused by:\n    0: no such file\n", "it broke"),
        ("TypeError: x is no function\n    at run (a.js:1:2)\n", "TypeError: x is no function"),
        (
            "Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'x'\n",
            "KeyError: 'x'",
        ),
    ];
    for (message, output) in traces {
        let error = ToolError::new("broke", message, "mend it").without_trace();
        assert_eq!(&*error.message, output);
        assert_eq!(error.detail.as_deref(), Some(message), "nothing is lost");
    }
    for plain in ["", "at noon it broke", "two lines\nand no trace", "0: nothing"] {
        let error = ToolError::new("broke", plain, "mend it").without_trace();
        assert_eq!((&*error.message, error.detail), (plain, None));
    }
}

#[test]
fn a_story_without_end_has_one() {
    let told = ToolError::new("x", "it broke", "h").with_detail(&"at run\n".repeat(100_000));
    let detail = told.detail.unwrap();
    assert!(detail.len() < 40_000 && detail.contains("characters omitted"), "{}", detail.len());
}
