//! `windlass answer`: the human's part, and then the run goes on.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::bail;
use windlass::Answer;
use windlass::core::ids::QuestionId;
use windlass::core::mail::MailBody;
use windlass::core::question::{About, Question};
use windlass::core::run::Run;

use crate::args::{AgentArgs, AnswerWord};
use crate::commands::approve::show_question;
use crate::commands::sending::{Left, Sending, Then};
use crate::look::story::Story;
use crate::look::{acts, find};
use crate::present::resolve_text;
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
    let answer = for_question(&story, question, answer, agent)?;
    let left = Left::answer(&lane, question);
    let mail = Some(MailBody::Answer { question, answer });
    Sending { lane, mail, left, asks: Asks::Model }.send(store, agent, then).await
}

/// The answer as it is sent: an approval counts for the input that is shown here, and numbers are
/// the choices they stand for. What cannot be the answer to an open question is told before anything
/// is sent.
fn for_question(
    story: &Story,
    id: QuestionId,
    answer: Answer,
    agent: &AgentArgs,
) -> anyhow::Result<Answer> {
    let open: Vec<&Question> = story.now.run.iter().flat_map(Run::questions).collect();
    let question = match open.iter().find(|question| question.id == id) {
        Some(question) if question.about.takes(&answer) => question,
        Some(question) => bail!(acts::takes_others(&story.lane, question)),
        None => bail!(acts::not_open(&story.lane, id, &open)),
    };
    match (&question.about, answer) {
        (About::Approval { call }, answer @ Answer::Allow { .. }) => {
            show_question(&question.about, &story.now, agent)?;
            Ok(match story.now.input_hash(*call) {
                Some(hash) => answer.for_input(&hash),
                None => answer,
            })
        }
        (About::Asking { call }, Answer::Text { text }) => {
            let round = story.now.run.as_ref().and_then(Run::round);
            let asked = round.and_then(|round| round.call(*call));
            let text = match asked {
                Some(call) => {
                    resolve_text(&call.tool_use.input, &text).map_err(anyhow::Error::msg)?.into()
                }
                None => text,
            };
            Ok(Answer::Text { text })
        }
        (_, answer) => Ok(answer),
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
