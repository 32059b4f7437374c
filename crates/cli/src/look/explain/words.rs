//! The sentences of an explanation.

mod endings;
mod happenings;

pub(super) use endings::{
    ABOUT_TO_BE_DRIVEN, BETWEEN, DRIVEN, acting, also, asking, consulting, deferred, ended,
    next_step, queued, stopping, suspect, told_at_end, waits_for,
};
pub(super) use happenings::{
    ADOPTED, BUDGET_EXTENDED, CAP_RAISED, CONTINUED, Decider, GUIDED, REISSUED, REPLY_CUT,
    REPROMPTED, ROOM_ASKED, SLEPT, abandoned, anomaly, asked, budget_warned, circles, climbed,
    compacted, denied, fell_back, granted, lost, model_retry, pruned, recoveries, refused,
    rejected, skipped, time_up, tool_retry, truncations, unfit,
};

use windlass::core::budget::{Caps, Spent};
use windlass::core::ids::{LaneId, RunId, Seq};
use windlass::core::journal::{Journal, List};
use windlass::core::run::Counters;
use windlass::core::settings::Settings;
use windlass::core::stop::RunState;

use super::{Sentence, Topic};
use crate::look::estimate::Priced;
use crate::look::numbers::{counted, dollars, grouped};
use crate::look::paper::clean;
use crate::look::time::span;
use crate::look::words;

/// The heading of a section.
pub(super) fn heading(about: Topic, state: RunState) -> &'static str {
    match about {
        Topic::Ending => match state {
            RunState::WaitingOnHuman | RunState::WaitingOnProvider | RunState::Queued => {
                "What it is waiting for"
            }
            RunState::Running => "What it does now",
            RunState::Completed | RunState::Failed | RunState::Cancelled | RunState::TimedOut => {
                "Why it stopped"
            }
        },
        Topic::Limits => "What was used",
        Topic::Calls => "Calls that were held back",
        Topic::Context => "The context",
        Topic::Recoveries => "Retries and recoveries",
        Topic::Guards => "Guards and gates",
        Topic::Journal => "The journal",
    }
}

/// Which run it is about.
pub(super) fn title(run: &RunId, lane: &LaneId, state: RunState) -> String {
    format!("run {run} of {lane} {}", words::state(state))
}

/// The same of a run whose process is gone.
pub(super) fn interrupted(run: &RunId, lane: &LaneId) -> String {
    format!("run {run} of {lane} is interrupted")
}

/// Where a sentence can be looked up; of many places the first and the last.
pub(super) fn proof(entries: &[Seq]) -> String {
    match entries {
        [] => String::new(),
        [entry] => format!(" [entry {entry}]"),
        [one, two] => format!(" Twice. [entries {one}, {two}]"),
        [first, .., last] => format!(" {} times. [entries {first} … {last}]", entries.len()),
    }
}

/// Sentences that are not shown.
pub(super) fn earlier(hidden: usize) -> String {
    format!("  … {} before these; --json has all of them", counted(hidden as u64, "sentence"))
}

/// Rounds and model calls against their caps.
pub(super) fn rounds(used: &Counters, settings: &Settings) -> String {
    let limits = &settings.limits;
    // The cap does not count what only repeated a call that failed.
    let retries = match used.retries {
        0 => String::new(),
        1 => " and 1 retry".to_owned(),
        retries => format!(" and {retries} retries"),
    };
    format!(
        "{} of {} with tool calls, {}, {} of {}{retries}, {}",
        used.tool_rounds,
        counted(u64::from(limits.tool_rounds), "round"),
        counted(u64::from(used.iterations), "iteration"),
        used.model_calls.saturating_sub(used.retries),
        counted(u64::from(limits.model_calls), "model call"),
        counted(u64::from(used.tool_calls), "tool call"),
    )
}

/// Time at work against its limits.
pub(super) fn time(active_ms: u64, settings: &Settings) -> String {
    let limits = settings.times.map_or_else(
        || "no limit".to_owned(),
        |times| format!("wraps up at {}, hard limit {}", span(times.soft_ms), span(times.hard_ms)),
    );
    format!("{} at work ({limits})", span(active_ms))
}

/// Tokens and money against their caps.
pub(super) fn spent(spent: Spent, caps: Caps, priced: Priced) -> String {
    let money = match priced {
        Priced::Yes => format!("{}{}", dollars(spent.usd_micros), of(caps.usd_micros.map(dollars))),
        Priced::No => "price unknown for this model".to_owned(),
    };
    format!("{}{}; {money}", counted(spent.tokens, "token"), of(caps.tokens.map(grouped)))
}

/// What all conversations of the profile spent, against its caps.
pub(super) fn profile_spent(profile: &str, spent: Spent, caps: Caps) -> String {
    format!(
        "all conversations of the profile {profile}: {}{}; {}{}",
        counted(spent.tokens, "token"),
        of(caps.tokens.map(grouped)),
        dollars(spent.usd_micros),
        of(caps.usd_micros.map(dollars)),
    )
}

fn of(cap: Option<String>) -> String {
    cap.map_or_else(|| " (no cap)".to_owned(), |cap| format!(" of {cap}"))
}

/// What all runs of the conversation spent.
pub(super) fn conversation_spent(spent: Spent, caps: Caps) -> String {
    format!(
        "the whole conversation: {}{}, {}{}",
        counted(spent.tokens, "token"),
        of(caps.tokens.map(grouped)),
        dollars(spent.usd_micros),
        of(caps.usd_micros.map(dollars)),
    )
}

/// What a person who takes over should know first.
pub(super) fn journal(journal: &Journal) -> Vec<Sentence> {
    let handoff = journal.handoff();
    let line = |title: &str, text: Option<&str>| {
        text.map(|text| Sentence::plain(format!("{title}: {}", clean(text))))
    };
    let mut said: Vec<Sentence> = [
        line("objective", handoff.objective),
        line("state", handoff.state),
        line("next action", handoff.next_action),
    ]
    .into_iter()
    .flatten()
    .collect();
    said.extend(journal.open(List::Blockers).filter_map(|text| line("blocker", Some(text))));
    said.extend(
        journal.open(List::OpenQuestions).filter_map(|text| line("open question", Some(text))),
    );
    said
}
