//! Messages about models, and what a model is told about its answer.

use windlass::models::CallNotice;

use crate::config::model_controls::ModelControls;
use crate::terminal::number_format::group_digits;

/// Error: no model was named and no key selects one.
pub(crate) const NO_MODEL_CHOSEN: &str = "no model chosen; set ANTHROPIC_API_KEY, OPENAI_API_KEY or \
     GEMINI_API_KEY, give --model NAME (such as sonnet, openai:gpt-6-sol or ollama:llama3), set `model` \
     in config.toml, or run without a model: --script FILE, or `windlass demo`; `windlass models` lists known models";

/// Error: a scripted model has no token counter.
pub(crate) const NO_TOKEN_COUNTER: &str =
    "the scripted model has no provider that counts tokens; /context estimates them";

/// Note: a control that the model does not support.
pub(crate) fn control_without_effect(notice: CallNotice, model: &str) -> String {
    let what = match notice {
        CallNotice::EffortIgnored => "--effort has no effect: the model has no effort levels",
        CallNotice::EffortLowered => "--effort is lowered to the highest level the model has",
        CallNotice::ThinkingIgnored => {
            "--max-thinking-tokens has no effect: the model's thinking cannot be set that way"
        }
        CallNotice::TaskBudgetIgnored => {
            "--task-budget has no effect: the model does not support a task budget"
        }
        CallNotice::BetasIgnored => "--betas has no effect: its provider has no beta headers",
        CallNotice::TemperatureIgnored => {
            "--temperature has no effect: the model does not support it"
        }
        CallNotice::TemperatureLowered => {
            "--temperature is lowered to 1, the maximum of its provider"
        }
        CallNotice::CacheLifetimeIgnored => {
            "--cache-lifetime has no effect: its provider caches automatically"
        }
        other => return format!("windlass: {model}: {}", other.name()),
    };
    format!("windlass: {model}: {what}")
}

/// Error: an output limit above that of the model.
pub(crate) fn invalid_output_limit(tokens: u64, model: &str, limit: u64) -> String {
    let (tokens, most) = (group_digits(tokens), group_digits(limit));
    format!(
        "{tokens} is not a valid value for --max-tokens: {model} allows 1 to {most} output tokens"
    )
}

/// Error: a stop sequence with an unknown escape.
pub(crate) fn invalid_escape(text: &str) -> String {
    format!("the stop sequence `{text}` has an unknown escape; write \\n, \\t or \\\\")
}

/// Error: a stop sequence that no provider accepts.
pub(crate) fn blank_stop_sequence(text: &str) -> String {
    format!(
        "the stop sequence {text:?} is blank; give a text, or one empty --stop-sequence for none"
    )
}

/// The instruction for the model if end markers are configured.
pub(crate) fn end_marker_instruction(controls: &ModelControls) -> String {
    match controls.end_markers().as_slice() {
        [] => String::new(),
        markers => format!(
            "When your answer is complete, end it with a line that contains only {} and write nothing \
             after it.",
            markers.join(" or ")
        ),
    }
}
