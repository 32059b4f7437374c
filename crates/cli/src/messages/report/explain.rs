//! Headings of `windlass explain`, and sentences about what a run used.

use windlass::core::budget::spending::{Spending, SpendingCaps};
use windlass::core::log::ids::{LaneId, RunId, Seq};
use windlass::core::run::active_run::RunCounters;
use windlass::core::run::journal::{Journal, JournalList};
use windlass::core::settings::conversation_settings::Settings;
use windlass::core::stop::RunState;
use windlass::messages::{RunFacts, TextExcerpt};

use crate::inspect::estimate::Priced;
use crate::messages::{SectionTopic, state_phrase};
use crate::terminal::number_format::{count_noun, format_dollars, group_digits};
use crate::terminal::time_format::format_duration;
use crate::terminal::{sanitize_line, sanitize_text};

/// The heading of a section.
pub(crate) fn section_heading(topic: SectionTopic, state: RunState) -> &'static str {
    match topic {
        SectionTopic::Ending => match state {
            RunState::WaitingOnHuman | RunState::WaitingOnProvider | RunState::Queued => {
                "What it is waiting for"
            }
            RunState::Running => "What it is doing",
            RunState::Completed | RunState::Failed | RunState::Cancelled | RunState::TimedOut => {
                "Why it stopped"
            }
        },
        SectionTopic::Limits => "What was used",
        SectionTopic::Advice => "What to do",
        SectionTopic::Calls => "Failed, denied and delayed calls",
        SectionTopic::SubAgents => "Sub-agents",
        SectionTopic::Context => "Context",
        SectionTopic::Cache => "Prompt cache",
        SectionTopic::Recoveries => "Retries and recoveries",
        SectionTopic::Guards => "Guards",
        SectionTopic::Journal => "Journal",
    }
}

/// The title of the explanation, with the run and its state.
pub(crate) fn run_title(run: &RunId, lane: &LaneId, state: RunState) -> String {
    format!("run {run} of {lane} {}", state_phrase(state))
}

/// The title of a run that completed although something was not done.
pub(crate) fn completed_but(run: &RunId, lane: &LaneId, but: &str) -> String {
    format!("run {run} of {lane} completed, but {but}")
}

/// What the run was asked and what it answered, below the title.
pub(crate) fn task_lines(facts: &RunFacts) -> Vec<String> {
    let line = |name: &str, text: &TextExcerpt| {
        let (text, rest) = (sanitize_text(&text.text), text.omitted_chars);
        let rest = match rest {
            0 => String::new(),
            rest => format!(" … ({} more characters)", group_digits(rest)),
        };
        format!("{name}: {}{rest}", text.replace('\n', "\n  "))
    };
    let prompt = facts.prompt.iter().map(|text| line("prompt", text));
    prompt.chain(facts.answer.iter().map(|text| line("answer", text))).collect()
}

/// What waits behind an active run.
pub(crate) fn waiting_prompts(waiting: &[TextExcerpt]) -> Option<String> {
    let quotes: Vec<String> = waiting
        .iter()
        .map(|text| format!("\u{201c}{}\u{201d}", sanitize_line(&text.text)))
        .collect();
    let verb = if waiting.len() == 1 { "waits" } else { "wait" };
    let count = count_noun(waiting.len() as u64, "prompt");
    (!waiting.is_empty()).then(|| format!("{count} {verb} behind it: {}.", quotes.join(", ")))
}

/// An answer to a question, with what follows from it.
pub(crate) fn possible_answer(word: &str, consequence: &str) -> String {
    format!("`{word}`: {consequence}.")
}

/// What to do before a question about an interrupted call is answered.
pub(crate) const CHECK_FIRST: &str =
    "It may have happened: check the effect of the call first, then answer.";

/// What continuing an interrupted run does with what was in progress.
pub(crate) fn on_resume(call: &str, is_repeatable: bool) -> String {
    match is_repeatable {
        true => format!("On resume it runs {call} again, which does no harm."),
        false => format!(
            "On resume it asks what happened to {call}: it may have happened, so check first. \
             Nothing that was recorded as done runs again."
        ),
    }
}

/// What continuing an interrupted run does with its model call.
pub(crate) const RESUME_ASKS_AGAIN: &str =
    "On resume it calls the model again; nothing that was recorded as done runs again.";

/// The title for a run whose process is gone.
pub(crate) fn interrupted(run: &RunId, lane: &LaneId) -> String {
    format!("run {run} of {lane} is interrupted: no process is working on it")
}

/// The entries that prove a sentence; of many, the first and the last.
pub(crate) fn entry_references(entries: &[Seq]) -> String {
    match entries {
        [] => String::new(),
        [entry] => format!(" [entry {entry}]"),
        [one, two] => format!(" (2 times) [entries {one}, {two}]"),
        [first, .., last] => format!(" {} times. [entries {first} … {last}]", entries.len()),
    }
}

/// The entries that prove a sentence together.
pub(crate) fn entry_range(entries: &[Seq]) -> String {
    match entries {
        [] => String::new(),
        [entry] => format!(" [entry {entry}]"),
        [first, .., last] => format!(" [entries {first} … {last}]"),
    }
}

/// How many sentences are not shown.
pub(crate) fn hidden_sentences(hidden: usize) -> String {
    format!("  … {} before these; --json has all of them", count_noun(hidden as u64, "sentence"))
}

/// Rounds and model calls against their limits.
pub(crate) fn round_usage(used: &RunCounters, settings: &Settings) -> String {
    let limits = &settings.limits;
    // The limit does not count retries of failed calls.
    let retries = match used.retries {
        0 => String::new(),
        1 => " and 1 retry".to_owned(),
        retries => format!(" and {retries} retries"),
    };
    format!(
        "{} of {} with tool calls, {}, {} of {}{retries}, {}",
        used.tool_rounds,
        count_noun(u64::from(limits.tool_rounds), "round"),
        count_noun(u64::from(used.iterations), "iteration"),
        used.model_calls.saturating_sub(used.retries),
        count_noun(u64::from(limits.model_calls), "model call"),
        count_noun(u64::from(used.tool_calls), "tool call"),
    )
}

/// Active time against its limits.
pub(crate) fn time_usage(active_ms: u64, settings: &Settings) -> String {
    let limits = settings.times.map_or_else(
        || "no limit".to_owned(),
        |times| {
            format!(
                "wraps up at {}, hard limit {}",
                format_duration(times.soft_ms),
                format_duration(times.hard_ms)
            )
        },
    );
    format!("{} active ({limits})", format_duration(active_ms))
}

/// Tokens and cost against their budgets.
pub(crate) fn spending(spent: Spending, caps: SpendingCaps, priced: Priced) -> String {
    let money = match priced {
        Priced::Yes => format!(
            "{}{}",
            format_dollars(spent.usd_micros),
            of_cap(caps.usd_micros.map(format_dollars))
        ),
        Priced::No => "price unknown for this model".to_owned(),
    };
    format!(
        "{}{}; {money}",
        count_noun(spent.tokens, "token"),
        of_cap(caps.tokens.map(group_digits))
    )
}

/// The spending of all conversations of the profile, against its budgets.
pub(crate) fn profile_spending(profile: &str, spent: Spending, caps: SpendingCaps) -> String {
    format!(
        "all conversations of the profile {profile}: {}{}; {}{}",
        count_noun(spent.tokens, "token"),
        of_cap(caps.tokens.map(group_digits)),
        format_dollars(spent.usd_micros),
        of_cap(caps.usd_micros.map(format_dollars)),
    )
}

fn of_cap(cap: Option<String>) -> String {
    cap.map_or_else(|| " (no cap)".to_owned(), |cap| format!(" of {cap}"))
}

/// The spending of all runs of the conversation.
pub(crate) fn conversation_spending(spent: Spending, caps: SpendingCaps) -> String {
    format!(
        "the whole conversation: {}{}, {}{}",
        count_noun(spent.tokens, "token"),
        of_cap(caps.tokens.map(group_digits)),
        format_dollars(spent.usd_micros),
        of_cap(caps.usd_micros.map(format_dollars)),
    )
}

/// What a person who takes over should know first, from the journal.
pub(crate) fn journal_sentences(journal: &Journal) -> Vec<String> {
    let handoff = journal.handoff();
    let blockers = journal.open_entries(JournalList::Blockers).map(|text| ("blocker", Some(text)));
    let questions = journal.open_entries(JournalList::OpenQuestions);
    let questions = questions.map(|text| ("open question", Some(text)));
    [
        ("objective", handoff.objective),
        ("state", handoff.state),
        ("next action", handoff.next_action),
    ]
    .into_iter()
    .chain(blockers)
    .chain(questions)
    .filter_map(|(title, text)| Some(format!("{title}: {}", sanitize_line(text?))))
    .collect()
}

/// How many recoveries of the context a run used.
pub(crate) fn recoveries_used(used: u32, limit: u32) -> String {
    format!("{used} of {limit} context recoveries were used in this run.")
}

/// How many recoveries from truncated replies a run used.
pub(crate) fn truncations_used(used: u32, limit: u32) -> String {
    format!("Truncated replies: {used} of {limit} consecutive recoveries were used.")
}
