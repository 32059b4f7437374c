//! Simulated users: they answer late, twice, with unaccepted answers, about questions long closed,
//! or never.

use std::sync::Arc;

use tokio::sync::mpsc;
use windlass_core::log::ids::LaneId;
use windlass_core::log::inbox::{HumanAnswer, InboxCommand};
use windlass_core::message::raw_json::RawJson;
use windlass_core::run::question::{Question, QuestionKind};
use windlass_runtime::ports::{OutboxMessage, Store};

use super::clock::sleep_virtual;
use super::seeded_rng::SeededRng;
use super::shared::{SeenQuestion, SharedWorld};
use super::store::ProcessStore;

/// How often the delivery of one command is tried.
const TRIES: u32 = 4;

/// Sends commands from outside every process.
#[derive(Clone)]
pub(crate) struct CommandSender {
    pub(crate) store: Arc<ProcessStore>,
}

impl CommandSender {
    /// Delivers until the command is accepted; the same idempotency key makes that harmless.
    pub(crate) async fn deliver(&self, lane: LaneId, key: String, body: InboxCommand) {
        let letter = OutboxMessage { idempotency_key: key.into(), body };
        for _ in 0..TRIES {
            if self.store.enqueue_message(lane.clone(), letter.clone()).await.is_ok() {
                return;
            }
        }
    }

    pub(crate) async fn answer(
        &self,
        lane: LaneId,
        question: u32,
        answer: HumanAnswer,
        key: String,
    ) {
        self.deliver(lane, key, InboxCommand::answer(question, answer)).await;
    }
}

/// Answers the reported questions during the faulty part of a world.
pub(crate) async fn answer_questions(
    shared: Arc<SharedWorld>,
    post: CommandSender,
    mut questions: mpsc::UnboundedReceiver<SeenQuestion>,
) {
    let mut nth = 0;
    while let Some(SeenQuestion { lane, question }) = questions.recv().await {
        nth += 1;
        let subject = format!("answer {lane} {} {nth}", question.id);
        let rng = SeededRng::about(shared.plan.seed, &subject);
        if !shared.is_calm() && nth < 40 {
            tokio::spawn(consider(Arc::clone(&shared), post.clone(), lane, question, rng, subject));
        }
    }
}

async fn consider(
    shared: Arc<SharedWorld>,
    post: CommandSender,
    lane: LaneId,
    question: Question,
    mut rng: SeededRng,
    key: String,
) {
    let mood = shared.plan.people;
    if rng.chance(mood.silent_percent) {
        return;
    }
    sleep_virtual(rng.below(mood.slowest_ms)).await;
    if rng.chance(mood.wrong_percent) {
        let wrong = rng
            .pick(&[
                AnswerStyle::Allow,
                AnswerStyle::Retry,
                AnswerStyle::Continue,
                AnswerStyle::Text,
            ])
            .answer(&lane);
        post.answer(lane.clone(), question.id, wrong, format!("{key} wrong")).await;
    }
    let answer = sensible(&question.kind, &lane, &mut rng);
    post.answer(lane.clone(), question.id, answer.clone(), key.clone()).await;
    if rng.chance(30) {
        // The same command once more, and the same answer in another command.
        post.answer(lane.clone(), question.id, answer.clone(), key.clone()).await;
        post.answer(lane, question.id, answer, format!("{key} again")).await;
    }
}

#[derive(Debug, Clone, Copy, Default)]
enum AnswerStyle {
    #[default]
    Allow,
    /// Approve with other arguments.
    Change,
    Deny,
    /// Deny, and end the run.
    Interrupt,
    Retry,
    MarkDone,
    Abandon,
    Continue,
    Text,
}

impl AnswerStyle {
    fn answer(self, lane: &LaneId) -> HumanAnswer {
        let text = lane.as_str().replace("conversation:", "");
        match self {
            Self::Allow => HumanAnswer::allow(),
            Self::Change => {
                let input = RawJson::encode(&serde_json::json!({ "on": "b", "changed": true }));
                HumanAnswer::allow().with_changed_input(input)
            }
            Self::Interrupt => HumanAnswer::deny_and_interrupt(format!("{text}- stop")),
            Self::Deny => HumanAnswer::deny(format!("{text}- no")),
            Self::Retry => HumanAnswer::Retry {},
            Self::MarkDone => HumanAnswer::MarkDone { text: format!("{text}- did it").into() },
            Self::Abandon => HumanAnswer::Abandon {},
            Self::Continue => HumanAnswer::Continue {},
            Self::Text => HumanAnswer::Text { text: format!("{text}- yes 🙂").into() },
        }
    }
}

/// Returns an answer that the question accepts.
pub(crate) fn sensible(about: &QuestionKind, lane: &LaneId, rng: &mut SeededRng) -> HumanAnswer {
    let word = match about {
        QuestionKind::Approval { .. } => {
            let (allow, deny) = (AnswerStyle::Allow, AnswerStyle::Deny);
            let others = [AnswerStyle::Change, AnswerStyle::Interrupt];
            if rng.chance(20) { rng.pick(&others) } else { rng.pick(&[allow, allow, deny]) }
        }
        QuestionKind::Uncertain { .. } => {
            rng.pick(&[AnswerStyle::Retry, AnswerStyle::MarkDone, AnswerStyle::Abandon])
        }
        QuestionKind::ModelQuestion { .. } => {
            rng.pick(&[AnswerStyle::Text, AnswerStyle::Text, AnswerStyle::Deny])
        }
        QuestionKind::ToolRequest { .. } => {
            rng.pick(&[AnswerStyle::Continue, AnswerStyle::Continue, AnswerStyle::Deny])
        }
        QuestionKind::Plan { .. } => {
            rng.pick(&[AnswerStyle::Allow, AnswerStyle::Continue, AnswerStyle::Deny])
        }
        QuestionKind::Guidance { .. } => {
            rng.pick(&[AnswerStyle::Text, AnswerStyle::Continue, AnswerStyle::Abandon])
        }
        QuestionKind::Budget { .. } => {
            rng.pick(&[AnswerStyle::Continue, AnswerStyle::Abandon, AnswerStyle::Abandon])
        }
        QuestionKind::PromptChanged { .. } => {
            rng.pick(&[AnswerStyle::Continue, AnswerStyle::Continue, AnswerStyle::Abandon])
        }
    };
    word.answer(lane)
}
