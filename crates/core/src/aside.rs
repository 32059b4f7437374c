//! Requests beside the conversation: somebody sums up what is left out, somebody decides whether a
//! call may run, somebody judges an answer. All are ordinary requests to a model, without tools.

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

/// Characters of the conversation that a classifier reads.
const CLASSIFIED_CHARS: u64 = 8_000;

/// The longest call, in characters, that a classifier reads. A longer one is not put to it: a part
/// that it did not see could be the one that does harm.
const CLASSIFIED_CALL_CHARS: usize = 16_000;

/// What a classification is taken to cost until it is known: three characters are about a token.
pub(crate) const OPINION_COST: Usage = guessed(CLASSIFIED_CHARS, OPINION_TOKENS);

/// Tokens set aside for an opinion.
pub const OPINION_RESERVED_TOKENS: u64 = CLASSIFIED_CHARS + OPINION_TOKENS;

/// Returns whether a classifier can be shown the whole call.
pub(crate) fn can_be_classified(call: &Call) -> bool {
    call.tool_use.input.text().chars().nth(CLASSIFIED_CALL_CHARS).is_none()
}

/// Output tokens of a ruling.
const RULING_TOKENS: u64 = 512;

/// Characters of the work, and of the answer, that a judge reads.
const JUDGED_CHARS: u64 = 16_000;

/// What a ruling is taken to cost until it is known.
pub(crate) const RULING_COST: Usage = guessed(JUDGED_CHARS, RULING_TOKENS);

/// Nothing of it comes from a cache.
const fn guessed(input_tokens: u64, output_tokens: u64) -> Usage {
    Usage { input_tokens, output_tokens, cache_read_tokens: 0, cache_write_tokens: 0 }
}

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
    /// The request for what the run waits for, if a model is to write it.
    #[must_use]
    pub fn counsel_request(&self) -> Option<Request> {
        self.summary_request().or_else(|| self.ruling_request())
    }

    /// The request for the ruling that is wanted now.
    #[must_use]
    pub fn ruling_request(&self) -> Option<Request> {
        let settings = &*self.settings_in_use()?;
        let run = self.run.as_ref()?;
        let Counsel::Ruling { max_tokens, .. } = run.consulting()?.about else { return None };
        let asked = crate::cut::text(settings.gate.judge.as_ref()?, crate::cut::SENTENCE_CHARS);
        let work = render::history(self.transcript.segments().iter(), JUDGED_CHARS);
        let answer = run.answer();
        let answer = crate::cut::text(&answer, JUDGED_CHARS);
        let text = format!(
            "What must be true:\n{asked}\n\nThe work:\n{work}\n\nThe answer to judge:\n{answer}"
        );
        Some(aside(settings, beside(settings), words::JUDGE, &text, max_tokens))
    }

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
        if !settings.user_context.is_empty() {
            let most = room.saturating_mul(CHARS_PER_TOKEN) / 4;
            let context = crate::cut::text(&settings.user_context, most);
            text = format!("{text}\n\n{}\n{context}", words::STANDING_INSTRUCTIONS);
        }
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
        if !can_be_classified(call) {
            return None;
        }
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
    let folder = match &**call.facts.subject.folder() {
        "" => String::new(),
        folder => format!(" in the folder {folder:?}"),
    };
    format!("The call: {} with {}{folder}", call.tool_use.name, call.tool_use.input.text())
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
        temperature: None,
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

/// What a judge said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ruling {
    /// The answer counts.
    Yes,
    /// It does not.
    No {
        /// Why.
        reason: Arc<str>,
    },
    /// Nobody can tell what the judge meant.
    Unclear,
}

/// Reads a judge's answer: `yes` or `no` first, then perhaps a reason. Anything else, a `yes, but`
/// among it, is neither.
#[must_use]
pub fn ruling(answer: &str) -> Ruling {
    let answer = answer.trim().trim_start_matches('*');
    let end = answer.find(|c: char| !c.is_alphabetic()).unwrap_or(answer.len());
    let (word, rest) = answer.split_at(end);
    let rest = rest.trim_start_matches('*');
    let is_apart = rest.is_empty() || rest.starts_with([':', '.', '!', ';', '\n', '\r']);
    let reason = rest.trim_matches(|c: char| c.is_whitespace() || ":.,;!*-–—".contains(c));
    match word.to_lowercase().as_str() {
        "yes" if is_apart => Ruling::Yes,
        "no" if is_apart || rest.starts_with([',', ' ', '-']) => {
            let reason = if reason.is_empty() { words::NO_REASON } else { reason };
            Ruling::No { reason: Arc::from(reason) }
        }
        _ => Ruling::Unclear,
    }
}
