//! Questions to humans and their answers.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use windlass::core::call::input_form::{FieldChoice, FieldKind, FormField};
use windlass::core::log::ids::QuestionId;
use windlass::core::log::inbox::{AnswerChannel, AnswerKind, AnswerSource};
use windlass::core::message::content_block::ToolUse;
use windlass::core::run::question::QuestionKind;
use windlass::core::stop::RunState;
use windlass::messages::format_iso_time;
use windlass::{AnswerAcceptance, HumanAnswer, OpenQuestion, RunQuery};

use crate::body::{ApiBody, ApiQuery};
use crate::caller::Caller;
use crate::json::ApiJson;
use crate::lookup;
use crate::problem::{Problem, ProblemCode};
use crate::router::ApiState;
use crate::views::Page;

/// The most runs whose questions are listed.
const MAX_RUNS: usize = 200;

/// The most characters of a text or a reason in an answer.
const MAX_ANSWER_CHARS: usize = 100_000;

/// Which questions are listed.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct QuestionListParameters {
    /// Questions of this run only.
    run_id: Option<String>,
}

/// An open question.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct QuestionView {
    /// The run that waits.
    run_id: String,
    /// The number of the question in its conversation.
    question_id: QuestionId,
    /// The conversation that asks.
    conversation_id: String,
    /// The agent of the run.
    agent: Option<String>,
    /// What it is about: `approval`, `uncertain`, `model_question`, `tool_request`, `plan`, `guidance`,
    /// `budget` or `prompt_changed`.
    kind: &'static str,
    /// The question, in a sentence.
    text: String,
    /// The answers that it takes, each with what follows from it.
    answers: Vec<AnswerChoice>,
    /// The choices that the model offers for a `model_question`, as in its call; the fields of the form
    /// of a `tool_request`, in the same form.
    options: Option<Value>,
    /// The tool of the call that it is about.
    tool_name: Option<String>,
    /// The provider's id of the call.
    tool_use_id: Option<String>,
    /// The arguments of the call, whole and unchanged.
    input: Option<Value>,
    /// The hash of the arguments; the answer repeats it.
    input_hash: Option<String>,
    /// The folder in which a command would start, if it is not the workspace itself.
    folder: Option<String>,
    /// Why a hook requires approval.
    reason: Option<String>,
    /// The plan to approve, in Markdown.
    plan: Option<String>,
    /// What a tool asks for in the middle of a call, as recorded: a form or the address of a page.
    request: Option<Value>,
    /// When the run began to wait, in ISO 8601.
    asked_at: String,
    /// When the question expires, in ISO 8601.
    expires_at: Option<String>,
}

/// An answer that a question takes.
#[derive(Debug, Serialize, JsonSchema)]
struct AnswerChoice {
    /// The word to answer with.
    answer: &'static str,
    /// What follows from it, in a few words.
    consequence: String,
}

/// An answer to a question.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewAnswer {
    /// The answer; the question says which it takes.
    answer: AnswerWord,
    /// The hash of the arguments that were shown, for a question about a call.
    #[serde(default)]
    input_hash: Option<String>,
    /// The text of `text` and of `mark_done`, or the reason of `deny`.
    #[serde(default)]
    text: Option<String>,
}

/// What is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum AnswerWord {
    /// Run the call.
    Allow,
    /// Do not run the call.
    Deny,
    /// The interrupted call did not happen: run it again.
    Retry,
    /// The interrupted call did happen.
    MarkDone,
    /// Leave the interrupted call, or end the run.
    Abandon,
    /// Continue.
    Continue,
    /// A text.
    Text,
}

/// An answer that is durable.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AcceptedAnswer {
    /// The run that continues.
    run_id: String,
    /// The number of the question.
    question_id: QuestionId,
}

impl QuestionView {
    fn new(state: &ApiState, open: &OpenQuestion) -> Self {
        let question = &open.question;
        let call = open.tool_use();
        let plan = match &question.kind {
            QuestionKind::Plan { plan, .. } => Some(plan.to_string()),
            _ => None,
        };
        let request = match &question.kind {
            QuestionKind::ToolRequest { request, .. } => serde_json::to_value(request).ok(),
            _ => None,
        };
        let options = call.and_then(|call| model_options(&question.kind, call));
        Self {
            run_id: open.run.run.to_string(),
            question_id: question.id,
            conversation_id: open.run.lane.session_id().to_owned(),
            agent: open.run.description.agent.as_deref().map(str::to_owned),
            kind: kind_name(&question.kind),
            text: state.presenter.question_text(open),
            answers: answer_choices(state, open),
            options,
            tool_name: call.map(|call| call.name.to_string()),
            tool_use_id: call.map(|call| call.id.to_string()),
            input: call.map(|call| call.input.read().unwrap_or_default()),
            input_hash: open.input_hash(),
            folder: open.folder().map(str::to_owned),
            reason: open.reason().map(str::to_owned),
            plan,
            request,
            asked_at: format_iso_time(open.run.at),
            expires_at: question.expires_at.map(format_iso_time),
        }
    }
}

/// The questions that the model asks with its tool, or the fields of the form of another tool, with
/// their choices.
fn model_options(kind: &QuestionKind, call: &ToolUse) -> Option<Value> {
    match kind {
        QuestionKind::ModelQuestion { .. } => {
            call.input.read::<Value>().ok()?.get_mut("questions").map(Value::take)
        }
        QuestionKind::ToolRequest { request, .. } => {
            request.form().map(|form| form.fields.iter().map(field_options).collect())
        }
        _ => None,
    }
}

/// A field of the form of a tool, in the form of a question: each choice is what to answer.
fn field_options(field: &FormField) -> Value {
    let name = &field.name;
    let choices = match &field.kind {
        FieldKind::OneOf(choices) | FieldKind::SomeOf(choices) => choices.as_slice(),
        FieldKind::Text | FieldKind::Number | FieldKind::Integer | FieldKind::YesNo => &[],
    };
    let option = |choice: &FieldChoice| json!({"label": format!("{name}={}", choice.value), "description": choice.title});
    let need = if field.is_required { "required" } else { "optional" };
    let about = field.description.as_ref().or(field.title.as_ref());
    let about = about.map(|about| format!(": {about}")).unwrap_or_default();
    json!({
        "header": name,
        "question": format!("{name}=… ({need}){about}"),
        "multiSelect": matches!(field.kind, FieldKind::SomeOf(_)),
        "options": choices.iter().map(option).collect::<Vec<_>>(),
    })
}

fn answer_choices(state: &ApiState, open: &OpenQuestion) -> Vec<AnswerChoice> {
    let accepted = open.question.kind.accepted_answers().iter();
    let choice = |kind: &AnswerKind| AnswerChoice {
        answer: answer_name(*kind),
        consequence: state.presenter.answer_consequence(open, *kind),
    };
    accepted.map(choice).collect()
}

fn answer_name(kind: AnswerKind) -> &'static str {
    match kind {
        AnswerKind::Allow => "allow",
        AnswerKind::Deny => "deny",
        AnswerKind::Retry => "retry",
        AnswerKind::MarkDone => "mark_done",
        AnswerKind::Abandon => "abandon",
        AnswerKind::Continue => "continue",
        AnswerKind::Text => "text",
    }
}

fn kind_name(kind: &QuestionKind) -> &'static str {
    match kind {
        QuestionKind::Approval { .. } => "approval",
        QuestionKind::Uncertain { .. } => "uncertain",
        QuestionKind::ModelQuestion { .. } => "model_question",
        QuestionKind::ToolRequest { .. } => "tool_request",
        QuestionKind::Plan { .. } => "plan",
        QuestionKind::Guidance { .. } => "guidance",
        QuestionKind::Budget { .. } => "budget",
        QuestionKind::PromptChanged { .. } => "prompt_changed",
    }
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

/// `GET /v1/questions`.
pub(crate) async fn list_questions(
    State(state): State<ApiState>,
    caller: Caller,
    ApiQuery(given): ApiQuery<QuestionListParameters>,
) -> Result<ApiJson<Page<QuestionView>>, Problem> {
    let open = match &given.run_id {
        Some(id) => {
            let run = lookup::find_run(&state, &caller, id).await?;
            Box::pin(state.windlass.questions_of_run(&run)).await?
        }
        None => open_questions(&state, &caller).await?,
    };
    let data = open.iter().map(|open| QuestionView::new(&state, open)).collect();
    Ok(ApiJson(Page { data, next_cursor: None }))
}

/// The open questions that the caller sees.
async fn open_questions(state: &ApiState, caller: &Caller) -> Result<Vec<OpenQuestion>, Problem> {
    let mut query = RunQuery { states: vec![RunState::WaitingOnHuman], ..RunQuery::default() };
    query.tenant = caller.tenant().map(|tenant| tenant.to_string());
    let mut found = Vec::new();
    for run in Box::pin(state.windlass.list_runs(&query, MAX_RUNS)).await?.runs {
        found.extend(Box::pin(state.windlass.questions_of_run(&run)).await?);
    }
    Ok(found)
}

/// `POST /v1/questions/{run_id}/{question_id}/answer`.
pub(crate) async fn answer_question(
    State(state): State<ApiState>,
    caller: Caller,
    Path((run, number)): Path<(String, String)>,
    ApiBody(body): ApiBody<NewAnswer>,
) -> Result<Response, Problem> {
    let text = check_text(body.answer, body.text.as_deref())?;
    let missing = || Problem::not_found("question");
    let number: QuestionId = number.parse().map_err(|_| missing())?;
    let run = lookup::find_run(&state, &caller, &run).await.map_err(|_| missing())?;
    let open = Box::pin(state.windlass.find_question(&run, number)).await?;
    let open = open.filter(|_| !run.cancel_requested).ok_or_else(closed)?;
    answer_open(&state, &open, body.input_hash.as_deref(), body.answer, text).await?;
    let body = AcceptedAnswer { run_id: run.run.to_string(), question_id: number };
    Ok((StatusCode::ACCEPTED, ApiJson(body)).into_response())
}

fn closed() -> Problem {
    let detail = "the question has an answer already, or its run does not wait any more; list \
                  the open ones";
    Problem::new(ProblemCode::QuestionClosed, detail)
}

async fn answer_open(
    state: &ApiState,
    open: &OpenQuestion,
    hash: Option<&str>,
    word: AnswerWord,
    text: String,
) -> Result<(), Problem> {
    let source = AnswerSource::new(AnswerChannel::Api);
    let answer = word.to_answer(text);
    match Box::pin(state.windlass.answer_question(open, hash, answer, source)).await? {
        AnswerAcceptance::Accepted => Ok(()),
        AnswerAcceptance::Closed => Err(closed()),
        AnswerAcceptance::CallChanged if hash.is_none() => Err(Problem::invalid(
            "the question is about a call; repeat the `input_hash` that was shown with it",
        )),
        AnswerAcceptance::CallChanged => Err(Problem::new(
            ProblemCode::CallChanged,
            "the answer is about another call; look at the question again",
        )),
        AnswerAcceptance::FormNotFilled(problem) => {
            Err(Problem::invalid(windlass::messages::form_problem(&problem)))
        }
        AnswerAcceptance::NotAnAnswer => {
            let accepted = open.question.kind.accepted_answers().iter();
            let words: Vec<&str> = accepted.map(|kind| answer_name(*kind)).collect();
            Err(Problem::invalid(format!("the question takes {}", words.join(", "))))
        }
    }
}

/// An answer to all open questions about the same call.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EqualAnswer {
    /// The tool of the call.
    tool_name: String,
    /// The hash of the arguments that were shown: only questions about exactly these are answered.
    input_hash: String,
    /// The answer.
    answer: AnswerWord,
    /// The text of `mark_done`, or the reason of `deny`.
    #[serde(default)]
    text: Option<String>,
}

/// `POST /v1/questions/answer`: answers several equal questions at once.
pub(crate) async fn answer_equal(
    State(state): State<ApiState>,
    caller: Caller,
    ApiBody(body): ApiBody<EqualAnswer>,
) -> Result<Response, Problem> {
    let text = check_text(body.answer, body.text.as_deref())?;
    let mut answered = Vec::new();
    for open in open_questions(&state, &caller).await? {
        let is_equal = open.tool_use().is_some_and(|call| *call.name == *body.tool_name)
            && open.input_hash().as_deref() == Some(&*body.input_hash)
            && !open.run.cancel_requested;
        if !is_equal {
            continue;
        }
        let hash = Some(&*body.input_hash);
        match answer_open(&state, &open, hash, body.answer, text.clone()).await {
            Ok(()) => answered.push(AcceptedAnswer {
                run_id: open.run.run.to_string(),
                question_id: open.question.id,
            }),
            // Somebody else was faster.
            Err(problem) if problem.code() == ProblemCode::QuestionClosed => {}
            Err(problem) => return Err(problem),
        }
    }
    if answered.is_empty() {
        return Err(closed());
    }
    let page = Page { data: answered, next_cursor: None };
    Ok((StatusCode::ACCEPTED, ApiJson(page)).into_response())
}

fn check_text(word: AnswerWord, given: Option<&str>) -> Result<String, Problem> {
    let text = given.unwrap_or_default().to_owned();
    if text.len() > MAX_ANSWER_CHARS {
        return Err(Problem::invalid(format!("`text` may have {MAX_ANSWER_CHARS} bytes")));
    }
    match word {
        AnswerWord::Text if text.trim().is_empty() => {
            Err(Problem::invalid("`text` requires the answer in the field `text`"))
        }
        AnswerWord::Text | AnswerWord::Deny | AnswerWord::MarkDone => Ok(text),
        AnswerWord::Allow | AnswerWord::Retry | AnswerWord::Abandon | AnswerWord::Continue => {
            match given {
                None => Ok(text),
                Some(_) => Err(Problem::invalid("this answer takes no `text`; leave it out")),
            }
        }
    }
}
