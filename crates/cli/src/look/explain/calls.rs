//! Why a call did not run: a rule, a mode, a hook, a classifier, a human, or the call itself.

use windlass::core::call::{Call, CallState};
use windlass::core::conversation::Conversation;
use windlass::core::ids::CallId;
use windlass::core::input::{HookAnswer, Input};
use windlass::core::outcome::OutcomeKind;
use windlass::core::permission::Verdict;
use windlass::core::question::About;
use windlass::core::record::Record;
use windlass::core::run::Run;

use super::Sentence;
use super::words::{self, Decider};
use crate::look::story::Moment;
use crate::look::words::reason;

/// Listens to what is said about calls.
pub(super) fn hear(said: &mut Vec<Sentence>, moment: Moment<'_>) {
    let text = match moment.record {
        Record::Judged { call, verdict: Verdict::Deny { reason } } => {
            let by = decider(&moment.entry.input, reason);
            Some(words::denied(&moment.now.call_text(*call), by, reason))
        }
        Record::Questioned { question } => match question.about {
            About::Approval { call } => {
                let by = asked_by(moment, call);
                Some(words::asked(&moment.now.call_text(call), &by, question.id))
            }
            _ => None,
        },
        Record::Settled { call, .. } => never_ran(moment, *call),
        Record::CallLost { call } => Some(words::lost(&moment.now.call_text(*call))),
        _ => None,
    };
    Sentence::add(said, text, moment.entry.seq);
}

/// Who said no. Only the entry's input tells: hooks, classifiers and humans speak through one.
fn decider(input: &Input, reason: &str) -> Decider {
    match input {
        Input::HookAnswered { answer: HookAnswer::Deny { .. }, .. } => Decider::Hook,
        Input::Classified { .. } => Decider::Classifier,
        Input::Received { .. } => Decider::Human,
        _ if reason.starts_with("the rule ") => Decider::Rule,
        _ if reason.starts_with("the mode is ") => Decider::Mode,
        _ => Decider::Permissions,
    }
}

/// The rule that asked for a human, from the verdict in the same entry.
fn asked_by(moment: Moment<'_>, call: CallId) -> String {
    let verdict = |record: &Record| match record {
        Record::Judged { call: judged, verdict: Verdict::Ask { by } } if *judged == call => {
            Some(by.to_string())
        }
        _ => None,
    };
    moment.entry.records.iter().find_map(verdict).unwrap_or_default()
}

/// A call that was answered without having been judged: it fitted no tool, or its run ended.
fn never_ran(moment: Moment<'_>, id: CallId) -> Option<String> {
    let call = moment.now.called(id)?;
    let CallState::Settled(shown) = &call.state else { return None };
    let why = reason(shown);
    match shown.kind {
        OutcomeKind::Skipped => Some(words::skipped(&moment.now.call_text(id), &why)),
        OutcomeKind::Failed if call.attempts == 0 && call.facts.problem.is_some() => {
            Some(words::unfit(&moment.now.call_text(id), &why))
        }
        OutcomeKind::Failed
        | OutcomeKind::Done
        | OutcomeKind::Denied
        | OutcomeKind::Interrupted
        | OutcomeKind::TimedOut
        | OutcomeKind::Answered => None,
    }
}

trait Calls {
    fn called(&self, id: CallId) -> Option<&Call>;
    fn call_text(&self, id: CallId) -> String;
}

impl Calls for Conversation {
    fn called(&self, id: CallId) -> Option<&Call> {
        self.run.as_ref().and_then(Run::round)?.call(id)
    }

    fn call_text(&self, id: CallId) -> String {
        crate::look::words::call_named(id, self)
    }
}
