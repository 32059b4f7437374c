//! Sentences about single records.

use std::sync::Arc;

use windlass::core::context::{PruneStage, RecoveryStep};
use windlass::core::guard::loop_detection::{EscalationLevel, LoopDetectorTier};
use windlass::core::log::command_rejection::CommandRejection;
use windlass::core::log::ids::{QuestionId, UnixMillis};
use windlass::core::log::record::{LoopFinding, RejectionSource, TimeLimit};
use windlass::core::message::reply::TokenUsage;
use windlass::core::permission::{DenialSource, PermissionRule};
use windlass::core::run::active_run::RunCounters;
use windlass::core::settings::limits::Limits;
use windlass::core::stop::ReplyAnomaly;

use crate::inspect::explain::compaction_events::FreedTokens;
use crate::messages;
use crate::terminal::number_format::{count_noun, group_digits};
use crate::terminal::time_format::format_timestamp;
use crate::terminal::to_one_line;

/// Maximum characters of a quoted text.
const MAX_QUOTE_CHARS: usize = 300;

pub(crate) const REPLY_TRUNCATED: &str = "A reply was cut by the output limit.";
pub(crate) const TEXT_CONTINUED: &str = "Cut text was continued.";
pub(crate) const CALL_REISSUED: &str = "A cut call was asked for again.";
pub(crate) const OUTPUT_CAP_RAISED: &str =
    "A cut reply was asked for again with a larger output cap.";
pub(crate) const REPLY_DISCARDED: &str = "A reply was thrown away (drift) and asked for again.";
pub(crate) const OWNER_CHANGED: &str = "Another process resumed it.";
pub(crate) const COMPACTION_REQUESTED: &str = "A compaction was requested.";
pub(crate) const SLEEP_DETECTED: &str =
    "No process was running when a time limit came; that time does not count.";
pub(crate) const BUDGET_EXTENDED: &str = "A person doubled the budget.";
pub(crate) const GUIDANCE_GIVEN: &str = "A person said how to continue.";

pub(crate) fn call_denied(call: &str, by: DenialSource, reason: &str) -> String {
    let by = match by {
        DenialSource::Rule => "a deny rule",
        DenialSource::Mode => "the permission mode",
        DenialSource::NoRule
        | DenialSource::Protected
        | DenialSource::NoApprover
        | DenialSource::Expired => "the permissions",
        DenialSource::Hook => "a hook",
        DenialSource::Classifier => "the classifier",
        DenialSource::Human => "a human",
    };
    format!("{call} did not run; {by} said no: {}.", to_one_line(reason, MAX_QUOTE_CHARS))
}

pub(crate) fn approval_needed(call: &str, by: &str, question: QuestionId) -> String {
    let by = match by {
        "" | "default" => "no rule allows it".to_owned(),
        "hook" => "a hook wants it".to_owned(),
        "classifier" => "the classifier was not sure".to_owned(),
        rule => format!("the rule {rule} wants it"),
    };
    format!("{call} needed approval (question {question}): {by}.")
}

pub(crate) fn call_lost(call: &str) -> String {
    format!("{call} was running when its process ended; its effects are unknown.")
}

pub(crate) fn call_skipped(call: &str, why: &str) -> String {
    format!("{call} did not run: {}.", to_one_line(why, MAX_QUOTE_CHARS))
}

pub(crate) fn call_invalid(call: &str, why: &str) -> String {
    format!("{call} could not run: {}.", to_one_line(why, MAX_QUOTE_CHARS))
}

pub(crate) fn pruning_done(stage: PruneStage, blocks: usize, freed: &FreedTokens) -> String {
    let blocks = count_noun(blocks as u64, "old block");
    format!("Stage {} cut {blocks}: {}.", stage.name(), freed_tokens(freed))
}

pub(crate) fn compaction_done(
    rung: Option<RecoveryStep>,
    attached: usize,
    freed: &FreedTokens,
) -> String {
    let rung = rung.map_or("A compaction", messages::inspect::recovery_step_name);
    let enough =
        if freed.percent_after > freed.target_percent { "; that freed too little" } else { "" };
    let attached = match attached {
        0 => String::new(),
        count => format!(" {} stayed word for word.", count_noun(count as u64, "message")),
    };
    format!("{rung} acted: {}{enough}.{attached}", freed_tokens(freed))
}

fn freed_tokens(freed: &FreedTokens) -> String {
    format!(
        "about {} tokens freed ({} before, {} after, {} % full)",
        group_digits(freed.before.saturating_sub(freed.after)),
        group_digits(freed.before),
        group_digits(freed.after),
        freed.percent_after,
    )
}

pub(crate) fn recovery_step_used(rung: RecoveryStep) -> String {
    format!(
        "{}: the rungs before it freed too little too often.",
        messages::inspect::recovery_step_name(rung)
    )
}

pub(crate) fn recoveries_used(used: u32, most: u32) -> String {
    format!("{used} of {most} recoveries of the ladder were used in this run.")
}

pub(crate) fn truncations_used(used: u32, most: u32) -> String {
    format!("Cut replies: {used} of {most} recoveries in a row were used.")
}

pub(crate) fn model_retry_scheduled(failures: u32, until: UnixMillis, why: Option<&str>) -> String {
    let why =
        why.map_or_else(String::new, |why| format!(": {}", to_one_line(why, MAX_QUOTE_CHARS)));
    format!(
        "The model failed ({failures} in a row){why}; asked again at {}.",
        format_timestamp(until)
    )
}

pub(crate) fn model_call_failed(why: &str, charged: &TokenUsage) -> String {
    let tokens = group_digits(charged.total_tokens());
    format!(
        "A model call failed ({}); tokens charged: {tokens}.",
        to_one_line(why, MAX_QUOTE_CHARS)
    )
}

pub(crate) fn fallback_model_selected(model: &str, why: &str) -> String {
    format!(
        "From here on the fallback model {model} is asked, because {}.",
        to_one_line(why, MAX_QUOTE_CHARS)
    )
}

pub(crate) fn reply_anomaly(what: ReplyAnomaly, value: Option<&str>) -> String {
    let what = match what {
        ReplyAnomaly::UnknownStopReason => {
            let value = value.unwrap_or_default();
            return format!("The model stopped with `{value}`, which this version does not know.");
        }
        ReplyAnomaly::CallsWithoutToolUse => "calls came with a stop reason that is not `tool_use`",
        ReplyAnomaly::ToolUseWithoutCalls => "`tool_use` came without a call",
        ReplyAnomaly::EmptyAnswer => "the answer was empty",
        ReplyAnomaly::UnknownStopString => "a stop string matched that is not configured",
        ReplyAnomaly::RepeatedCallId => "a call had the id of another call",
    };
    format!("Something odd about a reply: {what}.")
}

pub(crate) fn call_retry_scheduled(call: &str, until: UnixMillis) -> String {
    format!("{call} failed temporarily and was retried at {}.", format_timestamp(until))
}

pub(crate) fn loop_detected(level: EscalationLevel, found: &LoopFinding) -> String {
    let what = match found.tier {
        LoopDetectorTier::Identical => "the same call again and again",
        LoopDetectorTier::Pattern => "the same tool again and again",
    };
    let level = match level {
        EscalationLevel::Calm => "it makes progress, so nothing was done",
        EscalationLevel::Nudge => "the model got a hint",
        EscalationLevel::Directive => "the model got a directive",
        EscalationLevel::Human => "a person was asked",
    };
    format!("{}: {what}; {level}.", found.tool)
}

pub(crate) fn answer_rejected(
    by: RejectionSource,
    reason: &Arc<str>,
    used: &RunCounters,
    limits: &Limits,
) -> String {
    let (by, used, most) = match by {
        RejectionSource::Checklist => ("The completion gate", used.rejections, limits.rejections),
        RejectionSource::Hook => ("A Stop hook", used.rejections, limits.rejections),
        RejectionSource::Judge => ("The judge", used.rejections, limits.rejections),
        RejectionSource::Schema => ("The schema", used.output_retries, limits.output_retries),
        RejectionSource::Drift => ("The drift guard", used.reprompts, limits.reprompts),
    };
    let reason = to_one_line(reason, MAX_QUOTE_CHARS);
    if used > most {
        return format!(
            "{by} rejected the answer {}, so a person was asked: {reason}",
            count_noun(u64::from(used), "time")
        );
    }
    format!("{by} rejected the answer ({used} of {most}): {reason}")
}

pub(crate) fn time_limit_reached(limit: TimeLimit) -> &'static str {
    match limit {
        TimeLimit::Soft => "The soft time limit came; it summed up.",
        TimeLimit::Hard => "The hard time limit came.",
    }
}

pub(crate) fn budget_warned(percent: u64) -> String {
    format!("{percent} % of a budget was spent.")
}

pub(crate) fn rule_granted(rule: &PermissionRule, folder: &str) -> String {
    let within = messages::inspect::within(folder);
    format!("The rule {rule} is kept for the rest of the conversation{within}.")
}

pub(crate) fn command_rejected(reason: &CommandRejection) -> String {
    format!("A command was rejected: {}.", messages::command_rejection(reason))
}
