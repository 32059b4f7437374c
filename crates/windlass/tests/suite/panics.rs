//! Tools that panic.

use std::sync::Arc;

use windlass::RunOutcome;
use windlass::core::call::call_facts::{CallFacts, Repeatability};
use windlass::core::call::outcome::ToolOutcome;
use windlass::core::message::raw_json::RawJson;
use windlass::core::settings::conversation_settings::ToolSpec;
use windlass::memory::MemoryStore;
use windlass::ports::{BoxFuture, CallContext, Tool};

use crate::kit::windlass_builder;

struct PanickingTool;

impl Tool for PanickingTool {
    fn spec(&self) -> ToolSpec {
        let input_schema = RawJson::parse(r#"{"type":"object"}"#).unwrap();
        ToolSpec { name: Arc::from("Drop"), description: Arc::from("drops things"), input_schema }
    }

    fn assess(&self, _input: &RawJson) -> CallFacts {
        CallFacts { repeat: Repeatability::OnceOnly, ..CallFacts::default() }
    }

    fn run(&self, _context: CallContext, _input: RawJson) -> BoxFuture<'_, ToolOutcome> {
        Box::pin(async { panic!("it slipped") })
    }
}

// spec: FAULT-54
#[tokio::test]
async fn a_tool_that_panics_fails_its_call_and_nothing_else() {
    let script = "when results 0\n  call Drop {}\nwhen any\n  say \"heard\"\n";
    let w = windlass_builder(script, MemoryStore::new(), &[])
        .tool(PanickingTool)
        .start()
        .await
        .unwrap();
    // Twice in one process: nothing was poisoned.
    for lane in ["one", "two"] {
        let session = w.session(lane);
        let RunOutcome::Finished(ended) =
            session.send("go").await.unwrap().wait_for_end().await.unwrap()
        else {
            panic!("it did not end");
        };
        assert_eq!(&*ended.text, "heard");
        let log = session.read_log().await.unwrap();
        let told = log.iter().any(|entry| entry.encode().contains("it slipped"));
        assert!(told, "the log says what happened");
    }
}
