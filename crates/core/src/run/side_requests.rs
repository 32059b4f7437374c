//! Side requests: model requests outside the conversation, without tools (summary, classification
//! of a call, judging an answer).

use std::sync::Arc;

use crate::call::call_state::Call;
use crate::context::{Summariser, render};
use crate::log::ids::CallId;
use crate::log::input::Classification;
use crate::log::record::ToolChoice;
use crate::message::loaded_tools::LoadedTools;
use crate::message::prompt_texts;
use crate::message::reply::TokenUsage;
use crate::message::request::ModelRequest;
use crate::message::transcript::{SegmentKind, Transcript};
use crate::run::active_run::Run;
use crate::run::conversation::Conversation;
use crate::run::review::Review;
use crate::settings::conversation_settings::{ModelSpec, Settings, ThinkingSettings};

/// Output tokens of a classification.
const CLASSIFICATION_TOKENS: u64 = 64;

/// Characters of the conversation that a classifier reads.
const CLASSIFIER_CONTEXT_CHARS: u64 = 8_000;

/// The longest call, in characters, that a classifier reads. A longer call is not classified: the
/// part that the classifier did not see could be the harmful one.
const CLASSIFIER_CALL_CHARS: usize = 16_000;

/// Assumed usage of a classification until it is known: three characters are about a token.
pub(crate) const CLASSIFICATION_COST: TokenUsage =
    estimated_usage(CLASSIFIER_CONTEXT_CHARS, CLASSIFICATION_TOKENS);

/// Tokens reserved for a classification.
pub const CLASSIFICATION_RESERVED_TOKENS: u64 = CLASSIFIER_CONTEXT_CHARS + CLASSIFICATION_TOKENS;

/// Returns whether a classifier can be shown the whole call.
pub(crate) fn can_be_classified(call: &Call) -> bool {
    call.tool_use.input.text().chars().nth(CLASSIFIER_CALL_CHARS).is_none()
}

/// Output tokens of a ruling of the judge.
const JUDGE_TOKENS: u64 = 512;

/// Characters of the work, and of the answer, that the judge reads.
const JUDGE_CONTEXT_CHARS: u64 = 16_000;

/// Assumed usage of a ruling until it is known.
pub(crate) const JUDGE_COST: TokenUsage = estimated_usage(JUDGE_CONTEXT_CHARS, JUDGE_TOKENS);

/// Returns a usage of which nothing comes from the cache.
const fn estimated_usage(input_tokens: u64, output_tokens: u64) -> TokenUsage {
    TokenUsage { input_tokens, output_tokens, cache_read_tokens: 0, cache_write_tokens: 0 }
}

/// Returns the model for side requests: the cheaper one, if one is configured.
pub(crate) fn side_model(settings: &Settings) -> &ModelSpec {
    match &settings.window.summariser {
        Summariser::Model(model) => model,
        Summariser::OwnModel | Summariser::Off => &settings.model,
    }
}

/// Characters per token that are assumed when a text is truncated to a window.
const SIDE_REQUEST_CHARS_PER_TOKEN: u64 = 3;

/// Output tokens of the answer to a hook.
const HOOK_ANSWER_TOKENS: u64 = 1_024;

/// Maximum characters of the question of a hook: what the model does not see, it cannot judge.
const HOOK_QUESTION_CHARS: usize = 100_000;

/// Output tokens of the summary of a batch of tool calls.
const TOOL_SUMMARY_TOKENS: u64 = 100;

/// Characters of a batch of tool calls that its summary is made from.
const TOOL_SUMMARY_CHARS: u64 = 8_000;

/// Why a hook cannot ask a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookRequestRefusal {
    /// The question is too long.
    TooLong {
        /// The limit in characters.
        limit: usize,
    },
    /// The budget does not cover it.
    Budget,
    /// The conversation has no model yet.
    NoModel,
}

impl Conversation {
    /// Returns the request of a hook that asks a model: the one for side requests.
    ///
    /// # Errors
    ///
    /// Returns why there is none.
    pub fn hook_request(
        &self,
        system: &str,
        question: &str,
    ) -> Result<ModelRequest, HookRequestRefusal> {
        let settings = self.active_settings().ok_or(HookRequestRefusal::NoModel)?;
        if question.chars().nth(HOOK_QUESTION_CHARS).is_some() {
            return Err(HookRequestRefusal::TooLong { limit: HOOK_QUESTION_CHARS });
        }
        let bytes = system.len().saturating_add(question.len());
        let cost = estimated_usage(bytes as u64, HOOK_ANSWER_TOKENS);
        if !self.can_afford(&cost) {
            return Err(HookRequestRefusal::Budget);
        }
        let model = side_model(&settings);
        Ok(side_request(&settings, model, system, question, HOOK_ANSWER_TOKENS))
    }

    /// Returns the request for a one-line summary of a batch of tool calls; `None` without a model,
    /// or if the budget does not cover it.
    #[must_use]
    pub fn tool_summary_request(&self, calls: &str) -> Option<(ModelRequest, TokenUsage)> {
        let settings = self.active_settings()?;
        let calls = crate::message::truncate::truncate_text(calls, TOOL_SUMMARY_CHARS);
        let bytes = prompt_texts::TOOL_SUMMARY_PROMPT.len().saturating_add(calls.len()) as u64;
        let input_tokens = bytes.div_ceil(SIDE_REQUEST_CHARS_PER_TOKEN);
        let cost = estimated_usage(input_tokens, TOOL_SUMMARY_TOKENS);
        if !self.can_afford(&cost) {
            return None;
        }
        let (model, system) = (side_model(&settings), prompt_texts::TOOL_SUMMARY_PROMPT);
        Some((side_request(&settings, model, system, &calls, TOOL_SUMMARY_TOKENS), cost))
    }

    /// Returns the request of the pending review, if a model answers it.
    #[must_use]
    pub fn review_request(&self) -> Option<ModelRequest> {
        self.summary_request().or_else(|| self.judge_request())
    }

    /// Returns the request of the pending judge review.
    #[must_use]
    pub fn judge_request(&self) -> Option<ModelRequest> {
        let settings = &*self.active_settings()?;
        let run = self.run.as_ref()?;
        let Review::Judge { max_tokens, .. } = run.pending_review()?.review else { return None };
        let asked = crate::message::truncate::truncate_text(
            settings.gate.judge.as_ref()?,
            crate::message::truncate::MAX_SENTENCE_CHARS,
        );
        let work = render::render_history(self.transcript.segments().iter(), JUDGE_CONTEXT_CHARS);
        let answer = run.answer_text();
        let answer = crate::message::truncate::truncate_text(&answer, JUDGE_CONTEXT_CHARS);
        let text = format!(
            "What must be true:\n{asked}\n\nThe work:\n{work}\n\nThe answer to judge:\n{answer}"
        );
        Some(side_request(
            settings,
            side_model(settings),
            prompt_texts::JUDGE_PROMPT,
            &text,
            max_tokens,
        ))
    }

    /// Returns the request of the pending summary.
    #[must_use]
    pub fn summary_request(&self) -> Option<ModelRequest> {
        let settings = &*self.active_settings()?;
        let consulting = self.run.as_ref().and_then(Run::pending_review)?;
        let Review::Summary { compaction, instructions, max_tokens, .. } = &consulting.review
        else {
            return None;
        };
        let model = side_model(settings);
        let left_out = usize::try_from(compaction.keep_from).unwrap_or(usize::MAX);
        let remaining = model.window_tokens.saturating_sub(*max_tokens) / 2;
        let old = self.transcript.segments().iter().take(left_out);
        let mut text =
            render::render_history(old, remaining.saturating_mul(SIDE_REQUEST_CHARS_PER_TOKEN));
        if !settings.user_context.is_empty() {
            let limit = remaining.saturating_mul(SIDE_REQUEST_CHARS_PER_TOKEN) / 4;
            let context = crate::message::truncate::truncate_text(&settings.user_context, limit);
            text = format!("{text}\n\n{}\n{context}", prompt_texts::STANDING_INSTRUCTIONS);
        }
        for wish in settings.window.preserve.iter().chain(instructions) {
            let wish = crate::message::truncate::truncate_text(
                wish,
                crate::message::truncate::MAX_SENTENCE_CHARS,
            );
            text = format!("{text}\n\nThe summary must keep:\n{wish}");
        }
        Some(side_request(settings, model, prompt_texts::SUMMARISER_PROMPT, &text, *max_tokens))
    }

    /// Returns the request to classify a call.
    #[must_use]
    pub fn classify_request(&self, id: CallId) -> Option<ModelRequest> {
        let settings = &*self.active_settings()?;
        let call = self.run.as_ref().and_then(Run::round)?.call(id)?;
        if !can_be_classified(call) {
            return None;
        }
        let model = side_model(settings);
        let text = format!("{}\n\n{}", self.user_messages_text(), describe_call(call));
        Some(side_request(
            settings,
            model,
            prompt_texts::CLASSIFIER_PROMPT,
            &text,
            CLASSIFICATION_TOKENS,
        ))
    }

    fn user_messages_text(&self) -> String {
        let said = self.transcript.segments().iter().filter(|s| s.kind == SegmentKind::Prompt);
        let text = render::render_history(said, CLASSIFIER_CONTEXT_CHARS);
        format!("User messages:\n{text}")
    }
}

fn describe_call(call: &Call) -> String {
    let folder = match &**call.facts.subject.folder() {
        "" => String::new(),
        folder => format!(" in the folder {folder:?}"),
    };
    format!("Tool call: {} with {}{folder}", call.tool_use.name, call.tool_use.input.text())
}

fn side_request(
    settings: &Settings,
    model: &ModelSpec,
    system: &str,
    text: &str,
    max_tokens: u64,
) -> ModelRequest {
    let mut transcript = Transcript::default();
    transcript.push_note(text);
    let settings = Settings {
        model: model.clone(),
        system: Arc::from(system),
        tools: Vec::new(),
        stop_map: std::collections::BTreeMap::new(),
        // The task budget is not that of the side request.
        thinking: ThinkingSettings { task_tokens: None, ..settings.thinking.clone() },
        temperature: None,
        ..settings.clone()
    };
    ModelRequest {
        model_call: 0,
        settings: Arc::new(settings),
        transcript,
        loaded_tools: LoadedTools::default(),
        max_tokens,
        choice: ToolChoice::NoTools,
        journal_digest: Arc::from(""),
        task_remaining_tokens: None,
    }
}

/// Parses the answer of a classifier. Anything but one clear word is unsure.
#[must_use]
pub fn parse_classification(answer: &str) -> Classification {
    let word = answer.trim().trim_end_matches('.').to_lowercase();
    match word.as_str() {
        "allow" => Classification::Allow {},
        "deny" => {
            Classification::Deny { reason: Arc::from("the classifier found it too dangerous") }
        }
        "ask" => {
            Classification::Unsure { why: Arc::from("the classifier asks for human approval") }
        }
        _ => Classification::Unsure { why: Arc::from("the classifier gave no clear answer") },
    }
}

/// The ruling of the judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JudgeVerdict {
    /// The answer is accepted.
    Yes,
    /// The answer is rejected.
    No {
        /// Why the answer is rejected.
        reason: Arc<str>,
    },
    /// The ruling is neither a clear yes nor a clear no.
    Unclear,
}

/// Parses the answer of the judge: `yes` or `no` first, optionally followed by a reason. Anything
/// else, including `yes, but`, is unclear.
#[must_use]
pub fn parse_judge_verdict(answer: &str) -> JudgeVerdict {
    let answer = answer.trim().trim_start_matches('*');
    let end = answer.find(|c: char| !c.is_alphabetic()).unwrap_or(answer.len());
    let (word, rest) = answer.split_at(end);
    let rest = rest.trim_start_matches('*');
    let is_apart = rest.is_empty() || rest.starts_with([':', '.', '!', ';', '\n', '\r']);
    let reason = rest.trim_matches(|c: char| c.is_whitespace() || ":.,;!*-–—".contains(c));
    match word.to_lowercase().as_str() {
        "yes" if is_apart => JudgeVerdict::Yes,
        "no" if is_apart || rest.starts_with([',', ' ', '-']) => {
            let reason =
                if reason.is_empty() { prompt_texts::JUDGE_GAVE_NO_REASON } else { reason };
            JudgeVerdict::No { reason: Arc::from(reason) }
        }
        _ => JudgeVerdict::Unclear,
    }
}
