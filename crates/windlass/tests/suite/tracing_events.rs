//! Events as a subscriber sees them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use windlass::core::settings::limits::RunTimeLimits;
use windlass::memory::MemoryStore;

use crate::kit::{ProbeTool, windlass_builder, with_subscriber};

type Fields = BTreeMap<String, String>;

/// Records every event of our target.
#[derive(Clone, Default)]
struct Caught(Arc<Mutex<Vec<Fields>>>);

struct Reader(Fields);

impl Visit for Reader {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }
}

impl<S: tracing::Subscriber> Layer<S> for Caught {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        assert_eq!(event.metadata().target(), "windlass");
        let mut reader = Reader(Fields::new());
        event.record(&mut reader);
        self.0.lock().unwrap().push(reader.0);
    }
}

// Both are in one test: a subscriber belongs to a thread, and the enabled state is cached.
// spec: TRACE-10
#[test]
fn every_event_row_is_traced_with_its_fields_and_other_name() {
    let caught = Caught::default();
    let subscriber = tracing_subscriber::registry().with(caught.clone());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    with_subscriber(subscriber, || {
        runtime.block_on(async {
            let script = "when results 0\n  call Look {}\nwhen any\n  say \"done\"\n";
            let probe = ProbeTool::read("Look");
            let w = windlass_builder(script, MemoryStore::new(), &[probe])
                .settings(|settings| {
                    settings.times =
                        Some(RunTimeLimits { soft_ms: 0, hard_ms: 60_000, grace_ms: 0 });
                })
                .start()
                .await
                .unwrap();
            w.session("lane").send("go").await.unwrap().wait_for_end().await.unwrap();
        });
    });
    let all = caught.0.lock().unwrap().clone();
    let named = |name: &str| all.iter().find(|event| event["event"] == name).cloned();
    let started = named("agent_run.started").expect("the beginning is told");
    assert_eq!(started["lane"], "lane");
    assert!(!started["run"].is_empty());
    assert!(started["seq"].parse::<u64>().unwrap() > 0);
    let ended = named("agent_run.completed").or(named("agent_run.failed")).expect("and the end");
    assert!(ended["fields"].contains("cause"), "{ended:?}");
    let late = named("agent.exhaustion.soft_limit").expect("and the limit");
    assert_eq!(late["alias"], "agent.exhaustion.celery_soft");
}
