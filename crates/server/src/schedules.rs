//! Schedules: prompts that are sent whenever a cron expression comes true.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use windlass::core::log::ids::{LaneId, RunId, UnixMillis};
use windlass::core::message::content_block::ContentBlock;
use windlass::messages::format_iso_time;
use windlass::ports::{DocumentFilter, Store, StoreError};
use windlass::{DriveError, PromptDelivery};

use crate::body::{ApiBody, ApiQuery};
use crate::caller::Caller;
use crate::cron::CronExpression;
use crate::documents::{self, DocumentBody, Stored};
use crate::json::ApiJson;
use crate::lookup;
use crate::problem::{Problem, ProblemCode};
use crate::router::ApiState;
use crate::run_labels::RunLabels;
use crate::run_options::RunOptions;
use crate::time::{find_time_zone, now};
use crate::views::{ListParameters, Page, document_page};

/// The most schedules of a tenant.
const MAX_SCHEDULES: usize = 500;

/// Schedules that are looked at in one pass.
const MAX_FIRED: usize = 64;

/// The most characters of the name of a schedule.
const MAX_NAME_CHARS: usize = 100;

/// A prompt that is sent again and again.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewSchedule {
    /// What it is for, at most 100 characters.
    name: String,
    /// When: minute, hour, day of the month, month, day of the week, or `@daily` and the like.
    cron: String,
    /// The time zone of the expression, such as `Europe/Berlin`; UTC if not given.
    #[serde(default)]
    time_zone: Option<String>,
    /// The prompt.
    prompt: String,
    /// Settings of the runs.
    #[serde(default)]
    options: RunOptions,
    /// Tags and metadata of the runs.
    #[serde(default)]
    labels: RunLabels,
    /// The conversation that gets the prompts; a new one each time if not given.
    #[serde(default)]
    conversation_id: Option<String>,
    /// Whether it sends nothing for now.
    #[serde(default)]
    is_paused: bool,
}

/// A schedule.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ScheduleView {
    /// Identifies the schedule.
    schedule_id: String,
    /// What it is for.
    name: String,
    /// When it sends its prompt.
    cron: String,
    /// The time zone of the expression.
    time_zone: String,
    /// The prompt.
    prompt: String,
    /// Tags and metadata of its runs.
    labels: RunLabels,
    /// The conversation that gets the prompts; `null` for a new one each time.
    conversation_id: Option<String>,
    /// Whether it sends nothing for now.
    is_paused: bool,
    /// When it sends the next prompt, in ISO 8601.
    next_at: Option<String>,
    /// The run of the last prompt.
    last_run_id: Option<String>,
    /// Why the last prompt was not accepted, if it was not.
    last_error: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ScheduleRecord {
    name: String,
    cron: String,
    time_zone: String,
    prompt: String,
    options: RunOptions,
    labels: RunLabels,
    lane: Option<String>,
    last_run: Option<String>,
    last_error: Option<String>,
}

impl DocumentBody for ScheduleRecord {
    const KIND: &'static str = "schedule";
}

impl ScheduleView {
    fn new(stored: &Stored<ScheduleRecord>) -> Self {
        let record = stored.body.clone();
        let lane = record.lane.map(|lane| LaneId::from(lane).session_id().to_owned());
        Self {
            schedule_id: stored.key.to_string(),
            name: record.name,
            cron: record.cron,
            time_zone: record.time_zone,
            prompt: record.prompt,
            labels: record.labels,
            conversation_id: lane,
            is_paused: stored.due_at.is_none(),
            next_at: stored.due_at.map(format_iso_time),
            last_run_id: record.last_run,
            last_error: record.last_error,
        }
    }
}

impl ScheduleRecord {
    /// Returns when it is due next after a moment.
    fn next_after(&self, after: UnixMillis) -> Option<UnixMillis> {
        let zone = find_time_zone(&self.time_zone)?;
        let after = Timestamp::from_millisecond(i64::try_from(after.0).ok()?).ok()?;
        let next = CronExpression::parse(&self.cron).ok()?.next_after(after, &zone)?;
        u64::try_from(next.as_millisecond()).ok().map(UnixMillis)
    }
}

async fn checked_record(
    state: &ApiState,
    caller: &Caller,
    given: NewSchedule,
) -> Result<(Option<UnixMillis>, ScheduleRecord), Problem> {
    let is_name = !given.name.trim().is_empty() && given.name.chars().count() <= MAX_NAME_CHARS;
    if !is_name || given.name.chars().any(char::is_control) {
        return Err(Problem::invalid(format!("`name` takes 1 to {MAX_NAME_CHARS} characters")));
    }
    if given.prompt.trim().is_empty() {
        return Err(Problem::invalid("`prompt` is empty; give the text of the prompt"));
    }
    CronExpression::parse(&given.cron)
        .map_err(|error| Problem::invalid(format!("`cron` is not valid: {error}")))?;
    let time_zone = given.time_zone.unwrap_or_else(|| "UTC".to_owned());
    if find_time_zone(&time_zone).is_none() {
        return Err(Problem::invalid(format!(
            "`time_zone` does not know `{time_zone}`; give a name such as Europe/Berlin"
        )));
    }
    given.labels.check()?;
    state.presenter.resolve_options(&given.options).map_err(Problem::invalid)?;
    let lane = match &given.conversation_id {
        Some(id) => Some(lookup::find_conversation(state, caller, id).await?.lane.to_string()),
        None => None,
    };
    let record = ScheduleRecord {
        name: given.name,
        cron: given.cron,
        time_zone,
        prompt: given.prompt,
        options: given.options,
        labels: given.labels,
        lane,
        last_run: None,
        last_error: None,
    };
    let due_at = if given.is_paused { None } else { record.next_after(now()) };
    Ok((due_at, record))
}

/// `POST /v1/schedules`.
pub(crate) async fn create_schedule(
    State(state): State<ApiState>,
    caller: Caller,
    ApiBody(body): ApiBody<NewSchedule>,
) -> Result<Response, Problem> {
    let (due_at, record) = checked_record(&state, &caller, body).await?;
    let store = state.windlass.store();
    let tenant = caller.tenant_of_new();
    let known: Vec<Stored<ScheduleRecord>> =
        documents::list_documents(store, Some(&tenant), DocumentFilter::All, MAX_SCHEDULES).await?;
    if known.len() >= MAX_SCHEDULES {
        let detail = format!("the tenant has {MAX_SCHEDULES} schedules already; delete some");
        return Err(Problem::new(ProblemCode::LimitReached, detail));
    }
    let key = uuid::Uuid::now_v7().to_string();
    let location = [(header::LOCATION, format!("/v1/schedules/{key}"))];
    let stored = Stored { due_at, ..Stored::new(key, tenant, record) };
    stored.insert(store).await?;
    Ok((StatusCode::CREATED, location, ApiJson(ScheduleView::new(&stored))).into_response())
}

/// `GET /v1/schedules`.
pub(crate) async fn list_schedules(
    State(state): State<ApiState>,
    caller: Caller,
    ApiQuery(given): ApiQuery<ListParameters>,
) -> Result<ApiJson<Page<ScheduleView>>, Problem> {
    let store = state.windlass.store();
    let all = DocumentFilter::All;
    Ok(ApiJson(document_page(store, &caller, &given, all, ScheduleView::new).await?))
}

async fn find_schedule(
    store: &dyn Store,
    caller: &Caller,
    id: &str,
) -> Result<Stored<ScheduleRecord>, Problem> {
    let found = documents::find_document::<ScheduleRecord>(store, id).await?;
    let found = found.filter(|schedule| caller.sees(&schedule.tenant));
    found.ok_or_else(|| Problem::not_found("schedule"))
}

/// `GET /v1/schedules/{schedule_id}`.
pub(crate) async fn show_schedule(
    State(state): State<ApiState>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<ApiJson<ScheduleView>, Problem> {
    let found = find_schedule(state.windlass.store(), &caller, &id).await?;
    Ok(ApiJson(ScheduleView::new(&found)))
}

/// `PUT /v1/schedules/{schedule_id}`.
pub(crate) async fn replace_schedule(
    State(state): State<ApiState>,
    caller: Caller,
    Path(id): Path<String>,
    ApiBody(body): ApiBody<NewSchedule>,
) -> Result<ApiJson<ScheduleView>, Problem> {
    let store = state.windlass.store();
    let found = find_schedule(store, &caller, &id).await?;
    let (due_at, record) = checked_record(&state, &caller, body).await?;
    let last_run = found.body.last_run.clone();
    let changed = Stored { due_at, body: ScheduleRecord { last_run, ..record }, ..found };
    match changed.replace(store).await? {
        true => Ok(ApiJson(ScheduleView::new(&changed))),
        false => Err(Problem::new(
            ProblemCode::Conflict,
            "the schedule was changed at the same moment; read it and send the request again",
        )),
    }
}

/// `DELETE /v1/schedules/{schedule_id}`.
pub(crate) async fn delete_schedule(
    State(state): State<ApiState>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    let store = state.windlass.store();
    let found = find_schedule(store, &caller, &id).await?;
    store.delete_document(Arc::from(ScheduleRecord::KIND), found.key, None).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Sends the prompts of schedules that are due. A time that was missed is made up for once.
pub(crate) async fn fire_due(state: &ApiState) -> Result<usize, DriveError> {
    let store = state.windlass.store();
    let filter = DocumentFilter::DueUntil(now());
    let due: Vec<Stored<ScheduleRecord>> =
        documents::list_page(store, None, filter, "", MAX_FIRED).await?;
    let mut fired = 0;
    for mut schedule in due {
        let due_at = schedule.due_at.unwrap_or_default();
        // Servers that fire at the same moment send the same prompt, which is accepted once.
        let run = RunId::from_name(&format!("schedule {} {}", schedule.key, due_at.0));
        match send_prompt(state, &schedule, &run).await {
            Ok(()) => {
                schedule.body.last_run = Some(run.to_string());
                schedule.body.last_error = None;
            }
            Err(refused) => schedule.body.last_error = Some(refused?),
        }
        schedule.due_at = schedule.body.next_after(now());
        fired += usize::from(schedule.replace(store).await?);
    }
    Ok(fired)
}

/// Sends the prompt of a schedule. The inner error is one that another attempt would meet, too.
async fn send_prompt(
    state: &ApiState,
    schedule: &Stored<ScheduleRecord>,
    run: &RunId,
) -> Result<(), Result<String, DriveError>> {
    let record = &schedule.body;
    let settings = state.presenter.resolve_options(&record.options).map_err(Ok)?;
    let lane = record.lane.clone().unwrap_or_else(|| format!("conversation:{run}"));
    let store = state.windlass.store();
    let labels = record.labels.store(store, &schedule.tenant, run).await;
    labels.map_err(|error| Err(error.into()))?;
    let session = state.windlass.session(lane);
    let blocks = vec![ContentBlock::text(&record.prompt)];
    let queue = PromptDelivery::Queue { settings: settings.map(Box::new) };
    let accepting = state.windlass.accept_prompt_of(&schedule.tenant, &session, run, blocks, queue);
    match Box::pin(accepting).await {
        Ok(_) => Ok(()),
        Err(DriveError::Store(
            error @ (StoreError::LimitReached { .. } | StoreError::LaneNotFound { .. }),
        )) => Err(Ok(error.to_string())),
        Err(error) => Err(Err(error)),
    }
}
