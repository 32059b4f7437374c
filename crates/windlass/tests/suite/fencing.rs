//! A process that cannot renew its lease stops what it has in the air.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use windlass::core::facts::{Facts, Repeat};
use windlass::core::outcome::Outcome;
use windlass::core::raw::Raw;
use windlass::core::settings::ToolSpec;
use windlass::memory::MemoryStore;
use windlass::ports::{CallContext, Task, Tool};

use crate::kit::{builder, eventually, pause};

/// A tool that hangs and tells when it was dropped.
#[derive(Clone, Default)]
struct Hanging {
    runs: Arc<AtomicBool>,
    dropped: Arc<AtomicBool>,
}

struct Flag(Arc<AtomicBool>);

impl Drop for Flag {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl Tool for Hanging {
    fn spec(&self) -> ToolSpec {
        let input_schema = Raw::parse(r#"{"type":"object"}"#).unwrap();
        ToolSpec { name: Arc::from("Hang"), description: Arc::from("hangs"), input_schema }
    }

    fn assess(&self, _input: &Raw) -> Facts {
        Facts { repeat: Repeat::OnceOnly, ..Facts::default() }
    }

    fn run(&self, _context: CallContext, _input: Raw) -> Task<'_, Outcome> {
        let flag = Flag(Arc::clone(&self.dropped));
        self.runs.store(true, Ordering::SeqCst);
        Box::pin(async move {
            std::future::pending::<()>().await;
            drop(flag);
            Outcome::Done(Raw::string("never"))
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
    let hang = Hanging::default();
    let w =
        builder("when any\n  call Hang {}\n", store, &[]).tool(hang.clone()).start().await.unwrap();
    w.session("lane").send("go").await.unwrap().detach();
    eventually("the tool runs", || hang.runs.load(Ordering::SeqCst)).await;
    pause(200).await;
    assert!(!hang.dropped.load(Ordering::SeqCst), "while beats are answered it goes on");
    stuck.store(true, Ordering::SeqCst);
    eventually("the tool is dropped", || hang.dropped.load(Ordering::SeqCst)).await;
}
