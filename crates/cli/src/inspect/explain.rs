//! `windlass explain`: why a run stopped or what it waits for, in sentences with the log entries
//! that prove them.

mod denial_sources;
mod fact_sentences;
mod recovery_state;
mod run_state;
mod run_usage;

pub(crate) use denial_sources::add_denial_sources;

use serde::Serialize;
use windlass::StopCause;
use windlass::core::budget::spending::Spending;
use windlass::core::log::ids::{LaneId, RunId, Seq};
use windlass::core::log::record::Record;
use windlass::core::projection::active_state;
use windlass::core::run::active_run::Run;
use windlass::core::run::conversation::{Conversation, RunEnd};
use windlass::core::stop::RunState;
use windlass::messages::RunFacts;
use windlass::ports::LaneInfo;

use super::estimate::charged_unmeasured;
use super::history::{ConversationHistory, RecordContext};
use super::worker_status::Need;
use crate::messages::{
    MessageStyle, QuestionView, RecordMessage, SectionTopic, record_message, report,
};
use crate::terminal::{Color, OutputStyle};

/// Maximum number of sentences printed per section; JSON output has all of them.
const MAX_SENTENCES: usize = 30;

/// A sentence with the entries that prove it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ExplainSentence {
    text: String,
    entries: Vec<Seq>,
    /// Whether the sentence stands for several equal events, one per entry.
    #[serde(skip)]
    is_folded: bool,
}

/// The sentences about one topic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct ExplainSection {
    topic: SectionTopic,
    sentences: Vec<ExplainSentence>,
}

/// The explanation of one run.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct RunExplanation {
    conversation: LaneId,
    run: RunId,
    state: RunState,
    /// The stop cause of the run.
    cause: Option<StopCause>,
    /// What is true now, in one line.
    headline: String,
    /// What to do, the most important first.
    advice: Vec<String>,
    /// What the log says about the run, for programs.
    facts: RunFacts,
    /// The open questions of the run, for JSON output.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    questions: Vec<QuestionView>,
    sections: Vec<ExplainSection>,
    /// Whether the process of the run is gone, so that the run is not in progress whatever its
    /// state says.
    is_interrupted: bool,
}

/// Which process drives the conversation, as far as the store knows.
#[derive(Clone, Copy, Default)]
pub(crate) struct Driver<'a> {
    /// The row of the conversation in the store.
    pub(crate) lane: Option<&'a LaneInfo>,
    /// What is missing before a process continues the run.
    pub(crate) need: Option<&'a Need>,
}

/// Facts about a run collected from its history.
struct RunPast<'a> {
    lane: &'a LaneId,
    driver: Driver<'a>,
    run: &'a RunId,
    /// The state just before the run ended.
    state_before_end: Conversation,
    /// The current state, or the state when the run ended.
    state_at_end: Conversation,
    /// The entry with which the run ended.
    end_entry: Option<Seq>,
    /// The last entry that belongs to the run.
    last_entry: Seq,
    /// The largest number of consecutive truncated replies.
    max_truncations: u32,
    /// What was charged for model calls that never reported their usage.
    estimated_spending: Spending,
}

impl RunPast<'_> {
    /// The end of the run, if it has ended.
    fn run_end(&self) -> Option<&RunEnd> {
        self.state_at_end.last_run_end.as_ref().filter(|ended| ended.run == *self.run)
    }

    fn state(&self) -> RunState {
        match (self.run_end(), &self.state_at_end.run) {
            (Some(ended), _) => ended.cause.run_state(ended.text_presence()),
            (None, Some(run)) if run.id != *self.run => RunState::Queued,
            (None, None) => RunState::Queued,
            (None, Some(_)) => active_state(&self.state_at_end),
        }
    }
}

/// Explains a run of a conversation.
pub(crate) fn explain(
    history: &ConversationHistory,
    run: &RunId,
    driver: Driver<'_>,
    facts: RunFacts,
) -> RunExplanation {
    let mut past = RunPast {
        lane: &history.lane,
        driver,
        run,
        state_before_end: history.conversation.clone(),
        state_at_end: history.conversation.clone(),
        end_entry: None,
        last_entry: 0,
        max_truncations: 0,
        estimated_spending: Spending::default(),
    };
    let mut said = RecordSentences::default();
    history.for_each_record(|moment| {
        if moment.run() == Some(run) {
            observe_state(&mut past, moment);
            said.observe(moment);
        }
    });
    said.add_facts(&facts);
    let journal = report::explain::journal_sentences(&past.state_at_end.journal);
    let advice = run_state::advise(&past, &facts);
    let mut ending = run_state::explain_state(&past);
    ending.extend(fact_sentences::last_error(past.run_end(), &facts));
    let waiting = report::explain::waiting_prompts(&facts.waiting_prompts);
    ending.extend(waiting.map(ExplainSentence::without_proof));
    let context = recovery_state::add_window_state(said.context, &past);
    let sections = [
        (SectionTopic::Ending, ending),
        (SectionTopic::Advice, advice.clone()),
        (SectionTopic::Calls, said.calls),
        (SectionTopic::SubAgents, fact_sentences::sub_agents(&facts)),
        (SectionTopic::Guards, said.guards),
        (SectionTopic::Recoveries, recovery_state::add_truncation_count(said.recoveries, &past)),
        (SectionTopic::Context, fact_sentences::add_pieces(context, &facts)),
        (SectionTopic::Cache, fact_sentences::cache_use(&facts)),
        (SectionTopic::Limits, run_usage::usage_sentences(&past)),
        (SectionTopic::Journal, journal.into_iter().map(ExplainSentence::without_proof).collect()),
    ];
    let spoken = sections.into_iter().filter(|(_, sentences)| !sentences.is_empty());
    let sections = spoken.map(|(topic, sentences)| ExplainSection { topic, sentences }).collect();
    let asks = past
        .state_at_end
        .run
        .iter()
        .filter(|active| active.id == *run)
        .flat_map(Run::open_questions);
    let questions = asks.map(|question| QuestionView::new(question, &past.state_at_end)).collect();
    let (state, cause) = (past.state(), past.run_end().map(|ended| ended.cause));
    let (conversation, run) = (history.lane.clone(), run.clone());
    let advice = advice.into_iter().map(|sentence| sentence.text).collect();
    let needs_answer = matches!(driver.need, Some(Need::Answer(_)));
    let is_interrupted = driver.need.is_some() && !needs_answer && is_at_work(state);
    let state = if needs_answer { RunState::WaitingOnHuman } else { state };
    let headline = headline(&conversation, &run, state, is_interrupted, &facts);
    RunExplanation {
        conversation,
        run,
        state,
        cause,
        headline,
        advice,
        facts,
        questions,
        sections,
        is_interrupted,
    }
}

/// What is true now, in one line.
fn headline(
    lane: &LaneId,
    run: &RunId,
    state: RunState,
    is_interrupted: bool,
    facts: &RunFacts,
) -> String {
    let but = report::explain_facts::unfinished_calls(facts);
    match (is_interrupted, state, but) {
        (true, ..) => report::explain::interrupted(run, lane),
        (false, RunState::Completed, Some(but)) => report::explain::completed_but(run, lane, &but),
        (false, ..) => report::explain::run_title(run, lane, state),
    }
}

/// Returns whether a process should drive a run in this state.
fn is_at_work(state: RunState) -> bool {
    matches!(state, RunState::Running | RunState::WaitingOnProvider)
}

/// The state of a run, in a few sentences.
pub(crate) fn state_summary(
    history: &ConversationHistory,
    run: &RunId,
    driver: Driver<'_>,
) -> Vec<String> {
    let account = explain(history, run, driver, history.run_facts(run));
    let title = account.headline.clone();
    let wanted = |topic: SectionTopic| {
        matches!(topic, SectionTopic::Ending | SectionTopic::Advice | SectionTopic::Limits)
    };
    let sections = account.sections.into_iter().filter(|section| wanted(section.topic));
    let texts = sections.flat_map(|section| section.sentences).map(|sentence| sentence.text);
    std::iter::once(title).chain(texts).collect()
}

/// Records the state before and at the end of the run.
fn observe_state(past: &mut RunPast<'_>, moment: RecordContext<'_>) {
    past.last_entry = moment.entry.seq;
    if let Some(run) = &moment.after.run {
        past.max_truncations = past.max_truncations.max(run.counters.truncations);
    }
    past.estimated_spending.add_spending(&charged_unmeasured(moment));
    if matches!(moment.record, Record::RunFinished { .. }) {
        past.state_before_end = moment.before.clone();
        past.state_at_end = moment.after.clone();
        past.end_entry = Some(moment.entry.seq);
    }
}

/// Sentences about single records, by topic.
#[derive(Default)]
struct RecordSentences {
    calls: Vec<ExplainSentence>,
    context: Vec<ExplainSentence>,
    recoveries: Vec<ExplainSentence>,
    guards: Vec<ExplainSentence>,
}

impl RecordSentences {
    fn observe(&mut self, moment: RecordContext<'_>) {
        let said = record_message(MessageStyle::Explain, &moment.message_context());
        let Some(RecordMessage { topic: Some(topic), text }) = said else { return };
        let section = match topic {
            SectionTopic::Calls => &mut self.calls,
            SectionTopic::Context => &mut self.context,
            SectionTopic::Recoveries => &mut self.recoveries,
            SectionTopic::Guards => &mut self.guards,
            // These sections are about the state of the run, not about single records.
            SectionTopic::Ending
            | SectionTopic::Advice
            | SectionTopic::Limits
            | SectionTopic::SubAgents
            | SectionTopic::Cache
            | SectionTopic::Journal => return,
        };
        match topic {
            SectionTopic::Recoveries => {
                ExplainSentence::push_or_fold(section, text, moment.entry.seq);
            }
            _ => ExplainSentence::push_or_repeat(section, text, moment.entry.seq),
        }
    }

    /// Adds what only shows when the calls and attempts of the run are seen together.
    fn add_facts(&mut self, facts: &RunFacts) {
        for call in &facts.failed_calls {
            let said = report::explain_facts::failed_call(call).into_iter();
            let sentence = |text| ExplainSentence {
                is_folded: true,
                ..ExplainSentence::with_proof(text, &call.entries)
            };
            self.calls.extend(said.map(sentence));
        }
        if let Some(call) = &facts.repeated_call {
            let text = report::explain_facts::repeated_call(call);
            self.guards.push(ExplainSentence::with_proof(text, &call.entries));
        }
        for cut in &facts.cut_calls {
            let text = report::explain_facts::cut_call(cut);
            ExplainSentence::push_or_repeat(&mut self.recoveries, text, cut.entry);
        }
        let lost = &facts.lost_attempts;
        let text = report::explain_facts::lost_attempts(lost);
        self.recoveries.extend(text.map(|text| ExplainSentence::with_proof(text, &lost.entries)));
    }
}

impl ExplainSentence {
    fn new(text: impl Into<String>, entry: Seq) -> Self {
        Self { text: text.into(), entries: vec![entry], is_folded: true }
    }

    /// Adds the sentence, or one more entry to the same sentence.
    fn push_or_repeat(sentences: &mut Vec<Self>, text: String, entry: Seq) {
        match sentences.last_mut() {
            Some(last) if last.text == text => last.entries.push(entry),
            Some(_) | None => sentences.push(Self::new(text, entry)),
        }
    }

    /// A sentence that these entries prove together.
    fn with_proof(text: impl Into<String>, entries: &[Seq]) -> Self {
        Self { text: text.into(), entries: entries.to_vec(), is_folded: false }
    }

    /// Adds the sentence. If one that differs in numbers and times only is there, that one gets the
    /// entry and the newest text: a provider that fails a hundred times is one line.
    fn push_or_fold(sentences: &mut Vec<Self>, text: String, entry: Seq) {
        let shape = |text: &str| text.replace(|letter: char| letter.is_ascii_digit(), "");
        let wanted = shape(&text);
        match sentences.iter_mut().find(|sentence| shape(&sentence.text) == wanted) {
            Some(same) => {
                same.text = text;
                same.entries.push(entry);
            }
            None => sentences.push(Self::new(text, entry)),
        }
    }

    /// A sentence that needs no entries as proof: it is about the current state.
    pub(crate) fn without_proof(text: impl Into<String>) -> Self {
        Self { text: text.into(), entries: Vec::new(), is_folded: false }
    }

    fn to_line(&self, style: OutputStyle) -> String {
        let entries = match self.is_folded {
            true => report::explain::entry_references(&self.entries),
            false => report::explain::entry_range(&self.entries),
        };
        style.wrap(&format!("{}{entries}", self.text), 2)
    }
}

impl RunExplanation {
    /// Renders the explanation as lines of text.
    pub(crate) fn to_lines(&self, style: OutputStyle) -> Vec<String> {
        let mut lines = vec![style.wrap(&style.paint(Color::Bold, &self.headline), 0)];
        let task = report::explain::task_lines(&self.facts);
        lines.extend(task.iter().map(|line| style.wrap(line, 2)));
        for section in &self.sections {
            lines.push(String::new());
            let heading = match (self.is_interrupted, section.topic) {
                (true, SectionTopic::Ending) => "What it was doing",
                (_, topic) => report::explain::section_heading(topic, self.state),
            };
            lines.push(style.paint(Color::Bold, heading));
            let hidden = section.sentences.len().saturating_sub(MAX_SENTENCES);
            if hidden > 0 {
                lines.push(report::explain::hidden_sentences(hidden));
            }
            lines.extend(section.sentences.iter().skip(hidden).map(|said| said.to_line(style)));
        }
        lines
    }
}
