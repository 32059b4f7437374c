//! Questions of runs, and their answers.

use serde::Deserialize;
use serde_json::{Value, json};
use windlass::core::log::ids::QuestionId;
use windlass::core::log::inbox::{AnswerChannel, AnswerKind, AnswerSource};
use windlass::ports::RunInfo;
use windlass::{AnswerAcceptance, HumanAnswer, OpenQuestion};

use crate::run_tools::{read_arguments, store_problem};
use crate::service::McpService;

/// The most bytes of a text in an answer.
const MAX_TEXT_BYTES: usize = 100_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerQuestion {
    run_id: String,
    question_id: QuestionId,
    answer: AnswerWord,
    text: Option<String>,
    input_hash: Option<String>,
}

/// What is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum AnswerWord {
    Allow,
    Deny,
    Retry,
    MarkDone,
    Abandon,
    Continue,
    Text,
}

impl AnswerWord {
    fn to_answer(self, text: String) -> HumanAnswer {
        match self {
            Self::Allow => HumanAnswer::allow(),
            Self::Deny if text.is_empty() => HumanAnswer::deny("the user denied the call"),
            Self::Deny => HumanAnswer::deny(text),
            Self::Retry => HumanAnswer::Retry {},
            Self::MarkDone if text.is_empty() => HumanAnswer::MarkDone { text: "done".into() },
            Self::MarkDone => HumanAnswer::MarkDone { text: text.into() },
            Self::Abandon => HumanAnswer::Abandon {},
            Self::Continue => HumanAnswer::Continue {},
            Self::Text => HumanAnswer::Text { text: text.into() },
        }
    }
}

impl McpService {
    pub(crate) async fn answer_question(&self, arguments: Value) -> Result<Value, String> {
        let AnswerQuestion { run_id, question_id, answer, text, input_hash } =
            read_arguments(arguments)?;
        let text = text.unwrap_or_default();
        if text.len() > MAX_TEXT_BYTES {
            return Err(format!("`text` may have {MAX_TEXT_BYTES} bytes"));
        }
        if answer == AnswerWord::Text && text.trim().is_empty() {
            return Err("the answer `text` requires the field `text`".to_owned());
        }
        let run = self.find_run(&run_id).await?;
        let closed = || {
            "the question has an answer already, or its run does not wait any more; follow_run \
             lists the open ones"
                .to_owned()
        };
        let open = Box::pin(self.windlass.find_question(&run, question_id)).await;
        let open = open.map_err(store_problem)?.filter(|_| !run.cancel_requested);
        let open = open.ok_or_else(closed)?;
        let source = AnswerSource::new(AnswerChannel::Api);
        let (hash, answer) = (input_hash.as_deref(), answer.to_answer(text));
        let answered = Box::pin(self.windlass.answer_question(&open, hash, answer, source)).await;
        match answered.map_err(store_problem)? {
            AnswerAcceptance::Accepted => {
                Ok(json!({"run_id": run.run.as_str(), "question_id": question_id}))
            }
            AnswerAcceptance::Closed => Err(closed()),
            AnswerAcceptance::CallChanged if hash.is_none() => {
                Err("the question is about a call; \
                 repeat the `input_hash` that was shown with it"
                    .to_owned())
            }
            AnswerAcceptance::CallChanged => {
                Err("the answer is about another call; look at the question again".to_owned())
            }
            AnswerAcceptance::FormNotFilled(problem) => {
                Err(windlass::messages::form_problem(&problem))
            }
            AnswerAcceptance::NotAnAnswer => {
                Err(format!("the question takes {}", answer_names(&open).join(", ")))
            }
        }
    }

    /// The open questions of a run, as the client sees them.
    pub(crate) async fn questions(&self, run: &RunInfo) -> Result<Vec<Value>, String> {
        let open =
            Box::pin(self.windlass.unanswered_questions(run)).await.map_err(store_problem)?;
        Ok(open.iter().map(|open| self.question_view(open)).collect())
    }

    fn question_view(&self, open: &OpenQuestion) -> Value {
        let call = open.tool_use();
        json!({
            "question_id": open.question.id,
            "text": self.presenter.question_text(open),
            "answers": answer_names(open),
            "tool_name": call.map(|call| call.name.to_string()),
            "input": call.map(|call| call.input.read::<Value>().unwrap_or_default()),
            "input_hash": open.input_hash(),
        })
    }
}

fn answer_names(open: &OpenQuestion) -> Vec<&'static str> {
    let name = |kind: &AnswerKind| match kind {
        AnswerKind::Allow => "allow",
        AnswerKind::Deny => "deny",
        AnswerKind::Retry => "retry",
        AnswerKind::MarkDone => "mark_done",
        AnswerKind::Abandon => "abandon",
        AnswerKind::Continue => "continue",
        AnswerKind::Text => "text",
    };
    open.question.kind.accepted_answers().iter().map(name).collect()
}
