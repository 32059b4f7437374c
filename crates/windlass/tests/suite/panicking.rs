//! Tools that break down.

use std::sync::Arc;

use windlass::End;
use windlass::core::facts::{Facts, Repeat};
use windlass::core::outcome::Outcome;
use windlass::core::raw::Raw;
use windlass::core::settings::ToolSpec;
use windlass::memory::MemoryStore;
use windlass::ports::{CallContext, Task, Tool};

use crate::kit::builder;

struct Clumsy;

impl Tool for Clumsy {
    fn spec(&self) -> ToolSpec {
        let input_schema = Raw::parse(r#"{"type":"object"}"#).unwrap();
        ToolSpec { name: Arc::from("Drop"), description: Arc::from("drops things"), input_schema }
    }

    fn assess(&self, _input: &Raw) -> Facts {
        Facts { repeat: Repeat::OnceOnly, ..Facts::default() }
    }

    fn run(&self, _context: CallContext, _input: Raw) -> Task<'_, Outcome> {
        Box::pin(async { panic!("it slipped") })
    }
}

// spec: FAULT-54
#[tokio::test]
async fn a_tool_that_panics_fails_its_call_and_nothing_else() {
    let script = "when results 0\n  call Drop {}\nwhen any\n  say \"heard\"\n";
    let w = builder(script, MemoryStore::new(), &[]).tool(Clumsy).start().await.unwrap();
    // Twice in one process: nothing was poisoned.
    for lane in ["one", "two"] {
        let session = w.session(lane);
        let End::Finished(ended) = session.send("go").await.unwrap().end().await.unwrap() else {
            panic!("it did not end");
        };
        assert_eq!(&*ended.text, "heard");
        let log = session.log().await.unwrap();
        let told = log.iter().any(|entry| entry.encode().contains("it slipped"));
        assert!(told, "the log says what happened");
    }
}
