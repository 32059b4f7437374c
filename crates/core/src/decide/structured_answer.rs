//! Structured answers: an answer given by a call of the output tool.

use super::draft::DecisionDraft;
use crate::call::call_state::{Call, CallState};
use crate::call::outcome::OutcomeKind;
use crate::log::ids::CallId;
use crate::message::reply::ModelReply;
use crate::run::active_run::Round;
use crate::settings::conversation_settings::Settings;

/// An answer that was given by a call of the output tool.
#[derive(Clone, Copy)]
pub(super) enum StructuredAnswer {
    /// The answer matches its schema.
    Valid(CallId),
    /// The answer does not match its schema.
    Invalid,
}

/// Returns the answer that a round gave through the output tool, if it gave one. A call that was
/// denied gives none.
pub(super) fn structured_answer_of(
    draft: &DecisionDraft<'_>,
    round: &Round,
) -> Option<StructuredAnswer> {
    let settings = draft.settings()?;
    let output = settings.output.as_ref()?;
    let calls = || round.calls.iter().filter(|call| call.tool_use.name == output.tool);
    let fitting =
        calls().rfind(|call| call.has_succeeded()).map(|call| StructuredAnswer::Valid(call.id));
    let failed = |call: &Call| matches!(&call.state, CallState::Finished(result) if result.kind == OutcomeKind::Failed);
    fitting.or_else(|| calls().any(failed).then_some(StructuredAnswer::Invalid))
}

/// Returns whether this reply gives the answer through the output tool.
pub(super) fn gives_structured_answer(draft: &DecisionDraft<'_>, reply: &ModelReply) -> bool {
    let settings = draft.settings();
    let output = settings.as_ref().and_then(|settings| settings.output.as_ref());
    output.is_some_and(|output| reply.tool_uses().any(|(_, call)| call.name == output.tool))
}

/// Returns whether a structured answer is required and not given yet.
pub(super) fn lacks_structured_output(draft: &DecisionDraft<'_>, settings: &Settings) -> bool {
    settings.output.is_some() && draft.run().is_some_and(|run| run.structured_output.is_none())
}
