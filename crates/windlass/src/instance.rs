//! A running Windlass, which hands out sessions and runs the worker loop.

use std::sync::Arc;

use windlass_core::log::ids::LaneId;
use windlass_runtime::{LaneHost, Session, StoreStatusObserver, WorkerSettings, ports};

use crate::WindlassBuilder;

/// A running Windlass: drives conversations in this process. Clones share the same process state.
///
/// # Examples
///
/// A program that sends prompts and waits for their results:
///
/// ```
/// use windlass::{RunOutcome, Windlass, memory::MemoryStore, scripted::Script};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let windlass = Windlass::builder()
///     .scripted_model(Script::parse("when any\n  say \"Forty-two.\"\n")?)
///     .store(MemoryStore::new())
///     .start()
///     .await?;
/// let run = windlass.session("conversation:1").send("What is the answer?").await?;
/// let RunOutcome::Finished(end) = run.wait_for_end().await? else { panic!("not finished") };
/// assert_eq!(&*end.text, "Forty-two.");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Windlass {
    pub(crate) host: Arc<LaneHost>,
}

impl Windlass {
    /// Returns a builder with default settings.
    #[must_use]
    pub fn builder() -> WindlassBuilder {
        WindlassBuilder::default()
    }

    /// Returns a handle to the conversation on `lane`, which need not exist yet.
    ///
    /// A lane is the name of a conversation in the store. The command line names its own
    /// `conversation:` and a UUID; a program may use any text.
    #[must_use]
    pub fn session(&self, lane: impl Into<LaneId>) -> Session {
        self.host.session(lane)
    }

    /// Runs the worker loop with default settings: drives every runnable conversation of the store,
    /// whichever process started it, until [`Windlass::hand_over`] is called. Returns when all
    /// conversations of this process are released, or the time for handing over has passed.
    ///
    /// # Errors
    ///
    /// Returns a [`ports::StoreError`] if the store fails at the start, or later in a way that
    /// retrying cannot repair.
    ///
    /// # Examples
    ///
    /// One part of a program enqueues prompts, another one (usually another process with the same
    /// store) works on them:
    ///
    /// ```
    /// use windlass::{StreamItem, Windlass, memory::MemoryStore, scripted::Script};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let script = Script::parse("when any\n  say \"Done.\"\n")?;
    /// # let builder = Windlass::builder().scripted_model(script);
    /// let windlass = builder.store(MemoryStore::new()).start().await?;
    /// let session = windlass.session("conversation:1");
    /// session.enqueue("Do it.").await?; // durable from here on
    ///
    /// let worker = tokio::spawn({
    ///     let windlass = windlass.clone();
    ///     async move { windlass.run_worker().await }
    /// });
    /// let mut items = session.subscribe(0);
    /// let end = loop {
    ///     if let StreamItem::RunEnded(end) = items.next().await? {
    ///         break end;
    ///     }
    /// };
    /// assert_eq!(&*end.text, "Done.");
    ///
    /// windlass.hand_over();
    /// worker.await??;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn run_worker(&self) -> Result<(), ports::StoreError> {
        self.host.run_worker(WorkerSettings::default()).await
    }

    /// Runs the worker loop like [`Windlass::run_worker`], with the given intervals and limits.
    ///
    /// # Errors
    ///
    /// Returns a [`ports::StoreError`] if the store fails at the start, or later in a way that
    /// retrying cannot repair.
    pub async fn run_worker_with(&self, times: WorkerSettings) -> Result<(), ports::StoreError> {
        self.host.run_worker(times).await
    }

    /// Runs the worker loop like [`Windlass::run_worker_with`]. `observer` is called when the store
    /// stops responding, and when it responds again.
    ///
    /// # Errors
    ///
    /// Returns a [`ports::StoreError`] if the store fails at the start, or later in a way that
    /// retrying cannot repair.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::{StoreStatus, Windlass, WorkerSettings, memory::MemoryStore, scripted::Script};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let builder = Windlass::builder().scripted_model(Script::default());
    /// let windlass = builder.store(MemoryStore::new()).start().await?;
    /// # windlass.hand_over();
    /// let settings = WorkerSettings { idle_poll_ms: 500, ..WorkerSettings::default() };
    /// let report = |status: StoreStatus<'_>| eprintln!("store: {status:?}");
    /// windlass.run_worker_with_observer(settings, &report).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn run_worker_with_observer(
        &self,
        times: WorkerSettings,
        observer: StoreStatusObserver<'_>,
    ) -> Result<(), ports::StoreError> {
        self.host.run_worker_with_observer(times, observer).await
    }

    /// Stops driving: every conversation stops at its current step and is released, so that another
    /// process can continue it. Streams of its runs end with
    /// [`RunOutcome::HandedOver`](crate::RunOutcome::HandedOver).
    pub fn hand_over(&self) {
        self.host.hand_over();
    }

    /// Stops driving like [`Windlass::hand_over`], but lets running tool calls finish first if they
    /// do so within `grace_ms` milliseconds. No new effect is started meanwhile.
    pub fn hand_over_within(&self, grace_ms: u64) {
        self.host.hand_over_within(grace_ms);
    }

    /// Returns the store: for what a program keeps beside conversations, such as documents and the
    /// limits of tenants.
    #[must_use]
    pub fn store(&self) -> &dyn ports::Store {
        self.host.store()
    }

    /// Checks that the store responds.
    ///
    /// # Errors
    ///
    /// Returns a [`ports::StoreError`] if it does not.
    pub async fn check_store(&self) -> Result<(), ports::StoreError> {
        self.host.store().list_runs(None, 1).await.map(drop)
    }
}
