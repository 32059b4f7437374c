//! Why a call did not run: a rule, a mode, a hook, a classifier, a human, or an invalid call.

use windlass::core::call::call_state::{Call, CallState};
use windlass::core::call::outcome::OutcomeKind;
use windlass::core::log::ids::CallId;
use windlass::core::log::record::Record;
use windlass::core::permission::PermissionDecision;
use windlass::core::run::active_run::Run;
use windlass::core::run::conversation::Conversation;
use windlass::core::run::question::QuestionKind;

use super::ExplainSentence;
use crate::inspect::history::RecordContext;
use crate::messages::inspect::error_message;
use crate::messages::report;

/// Collects sentences about calls from a record.
pub(super) fn observe(said: &mut Vec<ExplainSentence>, moment: RecordContext<'_>) {
    let text = match moment.record {
        Record::PermissionDecided { call, verdict: PermissionDecision::Deny { by, reason } } => {
            Some(report::explain::call_denied(&moment.after.call_text(*call), *by, reason))
        }
        Record::QuestionAsked { question } => match question.kind {
            QuestionKind::Approval { call } => {
                let by = asking_rule(moment, call);
                Some(report::explain::approval_needed(
                    &moment.after.call_text(call),
                    &by,
                    question.id,
                ))
            }
            _ => None,
        },
        Record::ResultFinalized { call, .. } => unexecuted_reason(moment, *call),
        Record::CallLost { call } => {
            Some(report::explain::call_lost(&moment.after.call_text(*call)))
        }
        _ => None,
    };
    ExplainSentence::push_or_repeat(said, text, moment.entry.seq);
}

/// The rule that required approval, from the permission decision in the same entry.
fn asking_rule(moment: RecordContext<'_>, call: CallId) -> String {
    let verdict = |record: &Record| match record {
        Record::PermissionDecided { call: judged, verdict: PermissionDecision::Ask { by } }
            if *judged == call =>
        {
            Some(by.to_string())
        }
        _ => None,
    };
    moment.entry.records.iter().find_map(verdict).unwrap_or_default()
}

/// Why a call has a result without a permission decision: it was invalid, or its run ended.
fn unexecuted_reason(moment: RecordContext<'_>, id: CallId) -> Option<String> {
    let call = moment.after.find_call(id)?;
    let CallState::Finished(shown) = &call.state else { return None };
    let why = error_message(shown);
    match shown.kind {
        OutcomeKind::Skipped => {
            Some(report::explain::call_skipped(&moment.after.call_text(id), &why))
        }
        OutcomeKind::Failed if call.attempts == 0 && call.facts.problem.is_some() => {
            Some(report::explain::call_invalid(&moment.after.call_text(id), &why))
        }
        OutcomeKind::Failed
        | OutcomeKind::Done
        | OutcomeKind::Denied
        | OutcomeKind::Interrupted
        | OutcomeKind::TimedOut
        | OutcomeKind::Answered => None,
    }
}

trait CallLookup {
    fn find_call(&self, id: CallId) -> Option<&Call>;
    fn call_text(&self, id: CallId) -> String;
}

impl CallLookup for Conversation {
    fn find_call(&self, id: CallId) -> Option<&Call> {
        self.run.as_ref().and_then(Run::round)?.call(id)
    }

    fn call_text(&self, id: CallId) -> String {
        crate::messages::inspect::call_text(id, self)
    }
}
