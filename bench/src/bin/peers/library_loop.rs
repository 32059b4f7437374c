//! The library as a program uses it: a provider's adapter, a store, and a tool that reads a file.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Result, anyhow, ensure};
use windlass::core::call::call_facts::{CallFacts, Repeatability};
use windlass::core::call::call_order::TouchedResources;
use windlass::core::call::outcome::ToolOutcome;
use windlass::core::message::raw_json::RawJson;
use windlass::core::settings::conversation_settings::ToolSpec;
use windlass::memory::MemoryStore;
use windlass::ports::{BoxFuture, CallContext, Store, Tool};
use windlass::sqlite::SqliteStore;
use windlass::{RunOutcome, Windlass};
use windlass_bench::read_job::{self, PROMPT, SYSTEM};
use windlass_providers::catalog::provider_table::{Credential, Dialect, WireFormat};
use windlass_providers::{CallOptions, Endpoint, RemoteModel, SharedServices};
use windlass_runtime::SystemClock;

/// The file of a SQLite store in its folder.
pub(crate) const STORE_FILE: &str = "peers.db";

/// Where the conversations are kept.
#[derive(Clone, Copy)]
pub(crate) enum StoreKind<'a> {
    Memory,
    Sqlite(&'a Path),
}

#[derive(Clone)]
pub(crate) struct LibraryLoop {
    windlass: Windlass,
    read_path: Arc<ReadPath>,
    next_conversation: Arc<AtomicU64>,
}

/// The file of the job, which is known when the first conversation starts.
type ReadPath = std::sync::OnceLock<PathBuf>;

impl LibraryLoop {
    pub(crate) async fn new(url: &str, store: StoreKind<'_>) -> Result<Self> {
        let store: Arc<dyn Store> = match store {
            StoreKind::Memory => Arc::new(MemoryStore::default()),
            StoreKind::Sqlite(folder) => Arc::new(SqliteStore::open(folder.join(STORE_FILE))?),
        };
        let read_path = Arc::new(ReadPath::new());
        let tool = ReadTool { path: Arc::clone(&read_path), reads: AtomicU64::new(0) };
        let windlass = Windlass::builder()
            .model(open_model(url)?)
            .shared_store(store)
            .tool(tool)
            .allow("Read")
            .settings(|settings| settings.system = Arc::from(SYSTEM))
            .start()
            .await?;
        Ok(Self { windlass, read_path, next_conversation: Arc::default() })
    }

    pub(crate) async fn converse(&self, turns: usize, file: &Path) -> Result<()> {
        self.read_path.get_or_init(|| file.to_path_buf());
        let number = self.next_conversation.fetch_add(1, Ordering::Relaxed);
        let session = self.windlass.session(format!("conversation:{number}"));
        match session.send(PROMPT).await?.wait_for_end().await? {
            RunOutcome::Finished(ended) => {
                let rounds = usize::try_from(ended.counters.tool_rounds)?;
                ensure!(rounds == turns, "{rounds} turns instead of {turns}: {:?}", ended.cause);
                Ok(())
            }
            other => Err(anyhow!("the run did not finish: {other:?}")),
        }
    }
}

fn open_model(url: &str) -> Result<RemoteModel> {
    let endpoint = Endpoint {
        provider: Arc::from("bench"),
        format: WireFormat::AnthropicMessages,
        base_url: url.to_owned(),
        credential: Credential::None,
        dialect: Dialect::default(),
        model: Arc::from("bench"),
    };
    let shared = SharedServices::new(Arc::new(SystemClock::start()));
    RemoteModel::new(endpoint, shared, CallOptions::default())
        .map_err(|failure| anyhow!("{}", failure.message))
}

/// Reads the file in place. The number of the read makes each result another one: a model that gets
/// the same result again and again is stopped.
struct ReadTool {
    path: Arc<ReadPath>,
    reads: AtomicU64,
}

impl Tool for ReadTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: Arc::from("Read"),
            description: Arc::from("Reads a file."),
            input_schema: RawJson::encode(
                &serde_json::from_str::<serde_json::Value>(read_job::TOOL_SCHEMA)
                    .unwrap_or_default(),
            ),
        }
    }

    fn assess(&self, _input: &RawJson) -> CallFacts {
        CallFacts {
            touches: TouchedResources::Reads(Vec::new()),
            repeat: Repeatability::Repeatable,
            ..CallFacts::default()
        }
    }

    fn run(&self, _context: CallContext, _input: RawJson) -> BoxFuture<'_, ToolOutcome> {
        let number = self.reads.fetch_add(1, Ordering::Relaxed);
        let text = self.path.get().map(|path| read_job::read_file(path));
        let text = text.and_then(Result::ok).unwrap_or_default();
        Box::pin(std::future::ready(ToolOutcome::Done(RawJson::string(&format!(
            "{number} {text}"
        )))))
    }
}
