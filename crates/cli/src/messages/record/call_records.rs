//! Messages about tool calls: permission, results, retries, sub-agents.

use windlass::core::call::call_state::{Call, CallState};
use windlass::core::call::outcome::{OutcomeKind, ToolOutcome};
use windlass::core::log::ids::{CallId, InboxMessageId, QuestionId, UnixMillis};
use windlass::core::log::inbox::{AnswerSource, HumanAnswer, InboxCommand};
use windlass::core::log::input::Input;
use windlass::core::log::record::Record;
use windlass::core::permission::{
    ASKED_AFTER_UNTRUSTED, ASKED_BY_SANDBOX, AddedAccess, ContentSource, DenialSource,
    PermissionDecision, PermissionRule, PermissionUpdate,
};
use windlass::core::run::active_run::Run;
use windlass::core::run::conversation::Conversation;
use windlass::core::run::question::{Question, QuestionKind};

use super::{MAX_QUOTE_CHARS, MessageContext, RecordTexts, SectionTopic};
use crate::messages::{
    answer_phrase, answer_source, error_message, first_line, permission_update, within,
};
use crate::terminal::time_format::format_timestamp;
use crate::terminal::{escape_invisible, to_one_line};

/// The arguments of a call were changed, by a hook or by the answer of a person. The call is named
/// with the new ones.
pub(super) fn input_changed(
    say: RecordTexts,
    context: &MessageContext<'_>,
    call: CallId,
    message: Option<InboxMessageId>,
) -> RecordTexts {
    let name = || context.call_name(call);
    let by = |person, hook| if message.is_some() { person } else { hook };
    say.timeline(|| format!("{} changed the arguments: {}", by("the answer", "a hook"), name()))
        .explain(SectionTopic::Calls, || {
            format!("{} changed the arguments of {}.", by("The answer", "A hook"), name())
        })
}

/// A question was answered. The answer is an item of the timeline.
pub(super) fn question_answered(
    say: RecordTexts,
    context: &MessageContext<'_>,
    message: InboxMessageId,
) -> RecordTexts {
    say.explain(SectionTopic::Calls, || {
        let (question, answer, by) = find_answer(&context.entry.input, message)?;
        let (said, by) = (answer_phrase(answer), answer_source(Some(by?)));
        let said = to_one_line(&said, MAX_QUOTE_CHARS);
        Some(format!("Question {question} was answered{by}: {said}."))
    })
}

#[expect(clippy::wildcard_enum_match_arm, reason = "one command of one input has the answer")]
fn find_answer(
    input: &Input,
    id: InboxMessageId,
) -> Option<(QuestionId, &HumanAnswer, Option<&AnswerSource>)> {
    let messages = match input {
        Input::CommandsReceived { messages } => messages,
        _ => return None,
    };
    match &messages.iter().find(|message| message.id == id)?.body {
        InboxCommand::Answer { question, answer, answered_by } => {
            Some((*question, answer, answered_by.as_ref()))
        }
        _ => None,
    }
}

/// A hook ends the run after the round.
pub(super) fn hook_stop_requested(
    say: RecordTexts,
    context: &MessageContext<'_>,
    call: CallId,
    reason: &str,
) -> RecordTexts {
    let name = || context.call_name(call);
    let why = || match reason.trim() {
        "" => String::new(),
        reason => format!(": {}", to_one_line(reason, MAX_QUOTE_CHARS)),
    };
    say.live(|| format!("  ! a hook ends the run{}", why()))
        .timeline(|| format!("a hook ends the run at {}{}", name(), why()))
        .explain(SectionTopic::Guards, || format!("A hook ended the run at {}{}.", name(), why()))
}

/// The permission decision about a call; only a denial says something.
pub(super) fn permission_decided(
    say: RecordTexts,
    context: &MessageContext<'_>,
    call: CallId,
    verdict: &PermissionDecision,
) -> RecordTexts {
    let (by, reason) = match verdict {
        PermissionDecision::Deny { by, reason } => (*by, reason),
        PermissionDecision::Allow { .. }
        | PermissionDecision::Ask { .. }
        | PermissionDecision::Classify {} => return say,
    };
    say.live(|| {
        let name = context.call_name(call);
        let advice = approval_advice(&name, by, reason);
        format!("  ✗ {name}: denied, {reason}{advice}")
    })
    .explain(SectionTopic::Calls, || {
        let (name, by) = (context.call_name(call), denial_source(by));
        format!("{name} was denied by {by}: {}.", to_one_line(reason, MAX_QUOTE_CHARS))
    })
}

/// How to allow a call that was denied because no one could approve it.
fn approval_advice(name: &str, by: DenialSource, reason: &str) -> String {
    if by != DenialSource::NoApprover {
        return String::new();
    }
    // No rule allows it then.
    if reason.contains(ASKED_AFTER_UNTRUSTED) {
        return "; use --when-asked park to be asked".to_owned();
    }
    let tool = name.split(' ').next().unwrap_or_default();
    format!("; allow it with --allowedTools {tool}, or use --when-asked park")
}

/// What denied a call.
fn denial_source(by: DenialSource) -> &'static str {
    match by {
        DenialSource::Rule => "a deny rule",
        DenialSource::Mode => "the permission mode",
        DenialSource::NoRule | DenialSource::Protected | DenialSource::NoApprover => {
            "the permissions"
        }
        DenialSource::Expired => "the end of the waiting time",
        DenialSource::Hook => "a hook",
        DenialSource::Classifier => "the classifier",
        DenialSource::Human => "a person",
    }
}

/// A question about a call; its text is an item of the timeline.
pub(super) fn question_asked(
    say: RecordTexts,
    context: &MessageContext<'_>,
    question: &Question,
) -> RecordTexts {
    let call = match question.kind {
        QuestionKind::Approval { call } => call,
        QuestionKind::Uncertain { .. }
        | QuestionKind::ModelQuestion { .. }
        | QuestionKind::ToolRequest { .. }
        | QuestionKind::Plan { .. }
        | QuestionKind::Guidance { .. }
        | QuestionKind::Budget { .. }
        | QuestionKind::PromptChanged { .. } => return say,
    };
    say.explain(SectionTopic::Calls, || {
        let (name, by) = (context.call_name(call), approval_source(context, call));
        format!("{name} required approval (question {}): {by}.", question.id)
    })
}

/// What required approval, from the permission decision in the same entry.
fn approval_source(context: &MessageContext<'_>, call: CallId) -> String {
    #[expect(clippy::wildcard_enum_match_arm, reason = "one record has the decision")]
    let verdict = |record: &Record| match record {
        Record::PermissionDecided {
            call: judged,
            verdict: PermissionDecision::Ask { by, reason },
        } if *judged == call => Some((by.to_string(), reason.clone())),
        _ => None,
    };
    let (by, reason) = context.entry.records.iter().find_map(verdict).unwrap_or_default();
    match (by.as_str(), reason) {
        ("" | "default", _) => "no rule allows it".to_owned(),
        ("hook", Some(reason)) => {
            format!("a hook requires it ({})", to_one_line(&reason, MAX_QUOTE_CHARS))
        }
        ("hook", None) => "a hook requires it".to_owned(),
        ("classifier", _) => "the classifier was unsure".to_owned(),
        (ASKED_AFTER_UNTRUSTED | ASKED_BY_SANDBOX, Some(reason)) => {
            to_one_line(&reason, MAX_QUOTE_CHARS)
        }
        (rule, _) => format!("the rule {rule} requires it"),
    }
}

/// A call failed and is retried.
pub(super) fn retry_scheduled(
    say: RecordTexts,
    context: &MessageContext<'_>,
    call: CallId,
    until: UnixMillis,
) -> RecordTexts {
    let name = || context.call_name(call);
    say.live(|| format!("  ↻ {} failed temporarily; retrying", name()))
        .timeline(|| format!("{} failed temporarily; it is retried", name()))
        .explain(SectionTopic::Recoveries, || {
            format!("{} failed temporarily and was retried at {}.", name(), format_timestamp(until))
        })
}

/// A call returned. The result is an item of the timeline.
pub(super) fn returned(
    say: RecordTexts,
    context: &MessageContext<'_>,
    call: CallId,
) -> RecordTexts {
    say.live(|| returned_line(&context.entry.input, context.entry.at, &context.call_name(call)))
}

#[expect(clippy::wildcard_enum_match_arm, reason = "one input carries the outcome")]
fn returned_line(input: &Input, at: UnixMillis, name: &str) -> String {
    let (outcome, ms) = match input {
        Input::ToolReturned { outcome, started_at, .. } => (outcome, at.ms_since(*started_at)),
        _ => return format!("  ✓ {name}"),
    };
    match outcome {
        ToolOutcome::Done(_) | ToolOutcome::DoneWithDetail { .. } => {
            format!("  ✓ {name} ({ms} ms)")
        }
        ToolOutcome::Failed(error) => {
            format!("  ✗ {name} ({ms} ms): {}", first_line(&error.message))
        }
        ToolOutcome::TimedOut { after_ms } => format!("  ✗ {name}: timed out after {after_ms} ms"),
        ToolOutcome::Interrupted { after_ms } => {
            format!("  ✗ {name}: interrupted after {after_ms} ms")
        }
        ToolOutcome::InputRequested(_) => format!("  … {name} asks the user"),
    }
}

/// The result of a call is final; a call that never ran says why.
pub(super) fn finalized(
    say: RecordTexts,
    context: &MessageContext<'_>,
    call: CallId,
) -> RecordTexts {
    say.explain(SectionTopic::Calls, || unexecuted_reason(context, call))
}

/// Why a call has a result without a permission decision: it was invalid, or its run ended.
fn unexecuted_reason(context: &MessageContext<'_>, id: CallId) -> Option<String> {
    let call = find_call(context.after()?, id)?;
    #[expect(clippy::wildcard_enum_match_arm, reason = "a final result has one state")]
    let result = match &call.state {
        CallState::Finished(result) => result,
        _ => return None,
    };
    let why = to_one_line(&error_message(result), MAX_QUOTE_CHARS);
    match result.kind {
        OutcomeKind::Skipped => Some(format!("{} did not run: {why}.", context.call_name(id))),
        OutcomeKind::Deferred => Some(format!("{} was deferred by a hook.", context.call_name(id))),
        OutcomeKind::Failed if call.attempts == 0 && call.facts.problem.is_some() => {
            Some(format!("{} was invalid: {why}.", context.call_name(id)))
        }
        OutcomeKind::Failed
        | OutcomeKind::Done
        | OutcomeKind::Denied
        | OutcomeKind::Interrupted
        | OutcomeKind::TimedOut
        | OutcomeKind::Answered => None,
    }
}

fn find_call(now: &Conversation, id: CallId) -> Option<&Call> {
    now.run.as_ref().and_then(Run::round)?.call(id)
}

/// A call whose process ended while it was running.
pub(super) fn lost(say: RecordTexts, context: &MessageContext<'_>, call: CallId) -> RecordTexts {
    let text = || {
        let name = context.call_name(call);
        format!("{name} was running when its process ended; its effects are unknown")
    };
    say.live(|| format!("  ? {}", text()))
        .timeline(text)
        .explain(SectionTopic::Calls, || format!("{}.", text()))
}

/// A call that ends the run.
pub(super) fn fatal(say: RecordTexts, context: &MessageContext<'_>, call: CallId) -> RecordTexts {
    say.timeline(|| format!("{} failed fatally and ends the run", context.call_name(call)))
}

/// Sub-agents were started for a call.
pub(super) fn children_spawned(
    say: RecordTexts,
    context: &MessageContext<'_>,
    call: CallId,
) -> RecordTexts {
    let name = || context.call_name(call);
    say.live(|| format!("  → {}: started sub-agent", name()))
        .timeline(|| format!("sub-agents started for {}", name()))
}

/// The sandbox kept a command from something.
pub(super) fn access_requested(
    say: RecordTexts,
    context: &MessageContext<'_>,
    call: CallId,
    access: &AddedAccess,
) -> RecordTexts {
    let parts = || escape_invisible(&access.descriptions().collect::<Vec<_>>().join(" and "));
    let name = || context.call_name(call);
    say.live(|| format!("  ! the sandbox kept {} from {}", name(), parts()))
        .timeline(|| format!("the sandbox kept {} from {}", name(), parts()))
        .explain(SectionTopic::Guards, || format!("The sandbox kept {} from {}.", name(), parts()))
}

/// A result contains content that others wrote.
pub(super) fn untrusted_content(
    say: RecordTexts,
    context: &MessageContext<'_>,
    call: CallId,
    sources: &[ContentSource],
) -> RecordTexts {
    let list = || {
        let sources = sources.iter().map(ToString::to_string).collect::<Vec<_>>();
        escape_invisible(&sources.join(", "))
    };
    let name = || context.call_name(call);
    say.timeline(|| format!("the result of {} is untrusted content from {}", name(), list()))
        .explain(SectionTopic::Guards, || {
            format!(
                "The result of {} is untrusted content from {}. After it, a person decides about \
                 the network, pushes and protected files, whatever a rule allows.",
                name(),
                list()
            )
        })
}

/// A rule that a person granted with an answer.
pub(super) fn rule_granted(say: RecordTexts, rule: &PermissionRule, folder: &str) -> RecordTexts {
    let within = || within(folder);
    say.timeline(|| format!("the rule {rule} is allowed in this conversation{}", within()))
        .explain(SectionTopic::Guards, || {
            format!("The rule {rule} is allowed for the rest of the conversation{}.", within())
        })
}

/// The permissions changed for the rest of the conversation.
pub(super) fn permissions_updated(
    say: RecordTexts,
    update: &PermissionUpdate,
    folder: &str,
) -> RecordTexts {
    let text = || format!("{}{}", permission_update(update), within(folder));
    say.live(|| format!("  ! permissions changed: {}", text()))
        .timeline(|| format!("permissions changed: {}", text()))
        .explain(SectionTopic::Guards, || {
            format!("The permissions changed for the rest of the conversation: {}.", text())
        })
}
