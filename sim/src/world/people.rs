//! People: they answer late, twice, in the wrong words, about questions long settled, or never.

use std::sync::Arc;

use tokio::sync::mpsc;
use windlass_core::ids::LaneId;
use windlass_core::mail::{Answer, MailBody};
use windlass_core::question::{About, Question};
use windlass_runtime::ports::{Letter, Store};

use super::clock::nap;
use super::dice::Dice;
use super::shared::{Asked, Shared};
use super::store::ProcessStore;

/// Tries to deliver one letter this often.
const TRIES: u32 = 4;

/// Sends mail from outside every process.
#[derive(Clone)]
pub(crate) struct Post {
    pub(crate) store: Arc<ProcessStore>,
}

impl Post {
    /// Delivers until it is accepted; the same key makes that harmless.
    pub(crate) async fn deliver(&self, lane: LaneId, key: String, body: MailBody) {
        let letter = Letter { key: key.into(), body };
        for _ in 0..TRIES {
            if self.store.deliver(lane.clone(), letter.clone()).await.is_ok() {
                return;
            }
        }
    }

    pub(crate) async fn answer(&self, lane: LaneId, question: u32, answer: Answer, key: String) {
        self.deliver(lane, key, MailBody::Answer { question, answer }).await;
    }
}

/// Answers whatever is put on the desk while the world is wild.
pub(crate) async fn sit_at_desk(
    shared: Arc<Shared>,
    post: Post,
    mut questions: mpsc::UnboundedReceiver<Asked>,
) {
    let mut nth = 0;
    while let Some(Asked { lane, question }) = questions.recv().await {
        nth += 1;
        let subject = format!("answer {lane} {} {nth}", question.id);
        let dice = Dice::about(shared.plan.seed, &subject);
        if !shared.is_calm() && nth < 40 {
            tokio::spawn(consider(
                Arc::clone(&shared),
                post.clone(),
                lane,
                question,
                dice,
                subject,
            ));
        }
    }
}

async fn consider(
    shared: Arc<Shared>,
    post: Post,
    lane: LaneId,
    question: Question,
    mut dice: Dice,
    key: String,
) {
    let mood = shared.plan.people;
    if dice.chance(mood.silent_percent) {
        return;
    }
    nap(dice.below(mood.slowest_ms)).await;
    if dice.chance(mood.wrong_percent) {
        let wrong =
            dice.pick(&[Word::Allow, Word::Retry, Word::Continue, Word::Text]).answer(&lane);
        post.answer(lane.clone(), question.id, wrong, format!("{key} wrong")).await;
    }
    let answer = sensible(&question.about, &lane, &mut dice);
    post.answer(lane.clone(), question.id, answer.clone(), key.clone()).await;
    if dice.chance(30) {
        // The same letter once more, and the same answer in another letter.
        post.answer(lane.clone(), question.id, answer.clone(), key.clone()).await;
        post.answer(lane, question.id, answer, format!("{key} again")).await;
    }
}

#[derive(Debug, Clone, Copy, Default)]
enum Word {
    #[default]
    Allow,
    Deny,
    Retry,
    MarkDone,
    Abandon,
    Continue,
    Text,
}

impl Word {
    fn answer(self, lane: &LaneId) -> Answer {
        let text = lane.as_str().replace("conversation:", "");
        match self {
            Self::Allow => Answer::allow(),
            Self::Deny => Answer::Deny { reason: format!("{text}- no").into() },
            Self::Retry => Answer::Retry {},
            Self::MarkDone => Answer::MarkDone { text: format!("{text}- did it").into() },
            Self::Abandon => Answer::Abandon {},
            Self::Continue => Answer::Continue {},
            Self::Text => Answer::Text { text: format!("{text}- yes 🙂").into() },
        }
    }
}

/// An answer the question takes.
pub(crate) fn sensible(about: &About, lane: &LaneId, dice: &mut Dice) -> Answer {
    let word = match about {
        About::Approval { .. } => dice.pick(&[Word::Allow, Word::Allow, Word::Deny]),
        About::Uncertain { .. } => dice.pick(&[Word::Retry, Word::MarkDone, Word::Abandon]),
        About::Asking { .. } => dice.pick(&[Word::Text, Word::Text, Word::Deny]),
        About::Plan { .. } => dice.pick(&[Word::Allow, Word::Continue, Word::Deny]),
        About::Guidance { .. } => dice.pick(&[Word::Text, Word::Continue, Word::Abandon]),
        About::Budget { .. } => dice.pick(&[Word::Continue, Word::Abandon, Word::Abandon]),
        About::Drift { .. } => dice.pick(&[Word::Continue, Word::Continue, Word::Abandon]),
    };
    word.answer(lane)
}
