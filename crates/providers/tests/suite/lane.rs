//! A conversation that the core decides and the adapters perform, in a time of its own: waiting
//! takes none.

use std::sync::Arc;

use windlass_core::block::Block;
use windlass_core::conversation::{Conversation, Ended};
use windlass_core::ids::{Millis, RunId};
use windlass_core::input::Input;
use windlass_core::log::Entry;
use windlass_core::mail::{Mail, MailBody};
use windlass_core::project::{EventRow, Row, project};
use windlass_core::record::Record;
use windlass_core::settings::Settings;
use windlass_core::stop::RunState;
use windlass_core::wanted::{Effect, wanted};
use windlass_providers::names::Providers;
use windlass_providers::{Models, Options};
use windlass_runtime::ports::Model;

use crate::adapter::{KEY, shared};
use crate::heard::Heard;

/// Steps a run takes at most; one that goes on for ever fails.
const MOST_STEPS: usize = 200;

pub(crate) struct Lane {
    pub(crate) now: Conversation,
    pub(crate) at: Millis,
    pub(crate) records: Vec<Record>,
    rows: Vec<Row>,
    url: String,
    options: Options,
}

impl Lane {
    /// A run at its beginning: every provider is at this address.
    pub(crate) fn new(url: &str, options: Options, settings: Settings) -> Self {
        let mut lane = Self {
            now: Conversation::default(),
            at: Millis(1_000_000),
            records: Vec::new(),
            rows: Vec::new(),
            url: url.to_owned(),
            options,
        };
        lane.tell(Input::Configured { settings: Arc::new(settings) });
        let blocks = vec![Block::text("go")];
        let body = MailBody::prompt(RunId::derived("run-1"), blocks);
        lane.tell(Input::Received { mail: vec![Mail { id: 1, body }] });
        lane
    }

    fn tell(&mut self, input: Input) {
        self.at = self.at.plus(1);
        if let Some(entry) = Entry::decide(&self.now, self.at, input) {
            self.records.extend(entry.records.iter().cloned());
            self.rows.extend(project(&self.now, &entry));
            self.now.fold(&entry).unwrap();
        }
    }

    /// Models that have met nobody yet: a limiter that remembers would wait in real time.
    fn models(&self) -> Models {
        let url = self.url.clone();
        let variables = move |name: &str| match name {
            name if name.ends_with("_BASE_URL") => Some(url.clone()),
            name if name.ends_with("_API_KEY") => Some(KEY.to_owned()),
            _ => None,
        };
        let providers = Providers::built_in();
        Models::new(shared(), providers, self.options.clone(), Arc::new(variables))
    }

    /// Asks, or waits; says whether there is more to do.
    pub(crate) async fn step(&mut self) -> bool {
        let wanted = wanted(&self.now);
        let runs_tools = |effect: &Effect| matches!(effect, Effect::RunTool { .. });
        assert!(!wanted.effects.iter().any(runs_tools), "nobody has tools here");
        if let Some(request) = self.now.request() {
            let ask = request.ask;
            self.tell(match self.models().ask(request, Heard::new()).await {
                Ok(reply) => Input::Replied { ask, reply: Arc::new(reply), facts: Vec::new() },
                Err(failure) => Input::ModelFailed { ask, failure },
            });
            return true;
        }
        let Some(due) = wanted.wake_at.filter(|_| self.now.run.is_some()) else { return false };
        self.at = due;
        self.tell(Input::Ticked {});
        true
    }

    /// Goes on until the run has ended.
    pub(crate) async fn end(&mut self) -> Ended {
        for _ in 0..MOST_STEPS {
            if !self.step().await {
                return self.now.last_end.clone().expect("it waits for nothing and has not ended");
            }
        }
        panic!("it goes on and on: {:?}", self.records.last());
    }

    /// The pause before the next call, if the run waits for one.
    pub(crate) fn pause_ms(&self) -> Option<u64> {
        self.records.last().and_then(|record| match record {
            Record::Deferred { until, .. } => Some(until.since(self.at)),
            _ => None,
        })
    }

    /// What dashboards were told, in order.
    pub(crate) fn events(&self) -> impl Iterator<Item = &EventRow> {
        self.rows.iter().filter_map(|row| match row {
            Row::Event(event) => Some(event),
            _ => None,
        })
    }

    /// The states the run went through.
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

    /// Why attempts were given up, one after another.
    pub(crate) fn abandoned(&self) -> Vec<String> {
        let why = |record: &Record| match record {
            Record::AttemptAbandoned { why, .. } => Some(why.to_string()),
            _ => None,
        };
        self.records.iter().filter_map(why).collect()
    }
}
