//! `windlass answer`: answers an open question and continues the run.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::bail;
use windlass::HumanAnswer;
use windlass::core::log::ids::QuestionId;
use windlass::core::log::inbox::{AnswerChannel, AnswerSource, InboxCommand};
use windlass::core::run::active_run::Run;
use windlass::core::run::question::{Question, QuestionKind};

use crate::args::{AgentArgs, AnswerArg};
use crate::commands::approve::print_question;
use crate::commands::send_command::{AfterSend, PendingCommand, SentReport};
use crate::inspect::history::ConversationHistory;
use crate::inspect::id_lookup;
use crate::messages::{self, resolve_answer_text};
use crate::setup::{self, ModelNeed};

pub(crate) async fn run(
    (id, question): (&str, QuestionId),
    answer: HumanAnswer,
    agent: &AgentArgs,
    then: AfterSend,
) -> anyhow::Result<ExitCode> {
    let store = setup::open_existing_store(&agent.store).await?;
    let lane =
        id_lookup::find_target(store.as_ref(), Some(id), &agent.permissions.workspace).await?.lane;
    let history = ConversationHistory::load(store.as_ref(), lane.clone()).await?;
    let answer = validate_answer(&history, question, answer, agent)?;
    let report = SentReport::answer(&lane, question);
    let answered_by = Some(AnswerSource::new(AnswerChannel::Command));
    let command = Some(InboxCommand::Answer { question, answer, answered_by });
    PendingCommand { lane, command, report, model_need: ModelNeed::Required }
        .send(store, agent, then)
        .await
}

/// Checks the answer and returns it as it is sent: an approval applies to the input that is shown
/// here, and numbers become the choices they stand for. An answer that fits no open question is an
/// error before anything is sent.
fn validate_answer(
    history: &ConversationHistory,
    id: QuestionId,
    answer: HumanAnswer,
    agent: &AgentArgs,
) -> anyhow::Result<HumanAnswer> {
    let open: Vec<&Question> =
        history.conversation.run.iter().flat_map(Run::open_questions).collect();
    let question = match open.iter().find(|question| question.id == id) {
        Some(question) if question.kind.accepts(&answer) => question,
        Some(question) => bail!(messages::action::answer_not_accepted(&history.lane, question)),
        None => bail!(messages::action::question_not_open(&history.lane, id, &open)),
    };
    match (&question.kind, answer) {
        (QuestionKind::Approval { call }, answer @ HumanAnswer::Allow { .. }) => {
            print_question(&question.kind, &history.conversation, agent)?;
            Ok(match history.conversation.input_hash(*call) {
                Some(hash) => answer.for_input_hash(&hash),
                None => answer,
            })
        }
        (QuestionKind::ModelQuestion { call }, HumanAnswer::Text { text }) => {
            let round = history.conversation.run.as_ref().and_then(Run::round);
            let asked = round.and_then(|round| round.call(*call));
            let text = match asked {
                Some(call) => resolve_answer_text(&call.tool_use.input, &text)
                    .map_err(anyhow::Error::msg)?
                    .into(),
                None => text,
            };
            Ok(HumanAnswer::Text { text })
        }
        (kind, answer) => match kind.find_form_problem(&answer) {
            Some(problem) => bail!(messages::form_problem(&problem)),
            None => Ok(answer),
        },
    }
}

/// Parses the typed answer.
pub(crate) fn parse_answer(word: AnswerArg, text: Option<String>) -> anyhow::Result<HumanAnswer> {
    let words = text.map(Arc::<str>::from);
    Ok(match (word, words) {
        (AnswerArg::Allow, _) => HumanAnswer::allow(),
        (AnswerArg::Retry, _) => HumanAnswer::Retry {},
        (AnswerArg::Abandon, _) => HumanAnswer::Abandon {},
        (AnswerArg::Continue, _) => HumanAnswer::Continue {},
        (AnswerArg::Deny, words) => {
            HumanAnswer::deny(words.unwrap_or_else(|| Arc::from("the user denied the call")))
        }
        (AnswerArg::MarkDone, words) => {
            HumanAnswer::MarkDone { text: words.unwrap_or_else(|| Arc::from("done")) }
        }
        (AnswerArg::Text, Some(text)) => HumanAnswer::Text { text },
        (AnswerArg::Text, None) => bail!("`text` requires the answer as its next argument"),
    })
}
