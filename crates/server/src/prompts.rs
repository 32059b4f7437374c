//! Accepts prompts: durable before the answer, and once for each idempotency key.

use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use windlass::core::log::ids::{LaneId, RunId};
use windlass::core::message::content_block::ContentBlock;
use windlass::{PromptAcceptance, PromptDelivery, Session};

use crate::body::ApiBody;
use crate::json::ApiJson;
use crate::lookup;
use crate::problem::{Problem, ProblemCode};
use crate::router::ApiState;
use crate::run_options::RunOptions;

/// The header with the sender's key.
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The most characters of a key.
const MAX_KEY_CHARS: usize = 255;

/// A prompt that starts a conversation.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewConversation {
    /// The prompt.
    prompt: String,
    /// Settings of its run; what is not given is as the worker is configured.
    #[serde(default)]
    options: RunOptions,
}

/// A further prompt of a conversation.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewPrompt {
    /// The prompt.
    prompt: String,
    /// What happens if a run is active.
    #[serde(default)]
    delivery: Delivery,
    /// Settings of its run; not with `steer`.
    #[serde(default)]
    options: RunOptions,
}

/// What happens to a prompt if a run is active.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Delivery {
    /// It is a run of its own, after those before it.
    #[default]
    Queue,
    /// The active run gets it after its current round.
    Steer,
}

/// A prompt that is durable.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AcceptedPrompt {
    /// The conversation.
    conversation_id: String,
    /// The run of the prompt. A prompt that steers an active run starts none.
    run_id: String,
}

/// `POST /v1/conversations`.
pub(crate) async fn start_conversation(
    State(state): State<ApiState>,
    headers: HeaderMap,
    ApiBody(body): ApiBody<NewConversation>,
) -> Result<Response, Problem> {
    let ids = PromptIds::for_new_conversation(idempotency_key(&headers)?);
    let session = state.windlass.session(ids.lane);
    let prompt =
        PromptToAccept { text: body.prompt, delivery: Delivery::Queue, options: body.options };
    prompt.accept(&state, &session, &ids.run).await
}

/// `POST /v1/conversations/{conversation_id}/prompts`.
pub(crate) async fn add_prompt(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    headers: HeaderMap,
    ApiBody(body): ApiBody<NewPrompt>,
) -> Result<Response, Problem> {
    let lane = lookup::find_conversation(&state, &id).await?.lane;
    let run = prompt_run(lane.as_str(), idempotency_key(&headers)?);
    let session = state.windlass.session(lane);
    let prompt =
        PromptToAccept { text: body.prompt, delivery: body.delivery, options: body.options };
    prompt.accept(&state, &session, &run).await
}

struct PromptToAccept {
    text: String,
    delivery: Delivery,
    options: RunOptions,
}

impl PromptToAccept {
    async fn accept(
        self,
        state: &ApiState,
        session: &Session,
        run: &RunId,
    ) -> Result<Response, Problem> {
        if self.text.trim().is_empty() {
            return Err(Problem::invalid("`prompt` is empty; give the text of the prompt"));
        }
        let delivery = match self.delivery {
            Delivery::Steer if self.options != RunOptions::default() => {
                let detail = "`options` belong to a run, and `steer` starts none; leave them out";
                return Err(Problem::invalid(detail));
            }
            Delivery::Steer => PromptDelivery::Steer,
            Delivery::Queue => {
                let settings = state.presenter.resolve_options(&self.options);
                let settings = settings.map_err(Problem::invalid)?;
                PromptDelivery::Queue { settings: settings.map(Box::new) }
            }
        };
        let blocks = vec![ContentBlock::text(self.text.as_str())];
        let accepted =
            Box::pin(state.windlass.accept_prompt(session, run, blocks, delivery)).await?;
        match accepted {
            PromptAcceptance::Accepted => Ok(accepted_response(session.lane(), run)),
            PromptAcceptance::IdInUse => Err(Problem::new(
                ProblemCode::IdempotencyKeyReused,
                "another prompt was accepted with this Idempotency-Key; use a new key for it",
            )),
        }
    }
}

fn accepted_response(lane: &LaneId, run: &RunId) -> Response {
    let location = format!("/v1/runs/{run}");
    let body = AcceptedPrompt {
        conversation_id: lane.session_id().to_owned(),
        run_id: run.as_str().to_owned(),
    };
    (StatusCode::ACCEPTED, [(header::LOCATION, location)], ApiJson(body)).into_response()
}

/// The ids of a conversation and of its first run.
struct PromptIds {
    lane: LaneId,
    run: RunId,
}

impl PromptIds {
    /// New random ids, or those that follow from the sender's key.
    fn for_new_conversation(key: Option<&str>) -> Self {
        let id = match key {
            None => uuid::Uuid::now_v7().to_string(),
            Some(key) => RunId::from_name(&format!("api conversation {key}")).to_string(),
        };
        let lane = LaneId::from(format!("conversation:{id}"));
        // A key of a later prompt of the conversation is another one.
        let run = prompt_run("", key.map(|_| lane.as_str()));
        Self { lane, run }
    }
}

/// The id of the run of a prompt. The same key gives the same run, so the store's own key for its
/// prompt keeps it from being accepted twice, whichever server gets it.
fn prompt_run(lane: &str, key: Option<&str>) -> RunId {
    match key {
        None => RunId::from(uuid::Uuid::now_v7().to_string()),
        Some(key) => RunId::from_name(&format!("api prompt {lane} {key}")),
    }
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let mut values = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let is_key = |key: &&str| {
        let is_printable = key.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
        !key.is_empty() && key.len() <= MAX_KEY_CHARS && is_printable
    };
    let key = value.to_str().ok().filter(is_key).filter(|_| values.next().is_none());
    key.map(Some).ok_or_else(|| {
        let detail = format!("`Idempotency-Key` takes one text of 1 to {MAX_KEY_CHARS} characters");
        Problem::invalid(detail)
    })
}
