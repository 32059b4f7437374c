//! A run that waits for a person: the questions, whoever asks them, and how they are answered.

use serde_json::Value;
use windlass::core::log::ids::{LaneId, RunId};
use windlass::{RunOutcome, Session};

use crate::inspect::open_questions::{OpenQuestion, find_open_questions};
use crate::messages::{self, QuestionView};
use crate::setup::RunSetup;

/// What a person has to answer before a run can end.
#[derive(Default)]
pub(super) struct ParkedRun {
    pub(super) questions: Vec<OpenQuestion>,
    /// Whether the run is queued, and the questions are those of the run before it.
    is_queued: bool,
}

impl ParkedRun {
    /// Reads the questions that are open, if the run is parked.
    pub(super) async fn read(
        end: &RunOutcome,
        own: Option<&RunId>,
        (session, setup): (&Session, &RunSetup),
    ) -> anyhow::Result<Self> {
        if !matches!(end, RunOutcome::Parked(_)) {
            return Ok(Self::default());
        }
        let store = setup.store.as_ref();
        let questions = find_open_questions(store, session.lane()).await?;
        let active =
            store.lane_info(session.lane().clone()).await?.and_then(|lane| lane.active_run);
        let is_queued = own.is_some_and(|own| active.is_some_and(|active| active != *own));
        Ok(Self { questions, is_queued })
    }

    /// What is asked and how to answer it, one text per question.
    pub(super) fn texts(&self) -> Vec<String> {
        let queued = self.is_queued.then(|| messages::QUEUED_BEHIND_QUESTION.to_owned());
        queued.into_iter().chain(self.questions.iter().map(OpenQuestion::with_answers)).collect()
    }

    /// The questions for programs. That of a sub-agent names its conversation.
    pub(super) fn views(&self, lane: &LaneId) -> serde_json::Result<Value> {
        let view = |open: &OpenQuestion| match open.lane == *lane {
            true => QuestionView::new(&open.question, &open.conversation),
            false => QuestionView::new(&open.question, &open.conversation)
                .of_conversation(open.lane.clone()),
        };
        serde_json::to_value(self.questions.iter().map(view).collect::<Vec<_>>())
    }
}
