//! A process that cannot renew its lease aborts its effects in flight.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use windlass::core::call::call_facts::{CallFacts, Repeatability};
use windlass::core::call::outcome::ToolOutcome;
use windlass::core::message::raw_json::RawJson;
use windlass::core::settings::conversation_settings::ToolSpec;
use windlass::memory::MemoryStore;
use windlass::ports::{BoxFuture, CallContext, Tool};

use crate::kit::{pause, wait_until, windlass_builder};

/// A tool that hangs and reports when it was dropped.
#[derive(Clone, Default)]
struct HangingTool {
    runs: Arc<AtomicBool>,
    dropped: Arc<AtomicBool>,
}

struct DropFlag(Arc<AtomicBool>);

impl Drop for DropFlag {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl Tool for HangingTool {
    fn spec(&self) -> ToolSpec {
        let input_schema = RawJson::parse(r#"{"type":"object"}"#).unwrap();
        ToolSpec { name: Arc::from("Hang"), description: Arc::from("hangs"), input_schema }
    }

    fn assess(&self, _input: &RawJson) -> CallFacts {
        CallFacts { repeat: Repeatability::OnceOnly, ..CallFacts::default() }
    }

    fn run(&self, _context: CallContext, _input: RawJson) -> BoxFuture<'_, ToolOutcome> {
        let flag = DropFlag(Arc::clone(&self.dropped));
        self.runs.store(true, Ordering::SeqCst);
        Box::pin(async move {
            std::future::pending::<()>().await;
            drop(flag);
            ToolOutcome::Done(RawJson::string("never"))
        })
    }
}

// spec: FAULT-38, FAULT-40
#[tokio::test]
async fn effects_are_dropped_when_the_lease_cannot_be_renewed() {
    let stuck = Arc::new(AtomicBool::new(false));
    let gate = Arc::clone(&stuck);
    let store = MemoryStore::new().with_hook(Arc::new(move |_| {
        let stuck = gate.load(Ordering::SeqCst);
        Box::pin(async move {
            if stuck {
                std::future::pending::<()>().await;
            }
        })
    }));
    let hang = HangingTool::default();
    let w = windlass_builder("when any\n  call Hang {}\n", store, &[])
        .tool(hang.clone())
        .start()
        .await
        .unwrap();
    w.session("lane").send("go").await.unwrap().detach();
    wait_until("the tool runs", || hang.runs.load(Ordering::SeqCst)).await;
    pause(200).await;
    assert!(!hang.dropped.load(Ordering::SeqCst), "while beats are answered it goes on");
    stuck.store(true, Ordering::SeqCst);
    wait_until("the tool is dropped", || hang.dropped.load(Ordering::SeqCst)).await;
}
