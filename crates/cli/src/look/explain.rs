//! Why a run stopped or waits, and everything that had a part in it, in sentences with the entries
//! that prove them.

mod calls;
mod ending;
mod guards;
mod limits;
mod models;
mod room;
mod words;

use serde::Serialize;
use windlass::StopCause;
use windlass::core::budget::Spent;
use windlass::core::conversation::{Conversation, Ended};
use windlass::core::ids::{LaneId, RunId, Seq};
use windlass::core::project::active_state;
use windlass::core::record::Record;
use windlass::core::run::Run;
use windlass::core::stop::RunState;
use windlass::ports::LaneInfo;

use super::estimate::charged_unmeasured;
use super::paper::{Ink, Paper};
use super::story::{Moment, Story};
use super::waiting::Need;
use crate::present::QuestionView;

/// Sentences of a section that are shown; programs get all of them.
const MOST_SENTENCES: usize = 30;

/// A sentence and where it can be looked up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Sentence {
    text: String,
    entries: Vec<Seq>,
}

/// What a section is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Topic {
    Ending,
    Limits,
    Calls,
    Context,
    Recoveries,
    Guards,
    Journal,
}

/// Sentences about one thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Section {
    about: Topic,
    sentences: Vec<Sentence>,
}

/// What can be said about a run.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Account {
    conversation: LaneId,
    run: RunId,
    state: RunState,
    /// Why it ended.
    cause: Option<StopCause>,
    /// What it asks, for programs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    questions: Vec<QuestionView>,
    sections: Vec<Section>,
    /// Whether its process is gone, so that it is not at work whatever its state says.
    #[serde(skip)]
    is_interrupted: bool,
}

/// Who drives the conversation, as far as the store knows.
#[derive(Clone, Copy, Default)]
pub(crate) struct Driver<'a> {
    /// Its row.
    pub(crate) lane: Option<&'a LaneInfo>,
    /// What has to be there before a process goes on with the run.
    pub(crate) need: Option<&'a Need>,
}

/// A run as the log leaves it.
struct Past<'a> {
    lane: &'a LaneId,
    driver: Driver<'a>,
    run: &'a RunId,
    /// How things stood just before it ended.
    before: Conversation,
    /// How things stand, or stood when it ended.
    at_end: Conversation,
    /// The entry it ended with.
    ended_in: Option<Seq>,
    /// The last entry that belongs to it.
    last: Seq,
    /// The most replies that were cut in a row.
    cut_in_a_row: u32,
    /// What was charged for calls that never said what they used.
    estimated: Spent,
}

impl Past<'_> {
    /// How it ended.
    fn ended(&self) -> Option<&Ended> {
        self.at_end.last_end.as_ref().filter(|ended| ended.run == *self.run)
    }

    fn state(&self) -> RunState {
        match (self.ended(), &self.at_end.run) {
            (Some(ended), _) => ended.cause.state(ended.has_text()),
            (None, Some(run)) if run.id != *self.run => RunState::Queued,
            (None, None) => RunState::Queued,
            (None, Some(_)) => active_state(&self.at_end),
        }
    }
}

/// Explains a run of a story.
pub(crate) fn explain(story: &Story, run: &RunId, driver: Driver<'_>) -> Account {
    let (mut calls, mut room, mut models, mut guards) = Default::default();
    let mut past = Past {
        lane: &story.lane,
        driver,
        run,
        before: story.now.clone(),
        at_end: story.now.clone(),
        ended_in: None,
        last: 0,
        cut_in_a_row: 0,
        estimated: Spent::default(),
    };
    story.walk(|moment| {
        if moment.run() == Some(run) {
            keep(&mut past, moment);
            calls::hear(&mut calls, moment);
            room::hear(&mut room, moment);
            models::hear(&mut models, moment);
            guards::hear(&mut guards, moment);
        }
    });
    let sections = [
        (Topic::Ending, ending::sentences(&past)),
        (Topic::Limits, limits::sentences(&past)),
        (Topic::Calls, calls),
        (Topic::Context, room::with_state(room, &past)),
        (Topic::Recoveries, models::with_count(models, &past)),
        (Topic::Guards, guards),
        (Topic::Journal, words::journal(&past.at_end.journal)),
    ];
    let spoken = sections.into_iter().filter(|(_, sentences)| !sentences.is_empty());
    let sections = spoken.map(|(about, sentences)| Section { about, sentences }).collect();
    let asks = past.at_end.run.iter().filter(|active| active.id == *run).flat_map(Run::questions);
    let questions = asks.map(|question| QuestionView::new(question, &past.at_end)).collect();
    let (state, cause) = (past.state(), past.ended().map(|ended| ended.cause));
    let (conversation, run) = (story.lane.clone(), run.clone());
    let is_interrupted = driver.need.is_some() && is_at_work(state);
    Account { conversation, run, state, cause, questions, sections, is_interrupted }
}

/// Whether a run in this state is one that a process should work on.
fn is_at_work(state: RunState) -> bool {
    matches!(state, RunState::Running | RunState::WaitingOnProvider)
}

/// What to do after a run that ended so.
pub(crate) fn next_step(cause: StopCause, lane: &LaneId) -> String {
    words::next_step(cause, lane)
}

/// How a run stands, in a few sentences.
pub(crate) fn standing(story: &Story, run: &RunId) -> Vec<String> {
    let account = explain(story, run, Driver::default());
    let title = words::title(&account.run, &account.conversation, account.state);
    let wanted = |about: Topic| matches!(about, Topic::Ending | Topic::Limits);
    let sections = account.sections.into_iter().filter(|section| wanted(section.about));
    let said = sections.flat_map(|section| section.sentences).map(|said| said.text);
    std::iter::once(title).chain(said).collect()
}

/// Keeps how things stood at the end of the run.
fn keep(past: &mut Past<'_>, moment: Moment<'_>) {
    past.last = moment.entry.seq;
    if let Some(run) = &moment.now.run {
        past.cut_in_a_row = past.cut_in_a_row.max(run.counters.truncations);
    }
    past.estimated.plus(&charged_unmeasured(moment));
    if matches!(moment.record, Record::Finished { .. }) {
        past.before = moment.before.clone();
        past.at_end = moment.now.clone();
        past.ended_in = Some(moment.entry.seq);
    }
}

impl Sentence {
    fn new(text: impl Into<String>, entry: Seq) -> Self {
        Self { text: text.into(), entries: vec![entry] }
    }

    /// Says it, or that it happened once more.
    fn add(said: &mut Vec<Self>, text: Option<String>, entry: Seq) {
        match (text, said.last_mut()) {
            (Some(text), Some(last)) if last.text == text => last.entries.push(entry),
            (Some(text), _) => said.push(Self::new(text, entry)),
            (None, _) => {}
        }
    }

    /// One that needs no proof beyond the state itself.
    fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), entries: Vec::new() }
    }

    fn line(&self, paper: Paper) -> String {
        paper.wrap(&format!("{}{}", self.text, words::proof(&self.entries)), 2)
    }
}

impl Account {
    /// As text.
    pub(crate) fn lines(&self, paper: Paper) -> Vec<String> {
        let title = match self.is_interrupted {
            true => words::interrupted(&self.run, &self.conversation),
            false => words::title(&self.run, &self.conversation, self.state),
        };
        let mut lines = vec![paper.ink(Ink::Strong, &title)];
        for section in &self.sections {
            lines.push(String::new());
            let heading = match (self.is_interrupted, section.about) {
                (true, Topic::Ending) => "What it was doing",
                (_, about) => words::heading(about, self.state),
            };
            lines.push(paper.ink(Ink::Strong, heading));
            let hidden = section.sentences.len().saturating_sub(MOST_SENTENCES);
            if hidden > 0 {
                lines.push(words::earlier(hidden));
            }
            lines.extend(section.sentences.iter().skip(hidden).map(|said| said.line(paper)));
        }
        lines
    }
}
