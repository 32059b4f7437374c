//! Conversations that flags alone cannot bring about: hooks, gates, small windows, other models.
//! They are driven through the library into the place's store, and looked at with the binary.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use windlass::core::facts::{AnsweredBy, Facts, Repeat};
use windlass::core::journal::{Change, Field, Wish};
use windlass::core::order::Touches;
use windlass::core::outcome::{Outcome, ToolError};
use windlass::core::raw::Raw;
use windlass::core::settings::ToolSpec;
use windlass::ports::{CallContext, Store, Task, Tool, Whose};
use windlass::scripted::Script;
use windlass::sqlite::SqliteStore;
use windlass::{Builder, End, Windlass};

use crate::kit::Place;

/// Says `prompts` to a conversation of its own, one after the other; how the last one ended.
pub(crate) fn played(
    place: &Place,
    conversation: &str,
    prompts: &[&str],
    with: impl FnOnce(Builder) -> Builder,
) -> End {
    let script = std::fs::read_to_string(place.path("a.script")).unwrap();
    let store = SqliteStore::open(place.path("w.db")).unwrap();
    let builder = Windlass::builder().scripted(Script::parse(&script).unwrap()).store(store);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let windlass = with(builder).start().await.unwrap();
        let session = windlass.session(conversation);
        let mut last = None;
        for prompt in prompts {
            let mut run = session.send(prompt).await.unwrap();
            while run.next().await.unwrap().is_some() {}
            last = Some(run.end().await.unwrap());
        }
        last.unwrap()
    })
}

/// A conversation whose sender died after it had made it and before it had sent.
pub(crate) fn only_made(place: &Place, conversation: &str) {
    let store = SqliteStore::open(place.path("w.db")).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(store.introduce(conversation.into(), Whose::default())).unwrap();
}

/// A tool that does what its name says.
#[derive(Clone)]
pub(crate) struct Act {
    name: &'static str,
    facts: Facts,
    brings: Arc<str>,
    fails: Arc<AtomicU32>,
}

impl Act {
    /// It looks and brings a text.
    pub(crate) fn look(name: &'static str, brings: &str) -> Self {
        let facts = Facts {
            touches: Touches::Reads(vec![Arc::from(name)]),
            repeat: Repeat::Repeatable,
            ..Facts::default()
        };
        Self { name, facts, brings: Arc::from(brings), fails: Arc::default() }
    }

    /// It changes something.
    pub(crate) fn change(name: &'static str) -> Self {
        Self { facts: Facts::default(), ..Self::look(name, "changed") }
    }

    /// It writes into the journal.
    pub(crate) fn journal(entries: &[(Field, &str)]) -> Self {
        let set =
            |(field, text): &(Field, &str)| Change::Set { field: *field, text: (*text).into() };
        let facts = Facts {
            answered_by: AnsweredBy::Journal,
            journal: Some(Wish::Change(entries.iter().map(set).collect())),
            ..Facts::default()
        };
        Self { facts, ..Self::look("Journal", "") }
    }

    /// It fails in passing so many times first.
    pub(crate) fn failing(self, times: u32) -> Self {
        self.fails.store(times, Ordering::SeqCst);
        self
    }
}

impl Tool for Act {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: Arc::from(self.name),
            description: Arc::from("for a test"),
            input_schema: Raw::parse(r#"{"type":"object"}"#).unwrap(),
        }
    }

    fn assess(&self, _input: &Raw) -> Facts {
        self.facts.clone()
    }

    fn run(&self, _context: CallContext, _input: Raw) -> Task<'_, Outcome> {
        let left = self.fails.load(Ordering::SeqCst);
        self.fails.store(left.saturating_sub(1), Ordering::SeqCst);
        let outcome = match left {
            0 => Outcome::Done(Raw::string(&self.brings)),
            _ => Outcome::Failed(ToolError::new("busy", "it is busy", "wait").passing()),
        };
        Box::pin(std::future::ready(outcome))
    }
}
