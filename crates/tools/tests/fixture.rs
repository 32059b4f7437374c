//! Test fixtures: a workspace, calls, and checks of processes.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;
use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::log::ids::{CallId, LaneId};
use windlass_core::message::raw_json::RawJson;
use windlass_runtime::SystemClock;
use windlass_runtime::ports::{
    CallContext, CallHeartbeat, Clock, ProgressReporter, SourceReporter, Tool,
};
use windlass_tools::{BashTool, EditTool, ReadTool, ToolContext, WriteTool};

pub(crate) fn call_context() -> CallContext {
    CallContext {
        answered_requests: Vec::new(),
        files: None,
        lane: LaneId::from("conversation:test"),
        call: CallId { model_call: 1, index: 0 },
        idempotency_key: Arc::from("run-1:toolu_1"),
        attempt: 1,
        subject: windlass_core::permission::CallSubject::Nothing,
        settings: None,
        heartbeat: CallHeartbeat::default(),
        progress: ProgressReporter::default(),
        access: Default::default(),
        sources: SourceReporter::default(),
    }
}

pub(crate) fn json(text: &str) -> RawJson {
    RawJson::parse(text).unwrap()
}

/// A folder to work in, with the tools over it.
pub(crate) struct TestWorkspace {
    pub(crate) folder: TempDir,
    pub(crate) clock: Arc<SystemClock>,
    pub(crate) context: ToolContext,
}

impl TestWorkspace {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let context = ToolContext::new(folder.path());
        Self { folder, clock: Arc::new(SystemClock::start()), context }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path().join(name), bytes).unwrap();
    }

    pub(crate) fn bash(&self) -> BashTool {
        BashTool::new(&self.context, Arc::clone(&self.clock) as Arc<dyn Clock>)
    }

    pub(crate) fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock) as Arc<dyn Clock>
    }

    pub(crate) async fn pause(&self, ms: u64) {
        self.clock.sleep(ms).await;
    }

    pub(crate) async fn command(&self, command: &str) -> ToolOutcome {
        self.bash().run(call_context(), input(command, 60_000)).await
    }

    pub(crate) async fn command_within(&self, command: &str, timeout_ms: u64) -> ToolOutcome {
        self.bash().run(call_context(), input(command, timeout_ms)).await
    }

    pub(crate) async fn read(&self, input: &str) -> ToolOutcome {
        ReadTool::new(&self.context).run(call_context(), json(input)).await
    }

    pub(crate) async fn write_file(&self, path: &str, content: &str) -> ToolOutcome {
        let input = serde_json::json!({ "file_path": path, "content": content });
        WriteTool::new(&self.context).run(call_context(), json(&input.to_string())).await
    }

    pub(crate) async fn edit(&self, path: &str, old: &str, new: &str) -> ToolOutcome {
        let input = serde_json::json!({ "file_path": path, "old_string": old, "new_string": new });
        EditTool::new(&self.context).run(call_context(), json(&input.to_string())).await
    }

    /// Reads a file, as a model does before it edits.
    pub(crate) async fn read_first(&self, path: &str) {
        let input = serde_json::json!({ "file_path": path });
        success_text(self.read(&input.to_string()).await);
    }

    pub(crate) fn bytes(&self, path: &str) -> Vec<u8> {
        fs::read(self.path().join(path)).unwrap()
    }

    /// Returns the id of the process that a command wrote to a file, once it has done so.
    pub(crate) async fn pid(&self, name: &str) -> i32 {
        for _ in 0..500 {
            let text = fs::read_to_string(self.path().join(name)).unwrap_or_default();
            if let Some(pid) = text.strip_suffix('\n') {
                return pid.parse().unwrap();
            }
            self.clock.sleep(10).await;
        }
        panic!("nothing wrote its number to {name}");
    }

    /// Waits until a process has ended and returns how long that took.
    pub(crate) async fn wait_until_gone(&self, pid: i32, within_ms: u64) -> u64 {
        let start = self.clock.monotonic_ms();
        while is_alive(pid) {
            let waited = self.clock.monotonic_ms() - start;
            assert!(waited < within_ms, "process {pid} is still there after {waited} ms");
            self.clock.sleep(10).await;
        }
        self.clock.monotonic_ms() - start
    }
}

pub(crate) fn input(command: &str, timeout_ms: u64) -> RawJson {
    let command = RawJson::string(command);
    json(&format!(r#"{{"command": {}, "timeout": {timeout_ms}}}"#, command.text()))
}

/// Returns whether a process is running: a zombie is not.
pub(crate) fn is_alive(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

pub(crate) fn success_text(outcome: ToolOutcome) -> String {
    match outcome {
        ToolOutcome::Done(content) | ToolOutcome::DoneWithDetail { content, .. } => {
            content.read().unwrap()
        }
        other => panic!("{other:?}"),
    }
}

pub(crate) fn failure_of(outcome: ToolOutcome) -> ToolError {
    match outcome {
        ToolOutcome::Failed(error) => error,
        other => panic!("{other:?}"),
    }
}
