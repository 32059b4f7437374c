//! `windlass answer`: the human's part, and then the run goes on.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::bail;
use windlass::Answer;

use crate::args::{AgentArgs, AnswerWord};
use crate::{setup, show};

pub(crate) async fn answer(
    conversation: String,
    question: u32,
    (word, text): (AnswerWord, Option<String>),
    agent: AgentArgs,
) -> anyhow::Result<ExitCode> {
    let answer = read(word, text)?;
    let setup = setup::start(&agent).await?;
    let lane = setup::find(setup.store.as_ref(), &conversation).await?;
    let session = setup.windlass.session(lane);
    session.answer(question, answer).await?;
    let run = session.resume().await?;
    show::watch(run, &session, &setup, &agent).await
}

fn read(word: AnswerWord, text: Option<String>) -> anyhow::Result<Answer> {
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
