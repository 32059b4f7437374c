//! Every operation of the API.

use schemars::JsonSchema;
use serde_json::{Value, json};
use windlass::messages::RunTimeline;

use super::{DocumentBuilder, Operation};
use crate::actions::{AcceptedAction, BulkResult, ForkView, NewFork, NoFields};
use crate::conversations::{MessageListParameters, PlacedMessage};
use crate::health::HealthStatus;
use crate::prompts::{AcceptedPrompt, NewConversation, NewPrompt};
use crate::questions::{
    AcceptedAnswer, EqualAnswer, NewAnswer, QuestionListParameters, QuestionView,
};
use crate::reports::{EventListParameters, StatsParameters};
use crate::run_feedback::{NewNote, NewScore, NoteView, ScoreView};
use crate::run_record::EntryListParameters;
use crate::runs::{RunFilter, RunListParameters};
use crate::stream::StreamParameters;
use crate::views::{ConversationView, ListParameters, Page, RunView};

#[path = "administration.rs"]
mod administration;

const JSON: &str = "application/json";

/// Describes all operations.
pub(super) fn describe_all(document: &mut DocumentBuilder) {
    describe_health(document);
    describe_prompts(document);
    describe_conversations(document);
    describe_runs(document);
    describe_actions(document);
    describe_questions(document);
    describe_reports(document);
    describe_feedback(document);
    administration::describe_administration(document);
}

fn get(path: &'static str, summary: &'static str) -> Operation {
    let success = (200, None);
    Operation { method: "get", path, summary, query: Vec::new(), body: None, success }
}

fn post(path: &'static str, summary: &'static str, status: u16) -> Operation {
    let success = (status, None);
    Operation { method: "post", path, summary, query: Vec::new(), body: None, success }
}

impl Operation {
    fn returns<T: JsonSchema>(self, document: &mut DocumentBuilder) -> Self {
        let schema = document.response::<T>();
        Self { success: (self.success.0, Some((JSON, schema))), ..self }
    }

    fn returns_object(self) -> Self {
        Self { success: (self.success.0, Some((JSON, json!({"type": "object"})))), ..self }
    }

    fn returns_rows(self) -> Self {
        let rows = json!({"type": "array", "items": {"type": "object"}});
        let cursor = json!({"type": ["string", "null"]});
        let page: Value = json!({
            "type": "object",
            "properties": {"data": rows, "next_cursor": cursor},
            "required": ["data", "next_cursor"],
        });
        Self { success: (self.success.0, Some((JSON, page))), ..self }
    }

    fn returns_events(self) -> Self {
        let text = json!({"type": "string"});
        let event = json!({
            "type": "object",
            "properties": {"id": text, "event": text, "data": text, "retry": {"type": "integer"}},
        });
        let events = Some(("text/event-stream", event));
        Self { success: (self.success.0, events), ..self }
    }

    fn takes<T: JsonSchema>(self, document: &mut DocumentBuilder) -> Self {
        Self { body: Some(document.request::<T>()), ..self }
    }

    fn with_query<T: JsonSchema>(self, document: &mut DocumentBuilder) -> Self {
        Self { query: document.query::<T>(), ..self }
    }

    fn with_header(mut self, name: &str, about: &str) -> Self {
        self.query.push(json!({
            "name": name,
            "in": "header",
            "required": false,
            "description": about,
            "schema": {"type": "string"},
        }));
        self
    }

    fn add_to(self, document: &mut DocumentBuilder) {
        document.add(self);
    }
}

fn describe_health(document: &mut DocumentBuilder) {
    get("/healthz", "The process responds").returns::<HealthStatus>(document).add_to(document);
    get("/readyz", "The store responds").returns::<HealthStatus>(document).add_to(document);
    let text = Some(("text/plain", json!({"type": "string"})));
    let metrics = get("/metrics", "Metrics in the formats of Prometheus");
    Operation { success: (200, text), ..metrics }.add_to(document);
    let message = json!({"type": "object"});
    let mcp = post("/mcp", "Answers a message of the Model Context Protocol", 200);
    Operation { body: Some(message), ..mcp }.returns_object().add_to(document);
    get("/openapi.json", "This document").returns_object().add_to(document);
}

fn describe_prompts(document: &mut DocumentBuilder) {
    const KEY: &str = "The same key gives the same answer, and the prompt is accepted once";
    post("/v1/conversations", "Starts a conversation with a prompt", 202)
        .takes::<NewConversation>(document)
        .with_header("Idempotency-Key", KEY)
        .returns::<AcceptedPrompt>(document)
        .add_to(document);
    post("/v1/conversations/{conversation_id}/prompts", "Adds a prompt to a conversation", 202)
        .takes::<NewPrompt>(document)
        .with_header("Idempotency-Key", KEY)
        .returns::<AcceptedPrompt>(document)
        .add_to(document);
}

fn describe_conversations(document: &mut DocumentBuilder) {
    let path = "/v1/conversations/{conversation_id}";
    get(path, "Shows a conversation").returns::<ConversationView>(document).add_to(document);
    let delete = get(path, "Deletes a conversation with everything stored for it");
    Operation { method: "delete", success: (204, None), ..delete }.add_to(document);
    get("/v1/conversations/{conversation_id}/messages", "Lists messages, oldest first")
        .with_query::<MessageListParameters>(document)
        .returns::<Page<PlacedMessage>>(document)
        .add_to(document);
    get("/v1/conversations/{conversation_id}/stream", "Streams messages")
        .with_query::<StreamParameters>(document)
        .with_header("Last-Event-ID", "Continues after this event")
        .returns_events()
        .add_to(document);
}

fn describe_runs(document: &mut DocumentBuilder) {
    get("/v1/runs", "Lists runs, newest first")
        .with_query::<RunListParameters>(document)
        .returns::<Page<RunView>>(document)
        .add_to(document);
    get("/v1/runs/{run_id}", "Shows a run").returns::<RunView>(document).add_to(document);
    get("/v1/runs/{run_id}/stream", "Streams the messages of a run, and ends with it")
        .with_query::<StreamParameters>(document)
        .with_header("Last-Event-ID", "Continues after this event")
        .returns_events()
        .add_to(document);
}

fn describe_actions(document: &mut DocumentBuilder) {
    post("/v1/runs/{run_id}/cancel", "Cancels a run at the next safe point", 202)
        .takes::<NoFields>(document)
        .returns::<AcceptedAction>(document)
        .add_to(document);
    post("/v1/runs/{run_id}/resume", "Continues a run that stopped", 202)
        .takes::<NoFields>(document)
        .returns::<AcceptedAction>(document)
        .add_to(document);
    post("/v1/runs/cancel", "Cancels the runs that match a filter", 200)
        .takes::<RunFilter>(document)
        .returns::<BulkResult>(document)
        .add_to(document);
    post("/v1/runs/resume", "Continues the runs that match a filter", 200)
        .takes::<RunFilter>(document)
        .returns::<BulkResult>(document)
        .add_to(document);
    post("/v1/runs/{run_id}/fork", "Starts a conversation that shares the history", 201)
        .takes::<NewFork>(document)
        .returns::<ForkView>(document)
        .add_to(document);
}

fn describe_questions(document: &mut DocumentBuilder) {
    get("/v1/questions", "Lists what runs wait for")
        .with_query::<QuestionListParameters>(document)
        .returns::<Page<QuestionView>>(document)
        .add_to(document);
    post("/v1/questions/{run_id}/{question_id}/answer", "Answers a question", 202)
        .takes::<NewAnswer>(document)
        .returns::<AcceptedAnswer>(document)
        .add_to(document);
    post("/v1/questions/answer", "Answers all open questions about the same call", 202)
        .takes::<EqualAnswer>(document)
        .returns::<Page<AcceptedAnswer>>(document)
        .add_to(document);
}

fn describe_feedback(document: &mut DocumentBuilder) {
    let (scores, notes) = ("/v1/runs/{run_id}/scores", "/v1/runs/{run_id}/notes");
    get(scores, "Lists the scores of a run")
        .with_query::<ListParameters>(document)
        .returns::<Page<ScoreView>>(document)
        .add_to(document);
    post(scores, "Scores a run", 201)
        .takes::<NewScore>(document)
        .returns::<ScoreView>(document)
        .add_to(document);
    get(notes, "Lists the notes on a run")
        .with_query::<ListParameters>(document)
        .returns::<Page<NoteView>>(document)
        .add_to(document);
    post(notes, "Adds a note to a run", 201)
        .takes::<NewNote>(document)
        .returns::<NoteView>(document)
        .add_to(document);
}

fn describe_reports(document: &mut DocumentBuilder) {
    get("/v1/runs/{run_id}/timeline", "Shows what happened in a run, as spans of time")
        .returns::<RunTimeline>(document)
        .add_to(document);
    get("/v1/runs/{run_id}/entries", "Lists the log of the conversation of a run, oldest first")
        .with_query::<EntryListParameters>(document)
        .returns_rows()
        .add_to(document);
    get("/v1/events/stream", "Says when runs change").returns_events().add_to(document);
    get("/v1/runs/{run_id}/explain", "Says why a run stopped or what it waits for")
        .returns_object()
        .add_to(document);
    get("/v1/runs/{run_id}/trace", "Lists the iterations of a run").returns_rows().add_to(document);
    get("/v1/runs/{run_id}/events", "Lists the events of a run, newest first")
        .with_query::<EventListParameters>(document)
        .returns_rows()
        .add_to(document);
    get("/v1/runs/{run_id}/raw", "Lists the responses of the provider")
        .returns_rows()
        .add_to(document);
    get("/v1/runs/{run_id}/journal", "Shows the run journal").returns_object().add_to(document);
    get("/v1/stats", "Counts how runs ended")
        .with_query::<StatsParameters>(document)
        .returns_object()
        .add_to(document);
    get("/v1/events", "Lists events, newest first")
        .with_query::<EventListParameters>(document)
        .returns_rows()
        .add_to(document);
    get("/v1/workers", "Lists the workers").returns_rows().add_to(document);
}
