//! The facts behind the explanation of a run, for programs.

use windlass_core::log::ids::RunId;
use windlass_messages::{RunFacts, RunFactsBuilder};
use windlass_runtime::{DriveError, Session};

/// Entries that are read at once.
const PAGE_ENTRIES: usize = 1_000;

/// Reads what the log of a conversation says about one of its runs: failed calls and whether they
/// were made good, what repeated, what broke the prompt cache, what fills the context. `windlass
/// explain` makes its sentences of the same value.
///
/// ```
/// use windlass::Windlass;
/// use windlass::memory::MemoryStore;
/// use windlass::messages::read_run_facts;
/// use windlass::scripted::Script;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let script = "when results 0\n  call Nope {}\nwhen any\n  say \"Done.\"\n";
/// let windlass = Windlass::builder()
///     .scripted_model(Script::parse(script)?)
///     .store(MemoryStore::new())
///     .start()
///     .await?;
/// let session = windlass.session("conversation:1");
/// let stream = session.send("go").await?;
/// let run = stream.run().cloned().ok_or("a run that was sent has an id")?;
/// stream.wait_for_end().await?;
///
/// let facts = read_run_facts(&session, &run).await?;
/// assert_eq!(facts.failed_calls[0].tool, "Nope");
/// assert!(!facts.failed_calls[0].is_made_good);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns a [`DriveError`] if the store fails or the log cannot be read.
pub async fn read_run_facts(session: &Session, run: &RunId) -> Result<RunFacts, DriveError> {
    let mut builder = RunFactsBuilder::new(session.lane().clone(), run.clone());
    let mut after = 0;
    loop {
        let entries = session.read_entries(after, PAGE_ENTRIES).await?;
        let Some(last) = entries.last() else { return Ok(builder.finish()) };
        after = last.seq;
        for entry in &entries {
            builder.push(entry)?;
        }
    }
}
