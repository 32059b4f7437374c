//! What happened on the way.

use std::sync::Arc;

use windlass::core::ids::{Millis, QuestionId};
use windlass::core::limits::Limits;
use windlass::core::permission::Rule;
use windlass::core::record::{Found, Rejection, TimeLimit};
use windlass::core::reply::Usage;
use windlass::core::run::Counters;
use windlass::core::stop::Anomaly;
use windlass::core::thrash::{Level, Tier};
use windlass::core::window::{Rung, Stage};

use crate::look::explain::room::Freed;
use crate::look::numbers::{counted, grouped};
use crate::look::paper::one_line;
use crate::look::time::stamp;
use crate::look::words;

/// Characters of what others said.
const QUOTE: usize = 300;

pub(in crate::look::explain) const REPLY_CUT: &str = "A reply was cut by the output limit.";
pub(in crate::look::explain) const CONTINUED: &str = "Cut text was continued.";
pub(in crate::look::explain) const REISSUED: &str = "A cut call was asked for again.";
pub(in crate::look::explain) const CAP_RAISED: &str =
    "A cut reply was asked for again with a larger output cap.";
pub(in crate::look::explain) const REPROMPTED: &str =
    "A reply was thrown away (drift) and asked for again.";
pub(in crate::look::explain) const ADOPTED: &str = "Another process resumed it.";
pub(in crate::look::explain) const ROOM_ASKED: &str = "A compaction was requested.";
pub(in crate::look::explain) const SLEPT: &str =
    "No process was running when a time limit came; that time does not count.";
pub(in crate::look::explain) const BUDGET_EXTENDED: &str = "A person doubled the budget.";
pub(in crate::look::explain) const GUIDED: &str = "A person said how to continue.";

/// Who said no to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::look::explain) enum Decider {
    Rule,
    Mode,
    Permissions,
    Hook,
    Classifier,
    Human,
}

pub(in crate::look::explain) fn denied(call: &str, by: Decider, reason: &str) -> String {
    let by = match by {
        Decider::Rule => "a deny rule",
        Decider::Mode => "the permission mode",
        Decider::Permissions => "the permissions",
        Decider::Hook => "a hook",
        Decider::Classifier => "the classifier",
        Decider::Human => "a human",
    };
    format!("{call} did not run; {by} said no: {}.", one_line(reason, QUOTE))
}

pub(in crate::look::explain) fn asked(call: &str, by: &str, question: QuestionId) -> String {
    let by = match by {
        "" | "default" => "no rule allows it".to_owned(),
        "hook" => "a hook wants it".to_owned(),
        "classifier" => "the classifier was not sure".to_owned(),
        rule => format!("the rule {rule} wants it"),
    };
    format!("{call} needed approval (question {question}): {by}.")
}

pub(in crate::look::explain) fn lost(call: &str) -> String {
    format!("{call} was running when its process ended; its effects are unknown.")
}

pub(in crate::look::explain) fn skipped(call: &str, why: &str) -> String {
    format!("{call} did not run: {}.", one_line(why, QUOTE))
}

pub(in crate::look::explain) fn unfit(call: &str, why: &str) -> String {
    format!("{call} could not run: {}.", one_line(why, QUOTE))
}

pub(in crate::look::explain) fn pruned(stage: Stage, blocks: usize, freed: &Freed) -> String {
    let blocks = counted(blocks as u64, "old block");
    format!("Stage {} cut {blocks}: {}.", stage.name(), gain(freed))
}

pub(in crate::look::explain) fn compacted(
    rung: Option<Rung>,
    attached: usize,
    freed: &Freed,
) -> String {
    let rung = rung.map_or("A compaction", words::rung);
    let enough = if freed.percent_after > freed.wanted { "; that freed too little" } else { "" };
    let attached = match attached {
        0 => String::new(),
        count => format!(" {} stayed word for word.", counted(count as u64, "message")),
    };
    format!("{rung} acted: {}{enough}.{attached}", gain(freed))
}

fn gain(freed: &Freed) -> String {
    format!(
        "about {} tokens freed ({} before, {} after, {} % full)",
        grouped(freed.before.saturating_sub(freed.after)),
        grouped(freed.before),
        grouped(freed.after),
        freed.percent_after,
    )
}

pub(in crate::look::explain) fn climbed(rung: Rung) -> String {
    format!("{}: the rungs before it freed too little too often.", words::rung(rung))
}

pub(in crate::look::explain) fn recoveries(used: u32, most: u32) -> String {
    format!("{used} of {most} recoveries of the ladder were used in this run.")
}

pub(in crate::look::explain) fn truncations(used: u32, most: u32) -> String {
    format!("Cut replies: {used} of {most} recoveries in a row were used.")
}

pub(in crate::look::explain) fn model_retry(
    failures: u32,
    until: Millis,
    why: Option<&str>,
) -> String {
    let why = why.map_or_else(String::new, |why| format!(": {}", one_line(why, QUOTE)));
    format!("The model failed ({failures} in a row){why}; asked again at {}.", stamp(until))
}

pub(in crate::look::explain) fn abandoned(why: &str, charged: &Usage) -> String {
    let tokens = grouped(charged.total());
    format!("A model call failed ({}); tokens charged: {tokens}.", one_line(why, QUOTE))
}

pub(in crate::look::explain) fn fell_back(model: &str, why: &str) -> String {
    format!("From here on the fallback model {model} is asked, because {}.", one_line(why, QUOTE))
}

pub(in crate::look::explain) fn anomaly(what: Anomaly, value: Option<&str>) -> String {
    let what = match what {
        Anomaly::UnknownStopReason => {
            let value = value.unwrap_or_default();
            return format!("The model stopped with `{value}`, which this version does not know.");
        }
        Anomaly::CallsWithoutToolUse => "calls came with a stop reason that is not `tool_use`",
        Anomaly::ToolUseWithoutCalls => "`tool_use` came without a call",
        Anomaly::EmptyAnswer => "the answer was empty",
        Anomaly::UnknownStopString => "a stop string matched that is not configured",
        Anomaly::RepeatedCallId => "a call had the id of another call",
    };
    format!("Something odd about a reply: {what}.")
}

pub(in crate::look::explain) fn tool_retry(call: &str, until: Millis) -> String {
    format!("{call} failed temporarily and was retried at {}.", stamp(until))
}

pub(in crate::look::explain) fn circles(level: Level, found: &Found) -> String {
    let what = match found.tier {
        Tier::Identical => "the same call again and again",
        Tier::Pattern => "the same tool again and again",
    };
    let level = match level {
        Level::Calm => "it makes progress, so nothing was done",
        Level::Nudge => "the model got a hint",
        Level::Directive => "the model got a directive",
        Level::Human => "a person was asked",
    };
    format!("{}: {what}; {level}.", found.tool)
}

pub(in crate::look::explain) fn rejected(
    by: Rejection,
    reason: &Arc<str>,
    used: &Counters,
    limits: &Limits,
) -> String {
    let (by, used, most) = match by {
        Rejection::Checklist => ("The completion gate", used.rejections, limits.rejections),
        Rejection::Hook => ("A Stop hook", used.rejections, limits.rejections),
        Rejection::Judge => ("The judge", used.rejections, limits.rejections),
        Rejection::Schema => ("The schema", used.output_retries, limits.output_retries),
        Rejection::Drift => ("The drift guard", used.reprompts, limits.reprompts),
    };
    let reason = one_line(reason, QUOTE);
    if used > most {
        return format!(
            "{by} rejected the answer {}, so a person was asked: {reason}",
            counted(u64::from(used), "time")
        );
    }
    format!("{by} rejected the answer ({used} of {most}): {reason}")
}

pub(in crate::look::explain) fn time_up(limit: TimeLimit) -> &'static str {
    match limit {
        TimeLimit::Soft => "The soft time limit came; it summed up.",
        TimeLimit::Hard => "The hard time limit came.",
    }
}

pub(in crate::look::explain) fn budget_warned(percent: u64) -> String {
    format!("{percent} % of a budget was spent.")
}

pub(in crate::look::explain) fn granted(rule: &Rule, folder: &str) -> String {
    let within = words::within(folder);
    format!("The rule {rule} is kept for the rest of the conversation{within}.")
}

pub(in crate::look::explain) fn refused(why: &str) -> String {
    format!("Something that was sent was not taken: {}.", one_line(why, QUOTE))
}
