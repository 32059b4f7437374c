//! Requests beside the conversation: somebody sums up what is left out, somebody decides whether a
//! call may run. Both are ordinary requests to a model, without tools.

use std::sync::Arc;

use crate::call::Call;
use crate::conversation::Conversation;
use crate::counsel::Counsel;
use crate::ids::CallId;
use crate::input::Opinion;
use crate::record::ToolChoice;
use crate::reply::Usage;
use crate::request::Request;
use crate::run::Run;
use crate::settings::{Model, Settings, Thinking};
use crate::transcript::{Part, Transcript};
use crate::window::{Summariser, render};
use crate::words;

/// Output tokens of a classification.
const OPINION_TOKENS: u64 = 64;

/// Characters of the conversation, and of the call, that a classifier reads.
const CLASSIFIED_CHARS: u64 = 8_000;

/// What a classification is taken to cost until it is known.
pub(crate) const OPINION_COST: Usage = Usage {
    input_tokens: CLASSIFIED_CHARS,
    output_tokens: OPINION_TOKENS,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
};

/// Tokens set aside for an opinion.
pub const OPINION_RESERVED_TOKENS: u64 = CLASSIFIED_CHARS + OPINION_TOKENS;

/// The model that is asked beside the conversation: the cheaper one, if one is named.
pub(crate) fn beside(settings: &Settings) -> &Model {
    match &settings.window.summariser {
        Summariser::Model(model) => model,
        Summariser::Own | Summariser::Nobody => &settings.model,
    }
}

/// Characters taken for a token when a text is cut to a window.
const CHARS_PER_TOKEN: u64 = 3;

impl Conversation {
    /// The request for the summary that is wanted now.
    #[must_use]
    pub fn summary_request(&self) -> Option<Request> {
        let settings = &*self.settings_in_use()?;
        let consulting = self.run.as_ref().and_then(Run::consulting)?;
        let Counsel::Summary { cut, wishes, max_tokens, .. } = &consulting.about else {
            return None;
        };
        let model = beside(settings);
        let left_out = usize::try_from(cut.keep_from).unwrap_or(usize::MAX);
        let room = model.window_tokens.saturating_sub(*max_tokens) / 2;
        let old = self.transcript.segments().iter().take(left_out);
        let mut text = render::history(old, room.saturating_mul(CHARS_PER_TOKEN));
        for wish in settings.window.preserve.iter().chain(wishes) {
            let wish = crate::cut::text(wish, crate::cut::SENTENCE_CHARS);
            text = format!("{text}\n\nThe summary must keep:\n{wish}");
        }
        Some(aside(settings, model, words::SUMMARISE, &text, *max_tokens))
    }

    /// The request for an opinion about a call.
    #[must_use]
    pub fn classify_request(&self, id: CallId) -> Option<Request> {
        let settings = &*self.settings_in_use()?;
        let call = self.run.as_ref().and_then(Run::round)?.call(id)?;
        let model = beside(settings);
        let text = format!("{}\n\n{}", self.wanted_by_user(), described(call));
        Some(aside(settings, model, words::CLASSIFY, &text, OPINION_TOKENS))
    }

    fn wanted_by_user(&self) -> String {
        let said = self.transcript.segments().iter().filter(|s| s.part == Part::Prompt);
        let said = render::history(said, CLASSIFIED_CHARS);
        format!("What the user said:\n{said}")
    }
}

fn described(call: &Call) -> String {
    let input = crate::cut::text(call.tool_use.input.text(), CLASSIFIED_CHARS);
    format!("The call: {} with {input}", call.tool_use.name)
}

fn aside(settings: &Settings, model: &Model, system: &str, text: &str, max_tokens: u64) -> Request {
    let mut transcript = Transcript::default();
    transcript.push_note(text);
    let settings = Settings {
        model: model.clone(),
        system: Arc::from(system),
        tools: Vec::new(),
        stop_map: std::collections::BTreeMap::new(),
        // The budget is the task's, not that of whoever is asked beside it.
        thinking: Thinking { task_tokens: None, ..settings.thinking.clone() },
        ..settings.clone()
    };
    Request {
        ask: 0,
        settings: Arc::new(settings),
        transcript,
        max_tokens,
        choice: ToolChoice::Nothing,
        digest: Arc::from(""),
        task_left_tokens: None,
    }
}

/// Reads a classifier's answer. Anything but one clear word is doubt.
#[must_use]
pub fn opinion(answer: &str) -> Opinion {
    let word = answer.trim().trim_end_matches('.').to_lowercase();
    match word.as_str() {
        "allow" => Opinion::Allow {},
        "deny" => Opinion::Deny { reason: Arc::from("a classifier found it too dangerous") },
        "ask" => Opinion::Unsure { why: Arc::from("the classifier wants a human to look") },
        _ => Opinion::Unsure { why: Arc::from("the classifier did not answer with one word") },
    }
}
