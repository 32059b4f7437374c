//! What to do after a run: it follows from what dominated the run, and only then from the stop cause.

use windlass::StopCause;
use windlass::core::log::ids::LaneId;
use windlass::messages::{CallProblem, FailedCall, RepeatedCall, RunFacts};

use super::explain_facts::call_with_input;
use crate::messages::{continue_command, next_step, shell_word};
use crate::terminal::number_format::group_digits;
use crate::terminal::{sanitize_line, truncate};

/// Characters of a quoted error or call.
const MAX_QUOTE_CHARS: usize = 160;

/// The share of the window above which one piece is what fills it.
const DOMINATING_PERCENT: u64 = 50;

/// What to do after a run that ended, the most important first.
pub(crate) fn advise(cause: StopCause, facts: &RunFacts, lane: &LaneId) -> Vec<String> {
    let special = match cause {
        StopCause::MaxToolRounds | StopCause::MaxModelCalls | StopCause::MaxModelReplies => {
            stuck(facts, lane)
        }
        StopCause::BudgetUsd | StopCause::BudgetTokens | StopCause::HardTime => {
            connection(facts, lane).or_else(|| stuck(facts, lane))
        }
        StopCause::ProviderFailed => provider(facts, lane),
        StopCause::StructuredOutputRetries => schema(facts),
        StopCause::BlockingLimit => context(facts, lane),
        StopCause::TruncationExhausted => cut(facts, lane),
        StopCause::EndTurn | StopCause::StopSequence | StopCause::SoftTime => {
            unresolved(facts, lane)
        }
        StopCause::HookStopped
        | StopCause::Refusal
        | StopCause::Unexpected
        | StopCause::ToolFatal
        | StopCause::UserCancel
        | StopCause::PriceUnknown
        | StopCause::ToolDeferred
        | StopCause::ResumeUnsafe
        | StopCause::AskedHuman => None,
    };
    match special {
        // A smaller task is one way; the others stand beside it.
        Some(advice) if cause == StopCause::BlockingLimit => vec![advice, next_step(cause, lane)],
        Some(advice) => vec![advice],
        None => vec![next_step(cause, lane)],
    }
}

/// More rounds do not help a run that a hook, the permissions or a loop kept from its goal.
fn stuck(facts: &RunFacts, lane: &LaneId) -> Option<String> {
    let go_on = continue_command(lane);
    let open: Vec<&FailedCall> =
        facts.failed_calls.iter().filter(|call| !call.is_made_good).collect();
    let failures: usize = open.iter().map(|call| call.entries.len()).sum();
    let denied = open.iter().filter(|call| call.problem == CallProblem::Denied);
    let denials: usize = denied.clone().map(|call| call.entries.len()).sum();
    if let Some(call) = denied.max_by_key(|call| call.entries.len())
        && denials * 2 >= failures
    {
        return Some(format!("{}; more turns would not help. Then: `{go_on}`.", allow(call)));
    }
    let repeated = facts.repeated_call.as_ref().filter(|call| call.has_same_result)?;
    Some(format!(
        "It made no progress: {}. More turns would not help: give other instructions with `{go_on}`.",
        same_again(repeated)
    ))
}

fn same_again(call: &RepeatedCall) -> String {
    let name = truncate(&call_with_input(&call.tool, &call.input), MAX_QUOTE_CHARS);
    format!("{name} brought the same result {} times", call.times)
}

/// How a denied call could run.
fn allow(call: &FailedCall) -> String {
    let name = truncate(&call_with_input(&call.tool, &call.input), MAX_QUOTE_CHARS);
    let reason = truncate(&sanitize_line(&call.error.text), MAX_QUOTE_CHARS);
    let denial = call.denied_by.as_ref();
    let place = denial.and_then(|it| it.source.as_ref()).map(|it| format!(" ({it})"));
    let place = place.unwrap_or_default();
    match denial.map(|denial| denial.by.as_str()) {
        Some("hook") => format!(
            "A hook refused {name}: {reason}{place}. Do what it asks for, or change the hook"
        ),
        Some("rule") => {
            let rule = denial.and_then(|it| it.rule.as_deref()).unwrap_or("a deny rule");
            format!("The rule {rule} denies {name}{place}. Ask for another way, or remove the rule")
        }
        Some("no_approver" | "no_rule") => {
            let (what, rule) = match call.uncovered_parts.first() {
                Some(part) => {
                    let program: Vec<&str> = part.split_whitespace().take(2).collect();
                    let rule = format!("\"{}({}:*)\"", call.tool, program.join(" "));
                    (format!("`{}`", sanitize_line(part)), sanitize_line(&rule))
                }
                None => (name, call.tool.clone()),
            };
            format!(
                "No rule allows {what}. Allow it with --allowedTools {rule}, or use --when-asked park"
            )
        }
        _ => {
            let reason = reason.trim_end_matches('.');
            format!("{name} was denied: {reason}. Do it yourself, or ask for another way")
        }
    }
}

/// Attempts that were cut off ate what the limit allows.
fn connection(facts: &RunFacts, lane: &LaneId) -> Option<String> {
    let lost = &facts.lost_attempts;
    let dominates = lost.count > 0 && lost.count as usize >= facts.model_calls.len();
    dominates.then(|| {
        let error = lost.last_error.as_ref().map(|error| sanitize_line(&error.text));
        let error = error.map(|error| format!(" ({})", truncate(&error, MAX_QUOTE_CHARS)));
        format!(
            "{} of {} model calls brought no reply{}: check the connection to the provider with \
             `windlass doctor`, then `windlass resume {}`. A higher limit alone would not help.",
            lost.count,
            lost.count as usize + facts.model_calls.len(),
            error.unwrap_or_default(),
            shell_word(lane)
        )
    })
}

/// What the provider's error asks for.
fn provider(facts: &RunFacts, lane: &LaneId) -> Option<String> {
    let error = facts.lost_attempts.last_error.as_ref()?.text.to_lowercase();
    let word = shell_word(lane);
    let has = |words: &[&str]| words.iter().any(|word| error.contains(word));
    let resume = format!("`windlass resume {word}`");
    if facts.lost_attempts.cut_streams > 0
        && facts.lost_attempts.cut_streams * 2 >= facts.lost_attempts.count
    {
        return Some(format!(
            "The connection broke while replies arrived: check the network and proxies between here \
             and the provider with `windlass doctor`, then {resume}."
        ));
    }
    if has(&["401", "403", "api key", "api-key", "authentication", "permission"]) {
        return Some(format!(
            "The provider refused the key: check it with `windlass doctor`, then {resume}."
        ));
    }
    if has(&["404", "model not found", "not_found", "unknown model"]) {
        return Some(format!(
            "The provider does not know the model: `windlass models` lists names; then {resume} --model NAME."
        ));
    }
    if has(&["429", "529", "overloaded", "rate limit", "rate_limit"]) {
        return Some(format!(
            "The provider was overloaded or limits the rate: wait, then {resume}; a fallback model \
             (--fallback-model NAME) takes over by itself."
        ));
    }
    if has(&["400", "invalid_request", "invalid request"]) {
        return Some(format!(
            "The provider rejected the request, so repeating it does not help: `windlass raw {word}` \
             shows its response. Change the model or the prompt, then {resume}."
        ));
    }
    None
}

/// A schema that contradicts itself.
fn schema(facts: &RunFacts) -> Option<String> {
    (!facts.schema_conflicts.is_empty()).then(|| {
        format!(
            "No answer can fit the schema: {}. Fix the schema.",
            facts.schema_conflicts.join("; ")
        )
    })
}

/// One piece that fills the window and cannot be compacted.
fn context(facts: &RunFacts, lane: &LaneId) -> Option<String> {
    let context = facts.context.as_ref()?;
    let largest = context.pieces.first().filter(|piece| !piece.can_be_compacted)?;
    let share = largest.tokens.saturating_mul(100).checked_div(context.tokens)?;
    (share >= DOMINATING_PERCENT).then(|| {
        format!(
            "Give it less at once: {} takes {} of {} tokens and cannot be compacted. Name files \
             instead of pasting them, or use a model with a larger window: `windlass resume {} --model NAME`.",
            largest.name,
            group_digits(largest.tokens),
            group_digits(context.tokens),
            shell_word(lane)
        )
    })
}

/// A call that was too long for one reply.
fn cut(facts: &RunFacts, lane: &LaneId) -> Option<String> {
    let cut = facts.cut_calls.last()?;
    let what = match &cut.path {
        Some(path) => format!("{} of {}", cut.tool, sanitize_line(path)),
        None => cut.tool.clone(),
    };
    let go_on = continue_command(lane);
    Some(format!(
        "The call {what} is too long for one reply: ask for it in parts, or allow longer replies with \
         --max-tokens N; `{go_on}`."
    ))
}

/// A run that completed although something was not done.
fn unresolved(facts: &RunFacts, lane: &LaneId) -> Option<String> {
    let open = |call: &&FailedCall| !call.is_made_good;
    let go_on = continue_command(lane);
    let call = facts.failed_calls.iter().find(open)?;
    let denied =
        facts.failed_calls.iter().filter(open).find(|it| it.problem == CallProblem::Denied);
    if let Some(denied) = denied {
        return Some(format!("{}; then: `{go_on}`.", allow(denied)));
    }
    let name = truncate(&call_with_input(&call.tool, &call.input), MAX_QUOTE_CHARS);
    let hint = call.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
    Some(format!(
        "Check the answer: it was written although {name} did not succeed{hint}. To have it done: `{go_on}`."
    ))
}
