//! Scores and notes: what people and programs say about a run.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use windlass::core::log::ids::UnixMillis;
use windlass::messages::format_iso_time;
use windlass::ports::{DocumentFilter, StoreError};

use crate::body::{ApiBody, ApiQuery};
use crate::caller::Caller;
use crate::documents::{self, DocumentBody, Stored};
use crate::json::ApiJson;
use crate::lookup;
use crate::problem::{Problem, ProblemCode};
use crate::router::ApiState;
use crate::time::now;
use crate::views::{ListParameters, Page, document_page};

/// The most scores, and the most notes, of a run.
const MAX_ITEMS: usize = 200;

/// The most characters of the name of a score.
const MAX_NAME_CHARS: usize = 100;

/// The most bytes of a comment or a note.
const MAX_TEXT_BYTES: usize = 10_000;

/// A score to be given.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewScore {
    /// What is scored, such as `correctness`; at most 100 characters.
    name: String,
    /// The value.
    value: f64,
    /// Why.
    #[serde(default)]
    comment: Option<String>,
}

/// A note to be added.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewNote {
    /// The text.
    text: String,
}

/// A score of a run.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ScoreView {
    /// What is scored.
    name: String,
    /// The value.
    value: f64,
    /// Why.
    comment: Option<String>,
    /// The name of the token that gave it.
    by: String,
    /// When it was given, in ISO 8601.
    at: String,
}

/// A note on a run.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct NoteView {
    /// The text.
    text: String,
    /// The name of the token that added it.
    by: String,
    /// When it was added, in ISO 8601.
    at: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct ScoreRecord {
    name: String,
    value: f64,
    comment: Option<String>,
    by: String,
    at_ms: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct NoteRecord {
    text: String,
    by: String,
    at_ms: u64,
}

impl DocumentBody for ScoreRecord {
    const KIND: &'static str = "score";
}

impl DocumentBody for NoteRecord {
    const KIND: &'static str = "note";
}

impl ScoreView {
    fn new(stored: &Stored<ScoreRecord>) -> Self {
        let ScoreRecord { name, value, comment, by, at_ms } = stored.body.clone();
        Self { name, value, comment, by, at: format_iso_time(UnixMillis(at_ms)) }
    }
}

impl NoteView {
    fn new(stored: &Stored<NoteRecord>) -> Self {
        let NoteRecord { text, by, at_ms } = stored.body.clone();
        Self { text, by, at: format_iso_time(UnixMillis(at_ms)) }
    }
}

async fn add<T: DocumentBody>(
    state: &ApiState,
    caller: &Caller,
    run: &str,
    body: T,
) -> Result<Stored<T>, Problem> {
    let store = state.windlass.store();
    let run = lookup::find_run(state, caller, run).await?;
    let about = DocumentFilter::Subject(run.run.0.clone());
    let known: Vec<Stored<T>> = documents::list_documents(store, None, about, MAX_ITEMS).await?;
    if known.len() >= MAX_ITEMS {
        let detail = format!("the run has {MAX_ITEMS} of these already");
        return Err(Problem::new(ProblemCode::LimitReached, detail));
    }
    let key = format!("{}/{}", run.run, uuid::Uuid::now_v7());
    let stored = Stored::new(key, run.tenant, body).about(run.run.0);
    stored.insert(store).await.map_err(|error: StoreError| Problem::from(error))?;
    Ok(stored)
}

/// `POST /v1/runs/{run_id}/scores`.
pub(crate) async fn add_score(
    State(state): State<ApiState>,
    caller: Caller,
    Path(id): Path<String>,
    ApiBody(body): ApiBody<NewScore>,
) -> Result<Response, Problem> {
    let NewScore { name, value, comment } = body;
    if name.trim().is_empty() || name.chars().count() > MAX_NAME_CHARS {
        return Err(Problem::invalid(format!("`name` takes 1 to {MAX_NAME_CHARS} characters")));
    }
    if comment.as_ref().is_some_and(|comment| comment.len() > MAX_TEXT_BYTES) {
        return Err(Problem::invalid(format!("`comment` may have {MAX_TEXT_BYTES} bytes")));
    }
    let by = caller.name.to_string();
    let record = ScoreRecord { name, value, comment, by, at_ms: now().0 };
    let stored = add(&state, &caller, &id, record).await?;
    Ok((StatusCode::CREATED, ApiJson(ScoreView::new(&stored))).into_response())
}

/// `POST /v1/runs/{run_id}/notes`.
pub(crate) async fn add_note(
    State(state): State<ApiState>,
    caller: Caller,
    Path(id): Path<String>,
    ApiBody(NewNote { text }): ApiBody<NewNote>,
) -> Result<Response, Problem> {
    if text.trim().is_empty() || text.len() > MAX_TEXT_BYTES {
        return Err(Problem::invalid(format!("`text` takes 1 to {MAX_TEXT_BYTES} bytes")));
    }
    let record = NoteRecord { text, by: caller.name.to_string(), at_ms: now().0 };
    let stored = add(&state, &caller, &id, record).await?;
    Ok((StatusCode::CREATED, ApiJson(NoteView::new(&stored))).into_response())
}

/// `GET /v1/runs/{run_id}/scores`.
pub(crate) async fn list_scores(
    State(state): State<ApiState>,
    caller: Caller,
    Path(id): Path<String>,
    ApiQuery(given): ApiQuery<ListParameters>,
) -> Result<ApiJson<Page<ScoreView>>, Problem> {
    let run = lookup::find_run(&state, &caller, &id).await?;
    let about = DocumentFilter::Subject(run.run.0);
    let store = state.windlass.store();
    Ok(ApiJson(document_page(store, &caller, &given, about, ScoreView::new).await?))
}

/// `GET /v1/runs/{run_id}/notes`.
pub(crate) async fn list_notes(
    State(state): State<ApiState>,
    caller: Caller,
    Path(id): Path<String>,
    ApiQuery(given): ApiQuery<ListParameters>,
) -> Result<ApiJson<Page<NoteView>>, Problem> {
    let run = lookup::find_run(&state, &caller, &id).await?;
    let about = DocumentFilter::Subject(run.run.0);
    let store = state.windlass.store();
    Ok(ApiJson(document_page(store, &caller, &given, about, NoteView::new).await?))
}
