//! `windlass answer`: the human's part, and then the run goes on.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::bail;
use windlass::Answer;
use windlass::core::ids::QuestionId;
use windlass::core::mail::MailBody;
use windlass::core::question::Question;
use windlass::core::run::Run;

use crate::args::{AgentArgs, AnswerWord};
use crate::commands::sending::{Left, Sending, Then};
use crate::look::story::Story;
use crate::look::{acts, find};
use crate::setup::{self, Asks};

pub(crate) async fn answer(
    (id, question): (&str, QuestionId),
    answer: Answer,
    agent: &AgentArgs,
    then: Then,
) -> anyhow::Result<ExitCode> {
    let store = setup::existing_store(&agent.store).await?;
    let lane = find::find(store.as_ref(), Some(id), &agent.permissions.workspace).await?.lane;
    let story = Story::read(store.as_ref(), lane.clone()).await?;
    check(&story, question, &answer)?;
    let left = Left::answer(&lane, question);
    let mail = Some(MailBody::Answer { question, answer });
    Sending { lane, mail, left, asks: Asks::Model }.send(store, agent, then).await
}

/// What cannot be the answer to an open question is told before anything is sent.
fn check(story: &Story, id: QuestionId, answer: &Answer) -> anyhow::Result<()> {
    let open: Vec<&Question> = story.now.run.iter().flat_map(Run::questions).collect();
    match open.iter().find(|question| question.id == id) {
        Some(question) if question.about.takes(answer) => Ok(()),
        Some(question) => bail!(acts::takes_others(&story.lane, question)),
        None => bail!(acts::not_open(&story.lane, id, &open)),
    }
}

/// An answer as it is typed.
pub(crate) fn read(word: AnswerWord, text: Option<String>) -> anyhow::Result<Answer> {
    let words = text.map(Arc::<str>::from);
    Ok(match (word, words) {
        (AnswerWord::Allow, _) => Answer::allow(),
        (AnswerWord::Retry, _) => Answer::Retry {},
        (AnswerWord::Abandon, _) => Answer::Abandon {},
        (AnswerWord::Continue, _) => Answer::Continue {},
        (AnswerWord::Deny, words) => {
            Answer::Deny { reason: words.unwrap_or_else(|| Arc::from("the user said no")) }
        }
        (AnswerWord::MarkDone, words) => {
            Answer::MarkDone { text: words.unwrap_or_else(|| Arc::from("done")) }
        }
        (AnswerWord::Text, Some(text)) => Answer::Text { text },
        (AnswerWord::Text, None) => bail!("`text` needs the words of the answer after it"),
    })
}
