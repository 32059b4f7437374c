//! The limit that ended a run, in numbers: for results, events and explanations.

use crate::budget::spending::{Spending, SpendingCaps};
use crate::run::active_run::RunCounters;
use crate::run::conversation::Conversation;
use crate::stop::StopCause;

/// What a run used.
struct Used<'a> {
    counters: &'a RunCounters,
    spent: Spending,
    active_ms: u64,
    replies: u32,
}

impl<'a> Used<'a> {
    fn by_last_run(conversation: &'a Conversation) -> Option<Self> {
        let active = conversation.run.as_ref().map(|run| Self {
            counters: &run.counters,
            spent: run.spent,
            active_ms: run.active_ms,
            replies: run.reply_count(),
        });
        let ended = || {
            let ended = conversation.last_run_end.as_ref()?;
            let (spent, active_ms) = (ended.spent, ended.active_ms);
            let replies = ended.counters.iterations;
            Some(Self { counters: &ended.counters, spent, active_ms, replies })
        };
        active.or_else(ended)
    }
}

/// Returns how much of which limit was used by a run that ends, or has just ended, for this cause.
/// Returns nothing for causes that are not limits.
#[must_use]
pub fn limit_reached(conversation: &Conversation, cause: StopCause) -> Option<String> {
    let used = Used::by_last_run(conversation)?;
    let settings = conversation.settings.as_ref()?;
    let (counters, limits) = (used.counters, &settings.limits);
    match cause {
        StopCause::MaxToolRounds => {
            let (rounds, most) = (counters.tool_rounds, limits.tool_rounds);
            Some(format!("{rounds} of {} with tool calls used", counted(most, "round")))
        }
        StopCause::MaxModelCalls => {
            let calls = counters.model_calls.saturating_sub(counters.retries);
            Some(format!("{calls} of {} used", counted(limits.model_calls, "model call")))
        }
        StopCause::MaxModelReplies => {
            let most = limits.model_replies?;
            Some(format!("{} of {} used", used.replies, counted_replies(most)))
        }
        StopCause::BudgetTokens => Some(budget(conversation, &used, Unit::Tokens)),
        StopCause::BudgetUsd => Some(budget(conversation, &used, Unit::Dollars)),
        StopCause::HardTime => {
            let hard_ms = settings.times?.hard_ms;
            Some(format!("{} ms at work; the limit is {hard_ms} ms", used.active_ms))
        }
        StopCause::BlockingLimit => {
            let tokens = conversation.meter.estimate(conversation.request_bytes());
            let window = settings.model.window_tokens;
            Some(format!("about {tokens} of {window} tokens in the context"))
        }
        StopCause::TruncationExhausted => match counters.truncations {
            0 => None,
            1 => Some("1 reply cut".to_owned()),
            cut => Some(format!("{cut} replies cut in a row")),
        },
        StopCause::StructuredOutputRetries => {
            Some(format!("{} did not fit the schema", counted(counters.output_retries, "answer")))
        }
        StopCause::EndTurn
        | StopCause::StopSequence
        | StopCause::Refusal
        | StopCause::Unexpected
        | StopCause::ToolFatal
        | StopCause::UserCancel
        | StopCause::PriceUnknown
        | StopCause::SoftTime
        | StopCause::HookStopped
        | StopCause::ToolDeferred
        | StopCause::ProviderFailed
        | StopCause::ResumeUnsafe
        | StopCause::AskedHuman => None,
    }
}

/// Returns a number of replies with its noun.
fn counted_replies(count: u32) -> String {
    format!("{count} {}", if count == 1 { "reply" } else { "replies" })
}

/// Returns a count with its noun: `1 round`, `2 rounds`.
fn counted(count: u32, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

/// The unit of a cap.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Tokens,
    Dollars,
}

impl Unit {
    fn amount(self, number: u64) -> String {
        match self {
            Self::Tokens => format!("{number} tokens"),
            Self::Dollars => dollars(number),
        }
    }

    fn cap(self, caps: &SpendingCaps) -> Option<u64> {
        match self {
            Self::Tokens => caps.tokens,
            Self::Dollars => caps.usd_micros,
        }
    }

    fn spent(self, spent: &Spending) -> u64 {
        match self {
            Self::Tokens => spent.tokens,
            Self::Dollars => spent.usd_micros,
        }
    }
}

/// Returns the cap that leaves the least, which is the one that ended the run.
fn budget(conversation: &Conversation, used: &Used<'_>, unit: Unit) -> String {
    let [call, whole, parent, profile] = conversation.scopes_beside_the_run();
    let scopes = [
        (Some("the run's budget"), conversation.run_scope(used.spent)),
        (None, call),
        (Some("the conversation's budget"), whole),
        (Some("the share of its parent's budget"), parent),
        (Some("the profile's budget"), profile),
    ];
    let capped = scopes.into_iter().filter_map(|(owner, (caps, spent))| {
        unit.cap(&caps).map(|cap| (owner, cap, unit.spent(&spent)))
    });
    let (owner, cap, spent) = match capped.min_by_key(|(_, cap, spent)| cap.saturating_sub(*spent))
    {
        None => return format!("{} spent by the run", unit.amount(unit.spent(&used.spent))),
        Some((None, cap, _)) => {
            let cap = unit.amount(cap);
            return format!("a model call may cost {cap}, and the next one could cost more");
        }
        Some((Some(owner), cap, spent)) => (owner, cap, spent),
    };
    let rest = if spent < cap { ", and the next model call could exceed it" } else { "" };
    let (spent, cap) = (unit.amount(spent), unit.amount(cap));
    format!("{owner}: {} of {cap} spent{rest}", bare(&spent))
}

/// Returns an amount without its unit, where the unit follows.
fn bare(amount: &str) -> &str {
    amount.strip_suffix(" tokens").unwrap_or(amount)
}

/// Formats micro-dollars as dollars; amounts below a hundredth of a cent have every digit.
fn dollars(usd_micros: u64) -> String {
    let (whole, rest) = (usd_micros / 1_000_000, usd_micros % 1_000_000);
    match rest % 100 {
        0 => format!("${whole}.{:04}", rest / 100),
        _ => format!("${whole}.{rest:06}"),
    }
}
