//! The steps of an answer that are content.

use super::super::answer::Step;

/// A block of content, complete or broken off.
#[derive(Debug, Clone, Copy)]
pub(super) enum Block<'a> {
    Text(&'a str),
    Thinking(&'a str),
    Call(Call<'a>),
    /// A call whose input is only the beginning of one.
    CutCall(Call<'a>),
    /// A block in Anthropic's words.
    Raw(&'a str),
}

/// A call of a tool.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) id: &'a str,
    pub(super) name: &'a str,
    pub(super) input: &'a str,
}

impl<'a> Block<'a> {
    /// The block of a step, if it is one.
    pub(super) fn of(step: &'a Step) -> Option<Self> {
        match step {
            Step::Say(text) => Some(Self::Text(text)),
            Step::Think(text) => Some(Self::Thinking(text)),
            Step::Call { id, name, input_json: input } => {
                Some(Self::Call(Call { id, name, input }))
            }
            Step::TruncatedCall { id, name, partial_json: input } => {
                Some(Self::CutCall(Call { id, name, input }))
            }
            Step::Raw(json) => Some(Self::Raw(json)),
            Step::Delay(_) | Step::Pace(_) | Step::Cut | Step::CutInside | Step::Fail(_) => None,
        }
    }

    /// What of it is streamed piece by piece.
    pub(super) fn streamed(&self) -> &'a str {
        match self {
            Self::Text(text) | Self::Thinking(text) => text,
            Self::Call(call) | Self::CutCall(call) => call.input,
            Self::Raw(_) => "",
        }
    }
}

/// The blocks of an answer, in order.
pub(super) fn blocks(steps: &[Step]) -> impl Iterator<Item = Block<'_>> {
    steps.iter().filter_map(Block::of)
}
