//! Arguments that a human changed in an answer are assessed by the owner of the lane before the
//! core decides about them: the facts are recorded with the answer.

use windlass_core::log::ids::{LaneId, QuestionId};
use windlass_core::log::inbox::{ChangedInput, HumanAnswer, InboxCommand};
use windlass_core::log::input::Input;
use windlass_core::message::content_block::ToolUse;
use windlass_core::run::conversation::Conversation;

use crate::tool_registry::ToolRegistry;

/// Assesses the changed arguments of answers among the commands of `input`. Facts that the sender
/// gave are never used.
pub(super) fn assess_changed_inputs(
    conversation: &Conversation,
    lane: &LaneId,
    tools: &ToolRegistry,
    mut input: Input,
) -> Input {
    if let Input::CommandsReceived { messages } = &mut input {
        for message in messages {
            if let InboxCommand::Answer { question, answer, .. } = &mut message.body
                && let HumanAnswer::Allow { changed_input: Some(changed), .. } = answer
            {
                assess(conversation, lane, tools, *question, changed);
            }
        }
    }
    input
}

fn assess(
    conversation: &Conversation,
    lane: &LaneId,
    tools: &ToolRegistry,
    question: QuestionId,
    changed: &mut ChangedInput,
) {
    let mut open = conversation.run.iter().flat_map(|run| run.open_questions());
    let asked = open.find(|open| open.id == question).and_then(|open| open.kind.call());
    let call = asked.and_then(|call| conversation.call(call));
    changed.facts = call.zip(conversation.settings.as_ref()).map(|(call, settings)| {
        let tool_use = ToolUse { input: changed.input.clone(), ..call.tool_use.clone() };
        Box::new(tools.assess_in_run(lane, &tool_use, settings))
    });
}
