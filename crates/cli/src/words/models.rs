//! What people read about models, and what a model is told about its answer.

use windlass::models::Notice;

use crate::look::numbers::grouped;
use crate::settle::controls::ModelControls;

/// What is said when no model was named and no key chooses one.
pub(crate) const NO_MODEL: &str = "no model is chosen; set ANTHROPIC_API_KEY, OPENAI_API_KEY or \
     GEMINI_API_KEY, give --model NAME (such as sonnet, openai:gpt-6-sol or ollama:llama3), set `model` \
     in config.toml, or go without one: --script FILE, or `windlass demo`; `windlass models` lists \
     what is known";

/// A script is no provider that could count.
pub(crate) const NO_EXACT_COUNT: &str =
    "the scripted model has no provider that counts tokens; /context estimates them";

/// A control that the model does not have.
pub(crate) fn without_effect(notice: Notice, model: &str) -> String {
    let what = match notice {
        Notice::EffortIgnored => "--effort has no effect: the model has no effort levels",
        Notice::EffortLowered => "--effort is lowered to the highest level the model has",
        Notice::ThinkingIgnored => {
            "--max-thinking-tokens has no effect: the model's thinking cannot be set that way"
        }
        Notice::TaskBudgetIgnored => "--task-budget has no effect: the model takes no task budget",
        Notice::BetasIgnored => "--betas has no effect: its provider has no beta headers",
        Notice::TemperatureIgnored => "--temperature has no effect: the model takes none",
        Notice::TemperatureLowered => "--temperature is lowered to 1, the most its provider takes",
        Notice::CacheLifetimeIgnored => {
            "--cache-lifetime has no effect: its provider caches by itself"
        }
        other => return format!("windlass: {model}: {}", other.name()),
    };
    format!("windlass: {model}: {what}")
}

/// An output limit that the model cannot have.
pub(crate) fn output_limit(tokens: u64, model: &str, most: u64) -> String {
    let (tokens, most) = (grouped(tokens), grouped(most));
    format!("{tokens} is not a valid value for --max-tokens: {model} writes 1 to {most} tokens")
}

/// A stop sequence with an escape that means nothing.
pub(crate) fn bad_escape(text: &str) -> String {
    format!("the stop sequence `{text}` has an unknown escape; write \\n, \\t or \\\\")
}

/// A stop sequence that no provider takes.
pub(crate) fn blank_stop(text: &str) -> String {
    format!(
        "the stop sequence {text:?} is blank; give a text, or one empty --stop-sequence for none"
    )
}

/// What the model is told where sequences are configured that end its answer.
pub(crate) fn end_markers(controls: &ModelControls) -> String {
    match controls.end_markers().as_slice() {
        [] => String::new(),
        markers => format!(
            "When your answer is complete, end it with a line that holds only {} and write nothing \
             after it.",
            markers.join(" or ")
        ),
    }
}
