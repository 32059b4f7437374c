//! The steps of an answer that are content blocks.

use crate::scripted_answer::AnswerStep;

/// A content block, complete or truncated.
#[derive(Debug, Clone, Copy)]
pub(super) enum AnswerBlock<'a> {
    Text(&'a str),
    Thinking(&'a str),
    Call(AnswerCall<'a>),
    /// A truncated call: its input is only a beginning.
    CutCall(AnswerCall<'a>),
    /// A block in Anthropic's format.
    Raw(&'a str),
}

/// A tool call.
#[derive(Debug, Clone, Copy)]
pub(super) struct AnswerCall<'a> {
    pub(super) id: &'a str,
    pub(super) name: &'a str,
    pub(super) input: &'a str,
}

impl<'a> AnswerBlock<'a> {
    /// The block of a step, if the step is one.
    pub(super) fn from_step(step: &'a AnswerStep) -> Option<Self> {
        match step {
            AnswerStep::Say(text) => Some(Self::Text(text)),
            AnswerStep::Think(text) => Some(Self::Thinking(text)),
            AnswerStep::Call { id, name, input_json: input } => {
                Some(Self::Call(AnswerCall { id, name, input }))
            }
            AnswerStep::TruncatedCall { id, name, partial_json: input } => {
                Some(Self::CutCall(AnswerCall { id, name, input }))
            }
            AnswerStep::Raw(json) => Some(Self::Raw(json)),
            AnswerStep::Delay(_)
            | AnswerStep::Pace(_)
            | AnswerStep::Cut
            | AnswerStep::CutInside
            | AnswerStep::Fail(_) => None,
        }
    }

    /// The text of the block that is streamed in pieces.
    pub(super) fn streamed_text(&self) -> &'a str {
        match self {
            Self::Text(text) | Self::Thinking(text) => text,
            Self::Call(call) | Self::CutCall(call) => call.input,
            Self::Raw(_) => "",
        }
    }
}

/// The blocks of an answer, in order.
pub(super) fn answer_blocks(steps: &[AnswerStep]) -> impl Iterator<Item = AnswerBlock<'_>> {
    steps.iter().filter_map(AnswerBlock::from_step)
}
