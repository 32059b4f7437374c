//! A conversation that the core decides and the adapters perform, on simulated time: waiting takes
//! none.

use std::sync::Arc;

use windlass_core::log::entry::Entry;
use windlass_core::log::ids::{RunId, UnixMillis};
use windlass_core::log::inbox::{InboxCommand, InboxMessage};
use windlass_core::log::input::Input;
use windlass_core::log::record::Record;
use windlass_core::message::content_block::ContentBlock;
use windlass_core::projection::{EventRow, Row, project_rows};
use windlass_core::run::conversation::{Conversation, RunEnd};
use windlass_core::run::wanted::{Effect, wanted};
use windlass_core::settings::conversation_settings::Settings;
use windlass_core::stop::RunState;
use windlass_providers::catalog::provider_table::ProviderTable;
use windlass_providers::{CallOptions, ModelRegistry};
use windlass_runtime::ports::Model;

use crate::adapter::{KEY, shared};
use crate::recording_stream::RecordingStream;

/// The largest number of steps of a run; one that never ends fails.
const MOST_STEPS: usize = 200;

pub(crate) struct TestLane {
    pub(crate) now: Conversation,
    pub(crate) at: UnixMillis,
    pub(crate) records: Vec<Record>,
    rows: Vec<Row>,
    url: String,
    options: CallOptions,
}

impl TestLane {
    /// A run at its start; every provider has this base URL.
    pub(crate) fn new(url: &str, options: CallOptions, settings: Settings) -> Self {
        let mut lane = Self {
            now: Conversation::default(),
            at: UnixMillis(1_000_000),
            records: Vec::new(),
            rows: Vec::new(),
            url: url.to_owned(),
            options,
        };
        lane.tell(Input::Configured { settings: Arc::new(settings) });
        let blocks = vec![ContentBlock::text("go")];
        let body = InboxCommand::prompt(RunId::from_name("run-1"), blocks);
        lane.tell(Input::CommandsReceived { messages: vec![InboxMessage { id: 1, body }] });
        lane
    }

    fn tell(&mut self, input: Input) {
        self.at = self.at.plus_ms(1);
        if let Some(entry) = Entry::decide(&self.now, self.at, input) {
            self.records.extend(entry.records.iter().cloned());
            self.rows.extend(project_rows(&self.now, &entry));
            self.now.fold(&entry).unwrap();
        }
    }

    /// Models without history: a limiter that remembers would wait in real time.
    fn models(&self) -> ModelRegistry {
        let url = self.url.clone();
        let variables = move |name: &str| match name {
            name if name.ends_with("_BASE_URL") => Some(url.clone()),
            name if name.ends_with("_API_KEY") => Some(KEY.to_owned()),
            _ => None,
        };
        let providers = ProviderTable::built_in();
        ModelRegistry::new(shared(), providers, self.options.clone(), Arc::new(variables))
    }

    /// Calls the model or waits; returns whether there is more to do.
    pub(crate) async fn step(&mut self) -> bool {
        let wanted = wanted(&self.now);
        let runs_tools = |effect: &Effect| matches!(effect, Effect::RunTool { .. });
        assert!(!wanted.effects.iter().any(runs_tools), "nobody has tools here");
        if let Some(request) = self.now.model_request() {
            let model_call = request.model_call;
            self.tell(match self.models().call(request, RecordingStream::new()).await {
                Ok(reply) => {
                    Input::ModelReplied { model_call, reply: Arc::new(reply), facts: Vec::new() }
                }
                Err(failure) => Input::ModelFailed { model_call, failure },
            });
            return true;
        }
        let Some(due) = wanted.wake_at.filter(|_| self.now.run.is_some()) else { return false };
        self.at = due;
        self.tell(Input::TimerFired {});
        true
    }

    /// Continues until the run has ended.
    pub(crate) async fn end(&mut self) -> RunEnd {
        for _ in 0..MOST_STEPS {
            if !self.step().await {
                return self
                    .now
                    .last_run_end
                    .clone()
                    .expect("it waits for nothing and has not ended");
            }
        }
        panic!("it goes on and on: {:?}", self.records.last());
    }

    /// The pause before the next call, if the run waits for one.
    pub(crate) fn pause_ms(&self) -> Option<u64> {
        self.records.last().and_then(|record| match record {
            Record::ModelRetryScheduled { until, .. } => Some(until.ms_since(self.at)),
            _ => None,
        })
    }

    /// The events of the run, in order.
    pub(crate) fn events(&self) -> impl Iterator<Item = &EventRow> {
        self.rows.iter().filter_map(|row| match row {
            Row::Event(event) => Some(event),
            _ => None,
        })
    }

    /// The states of the run, in order.
    pub(crate) fn states(&self) -> Vec<RunState> {
        let state = |row: &Row| match row {
            Row::Run(row) => Some(row.state),
            _ => None,
        };
        let mut states: Vec<RunState> = self.rows.iter().filter_map(state).collect();
        states.dedup();
        states
    }

    /// The models that the run's rows name, one after another.
    pub(crate) fn models_in_rows(&self) -> Vec<String> {
        let model = |row: &Row| match row {
            Row::Run(row) => row.description.model.as_ref().map(ToString::to_string),
            _ => None,
        };
        let mut models: Vec<String> = self.rows.iter().filter_map(model).collect();
        models.dedup();
        models
    }

    /// Why attempts were abandoned, one after another.
    pub(crate) fn abandoned(&self) -> Vec<String> {
        let why = |record: &Record| match record {
            Record::ModelCallAbandoned { cause, .. } => Some(cause.as_str().to_owned()),
            _ => None,
        };
        self.records.iter().filter_map(why).collect()
    }
}
