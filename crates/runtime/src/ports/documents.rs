//! Documents: what a server keeps beside conversations, such as tokens, webhooks and schedules. The
//! store knows their place and version, not their content.

use std::sync::Arc;

use windlass_core::log::ids::UnixMillis;
use windlass_core::stop::{RunState, StopCause};

/// The kind of the documents that an append leaves for every run that ended or began to wait for a
/// human, where its tenant has a document of the kind [`WEBHOOK_KIND`].
pub const RUN_CHANGE_KIND: &str = "run_change";

/// The kind of documents whose presence makes appends leave run changes.
pub const WEBHOOK_KIND: &str = "webhook";

/// The tenant of conversations that were started without one.
pub const DEFAULT_TENANT: &str = "default";

/// A document, identified by its kind and its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// What it is, such as `token`.
    pub kind: Arc<str>,
    /// Identifies the document among those of its kind; lists are in the order of keys.
    pub key: Arc<str>,
    /// The tenant that it belongs to.
    pub tenant: Arc<str>,
    /// What it is about, to find it by; may be empty.
    pub subject: Arc<str>,
    /// When something is to be done about it.
    pub due_at: Option<UnixMillis>,
    /// Counts the writes of the document. The version of a document that is written is ignored.
    pub version: u64,
    /// The content, as JSON.
    pub body: Arc<str>,
}

/// Which document is replaced by a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteCondition {
    /// None: the document must not exist.
    Absent,
    /// The document must have this version.
    Version(u64),
}

/// Which documents of a kind are listed, and in which order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocumentFilter {
    /// All, in the order of keys.
    All,
    /// Those about a subject, in the order of keys.
    Subject(Arc<str>),
    /// Those that are due at this moment or were before, in the order in which they were due.
    DueUntil(UnixMillis),
}

/// A query for documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentQuery {
    /// The kind.
    pub kind: Arc<str>,
    /// The tenant that they belong to; all if not given.
    pub tenant: Option<Arc<str>>,
    /// Which documents.
    pub filter: DocumentFilter,
    /// Only documents with later keys.
    pub after: Arc<str>,
    /// Documents at most.
    pub limit: usize,
}

/// What a tenant may use. A limit that is not given does not apply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TenantLimits {
    /// Prompts that wait to be taken by a worker.
    pub queued_prompts: Option<u64>,
    /// Conversations that are driven at the same moment, without those of sub-agents.
    pub active_runs: Option<u64>,
    /// Micro-dollars of all runs of a day, in UTC.
    pub usd_micros_per_day: Option<u64>,
}

/// A tenant with its limits.
pub type LimitedTenant = (Arc<str>, TenantLimits);

/// How many runs are in a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunCount {
    /// The state.
    pub state: RunState,
    /// Why they ended, if they did.
    pub cause: Option<StopCause>,
    /// The number of runs.
    pub count: u64,
}
