//! Accepts prompts: durable before the answer, and once for each idempotency key.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use windlass::core::log::ids::{LaneId, RunId, UnixMillis};
use windlass::core::message::content_block::ContentBlock;
use windlass::core::settings::run_settings::RunSettings;
use windlass::{PromptAcceptance, PromptDelivery, Session};

use crate::body::ApiBody;
use crate::caller::Caller;
use crate::deferred_prompts::DeferredPrompt;
use crate::documents::Stored;
use crate::json::ApiJson;
use crate::lookup;
use crate::problem::{Problem, ProblemCode};
use crate::router::ApiState;
use crate::run_labels::RunLabels;
use crate::run_options::RunOptions;
use crate::time::{now, parse_time};
use crate::{deferred_prompts, files};

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
    /// Files that go with the prompt, by their ids.
    #[serde(default)]
    files: Vec<String>,
    /// Tags of its run, by which runs are listed.
    #[serde(default)]
    tags: Vec<String>,
    /// Fields of the sender's choice, shown with its run.
    #[serde(default)]
    metadata: BTreeMap<String, String>,
    /// When the prompt is delivered, in ISO 8601; at once if not given.
    #[serde(default)]
    deliver_at: Option<String>,
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
    /// Files that go with the prompt, by their ids.
    #[serde(default)]
    files: Vec<String>,
    /// Tags of its run; not with `steer`.
    #[serde(default)]
    tags: Vec<String>,
    /// Fields of the sender's choice; not with `steer`.
    #[serde(default)]
    metadata: BTreeMap<String, String>,
    /// When the prompt is delivered, in ISO 8601; not with `steer`.
    #[serde(default)]
    deliver_at: Option<String>,
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
    caller: Caller,
    headers: HeaderMap,
    ApiBody(body): ApiBody<NewConversation>,
) -> Result<Response, Problem> {
    let tenant = caller.tenant_of_new();
    let ids = PromptIds::for_new_conversation(&tenant, idempotency_key(&headers)?);
    let session = state.windlass.session(ids.lane);
    let prompt = PromptToAccept {
        tenant,
        text: body.prompt,
        delivery: Delivery::Queue,
        options: body.options,
        files: body.files,
        labels: RunLabels { tags: body.tags, metadata: body.metadata },
        deliver_at: body.deliver_at,
    };
    prompt.accept(&state, &session, &ids.run).await
}

/// `POST /v1/conversations/{conversation_id}/prompts`.
pub(crate) async fn add_prompt(
    State(state): State<ApiState>,
    caller: Caller,
    Path(id): Path<String>,
    headers: HeaderMap,
    ApiBody(body): ApiBody<NewPrompt>,
) -> Result<Response, Problem> {
    let found = lookup::find_conversation(&state, &caller, &id).await?;
    let run = prompt_run(found.lane.as_str(), idempotency_key(&headers)?);
    let session = state.windlass.session(found.lane);
    let prompt = PromptToAccept {
        tenant: found.affinity.tenant,
        text: body.prompt,
        delivery: body.delivery,
        options: body.options,
        files: body.files,
        labels: RunLabels { tags: body.tags, metadata: body.metadata },
        deliver_at: body.deliver_at,
    };
    prompt.accept(&state, &session, &run).await
}

struct PromptToAccept {
    tenant: Arc<str>,
    text: String,
    delivery: Delivery,
    options: RunOptions,
    files: Vec<String>,
    labels: RunLabels,
    deliver_at: Option<String>,
}

impl PromptToAccept {
    async fn accept(
        self,
        state: &ApiState,
        session: &Session,
        run: &RunId,
    ) -> Result<Response, Problem> {
        self.check()?;
        let store = state.windlass.store();
        let deliver_at = self.deliver_at.as_deref().map(|at| parse_time("deliver_at", at));
        let deliver_at = deliver_at.transpose()?;
        let settings = state.presenter.resolve_options(&self.options).map_err(Problem::invalid)?;
        let blocks = files::prompt_blocks(store, &self.tenant, &self.text, &self.files).await?;
        // Labels come first: a prompt that is accepted has them, whatever happens in between.
        self.labels.store(store, &self.tenant, run).await?;
        let accepted = match deliver_at.filter(|at| *at > now()) {
            Some(at) => self.defer(state, session, run, (blocks, settings, at)).await?,
            None => {
                let delivery = match self.delivery {
                    Delivery::Steer => PromptDelivery::Steer,
                    Delivery::Queue => PromptDelivery::Queue { settings: settings.map(Box::new) },
                };
                let accepting =
                    state.windlass.accept_prompt_of(&self.tenant, session, run, blocks, delivery);
                Box::pin(accepting).await?
            }
        };
        match accepted {
            PromptAcceptance::Accepted => {
                state.metrics.count_prompt();
                Ok(accepted_response(session.lane(), run))
            }
            PromptAcceptance::IdInUse => Err(Problem::new(
                ProblemCode::IdempotencyKeyReused,
                "another prompt was accepted with this Idempotency-Key; use a new key for it",
            )),
        }
    }

    fn check(&self) -> Result<(), Problem> {
        if self.text.trim().is_empty() {
            return Err(Problem::invalid("`prompt` is empty; give the text of the prompt"));
        }
        self.labels.check()?;
        let is_plain = self.options == RunOptions::default()
            && self.labels.is_empty()
            && self.deliver_at.is_none();
        match self.delivery {
            Delivery::Steer if !is_plain => Err(Problem::invalid(
                "`options`, `tags`, `metadata` and `deliver_at` belong to a run, and `steer` \
                 starts none; leave them out",
            )),
            Delivery::Steer | Delivery::Queue => Ok(()),
        }
    }

    /// Keeps the prompt until its time.
    async fn defer(
        &self,
        state: &ApiState,
        session: &Session,
        run: &RunId,
        (blocks, settings, at): (Vec<ContentBlock>, Option<RunSettings>, UnixMillis),
    ) -> Result<PromptAcceptance, Problem> {
        let store = state.windlass.store();
        session.register_for_tenant(&self.tenant).await?;
        // The same request may come again after the prompt was delivered.
        if state.windlass.find_run(run).await?.is_some() {
            return Ok(PromptAcceptance::Accepted);
        }
        let lane = session.lane().to_string();
        let body = DeferredPrompt { lane, blocks, settings, at_ms: now().0 };
        let prompt = Stored::new(run.as_str(), self.tenant.clone(), body).due(at);
        if prompt.insert(store).await? {
            return Ok(PromptAcceptance::Accepted);
        }
        let known = deferred_prompts::find_deferred(&state.windlass, run.as_str()).await?;
        let is_same = known.is_none_or(|known| {
            known.due_at == prompt.due_at
                && known.body.blocks == prompt.body.blocks
                && known.body.settings == prompt.body.settings
        });
        Ok(if is_same { PromptAcceptance::Accepted } else { PromptAcceptance::IdInUse })
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
    fn for_new_conversation(tenant: &str, key: Option<&str>) -> Self {
        let id = match key {
            None => uuid::Uuid::now_v7().to_string(),
            // Tenants choose their keys without knowing of each other.
            Some(key) => RunId::from_name(&format!("api conversation {tenant} {key}")).to_string(),
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
