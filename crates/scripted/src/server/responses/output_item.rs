//! The output items of a Responses answer.

use serde::Serialize;
use windlass_core::message::raw_json::sha256_hex;

use super::response_status::ResponseStatus;
use crate::server::answer_block::{AnswerBlock, AnswerCall};
use crate::server::response_head::ResponseHead;

/// One item of the output.
#[derive(Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum OutputItemBody {
    Reasoning {
        id: String,
        summary: Vec<OutputPartBody>,
        #[serde(skip_serializing_if = "Option::is_none")]
        encrypted_content: Option<String>,
    },
    Message {
        id: String,
        status: ResponseStatus,
        role: &'static str,
        content: Vec<OutputPartBody>,
    },
    FunctionCall {
        id: String,
        status: ResponseStatus,
        call_id: String,
        name: String,
        arguments: String,
    },
}

/// A part of an item.
#[derive(Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum OutputPartBody {
    SummaryText { text: String },
    OutputText { text: String, annotations: [(); 0], logprobs: [(); 0] },
}

impl OutputPartBody {
    pub(super) fn summary_text(text: &str) -> Self {
        Self::SummaryText { text: text.to_owned() }
    }

    pub(super) fn output_text(text: &str) -> Self {
        Self::OutputText { text: text.to_owned(), annotations: [], logprobs: [] }
    }
}

/// Creates the items of one answer.
#[derive(Clone, Copy)]
pub(super) struct OutputItems {
    pub(super) head: ResponseHead,
    pub(super) encrypts_reasoning: bool,
}

impl OutputItems {
    /// The id of the item at this index; raw blocks have none.
    pub(super) fn item_id(&self, index: usize, block: &AnswerBlock<'_>) -> Option<String> {
        let prefix = match block {
            AnswerBlock::Text(_) => "msg_",
            AnswerBlock::Thinking(_) => "rs_",
            AnswerBlock::Call(_) | AnswerBlock::CutCall(_) => "fc_",
            AnswerBlock::Raw(_) => return None,
        };
        Some(self.head.part_id(prefix, index))
    }

    /// The item before any of its content has arrived.
    pub(super) fn opened_item(
        &self,
        index: usize,
        block: &AnswerBlock<'_>,
    ) -> Option<OutputItemBody> {
        let id = self.item_id(index, block)?;
        let status = ResponseStatus::InProgress;
        match block {
            AnswerBlock::Text(_) => Some(message_item(id, status, Vec::new())),
            AnswerBlock::Thinking(_) => {
                Some(OutputItemBody::Reasoning { id, summary: Vec::new(), encrypted_content: None })
            }
            AnswerBlock::Call(call) | AnswerBlock::CutCall(call) => {
                Some(function_call_item(id, status, call, ""))
            }
            AnswerBlock::Raw(_) => None,
        }
    }

    /// The item with all content that arrived.
    pub(super) fn closed_item(
        &self,
        index: usize,
        block: &AnswerBlock<'_>,
    ) -> Option<OutputItemBody> {
        let id = self.item_id(index, block)?;
        match block {
            AnswerBlock::Text(text) => Some(message_item(
                id,
                ResponseStatus::Completed,
                vec![OutputPartBody::output_text(text)],
            )),
            AnswerBlock::Thinking(text) => Some(OutputItemBody::Reasoning {
                id,
                summary: vec![OutputPartBody::summary_text(text)],
                encrypted_content: self.encrypted_reasoning(text),
            }),
            AnswerBlock::Call(call) => {
                Some(function_call_item(id, ResponseStatus::Completed, call, call.input))
            }
            AnswerBlock::CutCall(call) => {
                Some(function_call_item(id, ResponseStatus::Incomplete, call, call.input))
            }
            AnswerBlock::Raw(_) => None,
        }
    }

    fn encrypted_reasoning(&self, thinking: &str) -> Option<String> {
        self.encrypts_reasoning.then(|| sha256_hex(thinking.as_bytes()))
    }
}

fn message_item(
    id: String,
    status: ResponseStatus,
    content: Vec<OutputPartBody>,
) -> OutputItemBody {
    OutputItemBody::Message { id, status, role: "assistant", content }
}

fn function_call_item(
    id: String,
    status: ResponseStatus,
    call: &AnswerCall<'_>,
    arguments: &str,
) -> OutputItemBody {
    let (call_id, name) = (call.id.to_owned(), call.name.to_owned());
    OutputItemBody::FunctionCall { id, status, call_id, name, arguments: arguments.to_owned() }
}
