//! Conversations that need more than flags: hooks, gates, small windows, other models. They are
//! driven through the library into the store of the test home, and inspected with the binary.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use windlass::core::call::call_facts::{AnsweredBy, CallFacts, Repeatability};
use windlass::core::call::call_order::TouchedResources;
use windlass::core::call::outcome::{ToolError, ToolOutcome};
use windlass::core::message::raw_json::RawJson;
use windlass::core::run::journal::{JournalChange, JournalField, JournalRequest};
use windlass::core::settings::conversation_settings::ToolSpec;
use windlass::ports::{Affinity, BoxFuture, CallContext, Store, Tool};
use windlass::scripted::Script;
use windlass::sqlite::SqliteStore;
use windlass::{RunOutcome, Windlass, WindlassBuilder};

use crate::test_home::TestHome;

/// Sends `prompts` to a new conversation, one after the other; returns how the last run ended.
pub(crate) fn play_prompts(
    place: &TestHome,
    conversation: &str,
    prompts: &[&str],
    with: impl FnOnce(WindlassBuilder) -> WindlassBuilder,
) -> RunOutcome {
    let script = std::fs::read_to_string(place.path("a.script")).unwrap();
    let store = SqliteStore::open(place.path("w.db")).unwrap();
    let builder = Windlass::builder().scripted_model(Script::parse(&script).unwrap()).store(store);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let windlass = with(builder).start().await.unwrap();
        let session = windlass.session(conversation);
        let mut last = None;
        for prompt in prompts {
            let mut run = session.send(prompt).await.unwrap();
            while run.next().await.unwrap().is_some() {}
            last = Some(run.wait_for_end().await.unwrap());
        }
        last.unwrap()
    })
}

/// Creates a conversation whose sender died after it had created it and before it sent a prompt.
pub(crate) fn create_empty_lane(home: &TestHome, conversation: &str) {
    let store = SqliteStore::open(home.path("w.db")).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(store.register_lane(conversation.into(), Affinity::default())).unwrap();
}

/// A tool with scripted behavior.
#[derive(Clone)]
pub(crate) struct ScriptedTool {
    name: &'static str,
    facts: CallFacts,
    result: Arc<str>,
    fails: Arc<AtomicU32>,
}

impl ScriptedTool {
    /// A read-only tool that returns a text.
    pub(crate) fn read_only(name: &'static str, brings: &str) -> Self {
        let facts = CallFacts {
            touches: TouchedResources::Reads(vec![Arc::from(name)]),
            repeat: Repeatability::Repeatable,
            ..CallFacts::default()
        };
        Self { name, facts, result: Arc::from(brings), fails: Arc::default() }
    }

    /// A tool that changes something.
    pub(crate) fn mutating(name: &'static str) -> Self {
        Self { facts: CallFacts::default(), ..Self::read_only(name, "changed") }
    }

    /// A tool that writes into the journal.
    pub(crate) fn journal(entries: &[(JournalField, &str)]) -> Self {
        let set = |(field, text): &(JournalField, &str)| JournalChange::Set {
            field: *field,
            text: (*text).into(),
        };
        let facts = CallFacts {
            answered_by: AnsweredBy::Journal,
            journal: Some(JournalRequest::Change(entries.iter().map(set).collect())),
            ..CallFacts::default()
        };
        Self { facts, ..Self::read_only("Journal", "") }
    }

    /// Makes the tool fail with transient errors this many times first.
    pub(crate) fn fail_first(self, times: u32) -> Self {
        self.fails.store(times, Ordering::SeqCst);
        self
    }
}

impl Tool for ScriptedTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: Arc::from(self.name),
            description: Arc::from("for a test"),
            input_schema: RawJson::parse(r#"{"type":"object"}"#).unwrap(),
        }
    }

    fn assess(&self, _input: &RawJson) -> CallFacts {
        self.facts.clone()
    }

    fn run(&self, _context: CallContext, _input: RawJson) -> BoxFuture<'_, ToolOutcome> {
        let remaining = self.fails.load(Ordering::SeqCst);
        self.fails.store(remaining.saturating_sub(1), Ordering::SeqCst);
        let outcome = match remaining {
            0 => ToolOutcome::Done(RawJson::string(&self.result)),
            _ => ToolOutcome::Failed(ToolError::new("busy", "it is busy", "wait").into_transient()),
        };
        Box::pin(std::future::ready(outcome))
    }
}
