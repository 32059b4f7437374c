//! The one line that a span says about itself.

use windlass_core::call::outcome::ToolOutcome;
use windlass_core::message::content_block::ToolUse;
use windlass_core::run::question::QuestionKind;
use windlass_core::run::review::Review;

use super::SpanStatus;

/// Characters of the line of a span.
const MAX_DETAIL_CHARS: usize = 240;

/// Returns the first line of `text`, bounded. An empty text has none.
pub(super) fn first_line(text: &str) -> Option<String> {
    let line = text.lines().find(|line| !line.trim().is_empty())?.trim();
    let mut short: String = line.chars().take(MAX_DETAIL_CHARS).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    Some(short)
}

/// Returns the input of a call as one line.
pub(super) fn describe_input(tool_use: &ToolUse) -> Option<String> {
    first_line(tool_use.input.text())
}

/// Returns how a call ended, and what it says about a failure.
pub(super) fn describe_outcome(outcome: &ToolOutcome) -> (SpanStatus, Option<String>) {
    match outcome {
        ToolOutcome::Done(_) | ToolOutcome::DoneWithDetail { .. } => (SpanStatus::Ok, None),
        ToolOutcome::Failed(error) => (SpanStatus::Failed, first_line(&error.message)),
        ToolOutcome::TimedOut { after_ms } => {
            (SpanStatus::Failed, Some(format!("timed out after {after_ms} ms")))
        }
        ToolOutcome::Interrupted { after_ms } => {
            (SpanStatus::Interrupted, Some(format!("interrupted after {after_ms} ms")))
        }
        ToolOutcome::InputRequested(request) => {
            (SpanStatus::Ok, Some(format!("{} asked the user", request.from)))
        }
    }
}

/// Returns the name of a question.
pub(super) fn question_name(kind: &QuestionKind) -> &'static str {
    match kind {
        QuestionKind::Approval { .. } => "approval",
        QuestionKind::Uncertain { .. } => "uncertain_call",
        QuestionKind::ModelQuestion { .. } => "model_question",
        QuestionKind::ToolRequest { .. } => "tool_request",
        QuestionKind::Plan { .. } => "plan",
        QuestionKind::Guidance { .. } => "guidance",
        QuestionKind::Budget { .. } => "budget",
        QuestionKind::PromptChanged { .. } => "prompt_changed",
    }
}

/// Returns the name of a review.
pub(super) fn review_name(review: &Review) -> &'static str {
    match review {
        Review::Prompt {} => "prompt_hooks",
        Review::Answer { .. } => "answer_hooks",
        Review::Judge { .. } => "judge",
        Review::Pruning { .. } => "pruning_hooks",
        Review::Compaction { .. } => "compaction_hooks",
        Review::Summary { .. } => "summary",
    }
}
