//! The tools that start, cancel and explain runs.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use windlass::core::log::ids::{LaneId, RunId};
use windlass::core::message::content_block::ContentBlock;
use windlass::ports::RunInfo;
use windlass::{PromptAcceptance, PromptDelivery};

use crate::service::McpService;

/// The name under which Windlass and others send the key of a call.
const META_KEY: &str = "windlass/idempotencyKey";

/// The most characters of a key.
const MAX_KEY_CHARS: usize = 255;

/// The most characters of an id.
const MAX_ID_CHARS: usize = 512;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StartRun {
    prompt: String,
    idempotency_key: Option<String>,
    conversation_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CancelRun {
    run_id: String,
    #[serde(default)]
    now: bool,
}

/// The arguments of a tool that is about one run.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OneRun {
    pub(crate) run_id: String,
}

/// Reads the arguments of a tool.
pub(crate) fn read_arguments<T: DeserializeOwned>(arguments: Value) -> Result<T, String> {
    serde_json::from_value(arguments).map_err(|error| format!("the arguments do not fit: {error}"))
}

/// A problem of the store, in a sentence for the caller.
pub(crate) fn store_problem(error: impl std::fmt::Display) -> String {
    format!("the store cannot be used at the moment: {error}; try again")
}

impl McpService {
    pub(crate) async fn start_run(
        &self,
        arguments: Value,
        meta: Option<&Value>,
    ) -> Result<Value, String> {
        let StartRun { prompt, idempotency_key, conversation_id } = read_arguments(arguments)?;
        if prompt.trim().is_empty() {
            return Err("`prompt` is empty; give the text of the prompt".to_owned());
        }
        let of_meta = meta.and_then(|meta| meta.get(META_KEY)).and_then(Value::as_str);
        let key = checked_key(idempotency_key.as_deref().or(of_meta))?;
        let tenant = self.presenter.tenant();
        let lane = match &conversation_id {
            Some(id) => self.find_conversation(id).await?,
            None => {
                // Tenants choose their keys without knowing of each other.
                let id = RunId::from_name(&format!("mcp conversation {tenant} {key}"));
                LaneId::from(format!("conversation:{id}"))
            }
        };
        let run = RunId::from_name(&format!("mcp prompt {} {key}", lane.as_str()));
        let session = self.windlass.session(lane);
        let blocks = vec![ContentBlock::text(prompt.as_str())];
        let queue = PromptDelivery::Queue { settings: None };
        let accepting = self.windlass.accept_prompt_of(&tenant, &session, &run, blocks, queue);
        let accepted = Box::pin(accepting).await;
        match accepted.map_err(store_problem)? {
            PromptAcceptance::Accepted => Ok(json!({
                "run_id": run.as_str(),
                "conversation_id": session.lane().session_id(),
            })),
            PromptAcceptance::IdInUse => Err("another prompt was accepted with this \
                 idempotency_key; use a new key for it"
                .to_owned()),
        }
    }

    pub(crate) async fn cancel_run(&self, arguments: Value) -> Result<Value, String> {
        let CancelRun { run_id, now } = read_arguments(arguments)?;
        let run = self.find_run(&run_id).await?;
        if run.cause.is_some() {
            return Err("the run has ended; there is nothing to cancel".to_owned());
        }
        let session = self.windlass.session(run.lane.clone());
        if now {
            session.abort(Some(run.run.clone())).await.map_err(store_problem)?;
        } else if !run.cancel_requested {
            session.cancel(Some(run.run.clone())).await.map_err(store_problem)?;
        }
        Ok(json!({"run_id": run.run.as_str(), "is_cancel_requested": true}))
    }

    pub(crate) async fn explain_run(&self, arguments: Value) -> Result<Value, String> {
        let run = self.find_run(&read_arguments::<OneRun>(arguments)?.run_id).await?;
        self.presenter.explain(run).await.map_err(store_problem)
    }

    /// Finds the run with this id.
    pub(crate) async fn find_run(&self, id: &str) -> Result<RunInfo, String> {
        let run = RunId::from(id);
        let found = match run.is_uuid() {
            true => self.windlass.find_run(&run).await.map_err(store_problem)?,
            false => None,
        };
        found
            .filter(|run| self.presenter.may_see(run))
            .ok_or_else(|| "there is no run with this id; start_run returns one".to_owned())
    }

    /// Finds the conversation with this id, of which the caller may know a run.
    async fn find_conversation(&self, id: &str) -> Result<LaneId, String> {
        let missing = || "there is no conversation with this id; leave it out".to_owned();
        if id.is_empty() || id.len() > MAX_ID_CHARS || id.chars().any(char::is_control) {
            return Err(missing());
        }
        let lane = LaneId::from(format!("conversation:{id}"));
        let query = windlass::RunQuery { lane: Some(lane.clone()), ..Default::default() };
        let runs = Box::pin(self.windlass.list_runs(&query, 1)).await.map_err(store_problem)?.runs;
        match runs.first().is_some_and(|run| self.presenter.may_see(run)) {
            true => Ok(lane),
            false => Err(missing()),
        }
    }
}

fn checked_key(key: Option<&str>) -> Result<&str, String> {
    let Some(key) = key else {
        return Err(
            "give an `idempotency_key`, so that repeating the call starts no second run".to_owned()
        );
    };
    let is_key =
        (1..=MAX_KEY_CHARS).contains(&key.chars().count()) && !key.chars().any(char::is_control);
    is_key
        .then_some(key)
        .ok_or_else(|| format!("`idempotency_key` is a text of 1 to {MAX_KEY_CHARS} characters"))
}
