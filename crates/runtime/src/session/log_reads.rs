//! What a session reads of the log, and the conversation that it folds to.

use windlass_core::log::entry::Entry;
use windlass_core::log::ids::Seq;
use windlass_core::run::conversation::Conversation;

use super::Session;
use crate::driver;
use crate::driver::DriveError;
use crate::ports::EncodedEntry;

impl Session {
    /// Loads the conversation as it was after entry `head`.
    ///
    /// # Errors
    ///
    /// Returns a [`DriveError`] if the store fails or the log cannot be read.
    pub async fn load_conversation_at(&self, head: Seq) -> Result<Conversation, DriveError> {
        driver::load_conversation_at(&self.host.agent().ports, &self.lane, head).await
    }

    /// Returns the last entry up to `last` after which no round of tool calls is open, which is where
    /// a fork begins; 0 if there is none.
    ///
    /// # Errors
    ///
    /// Returns a [`DriveError`] if the store fails or the log cannot be read.
    pub async fn last_closed_round(&self, last: Seq) -> Result<Seq, DriveError> {
        let mut subscriber = Conversation::default();
        let mut rest = 0;
        for entry in self.read_log().await? {
            if entry.seq > last {
                break;
            }
            subscriber.fold(&entry)?;
            if subscriber.has_no_open_round() {
                rest = entry.seq;
            }
        }
        Ok(rest)
    }

    /// Reads the whole log, oldest entry first.
    ///
    /// # Errors
    ///
    /// Returns a [`DriveError`] if the store fails or the log cannot be read.
    pub async fn read_log(&self) -> Result<Vec<Entry>, DriveError> {
        self.read_entries(0, usize::MAX).await
    }

    /// Reads entries after `after`, oldest first, at most `limit`.
    ///
    /// # Errors
    ///
    /// Returns a [`DriveError`] if the store fails or the log cannot be read.
    pub async fn read_entries(&self, after: Seq, limit: usize) -> Result<Vec<Entry>, DriveError> {
        let store = &self.host.agent().ports.store;
        let stored = store.read_log(self.lane.clone(), after, limit).await?;
        let parse = |entry: &EncodedEntry| Entry::parse(entry.seq, &entry.line);
        Ok(stored.iter().map(parse).collect::<Result<_, _>>()?)
    }

    /// Reads the entries after `after` and before `until`.
    pub(super) async fn read_entries_between(
        &self,
        after: Seq,
        until: Seq,
    ) -> Result<Vec<Entry>, DriveError> {
        let limit = usize::try_from(until.saturating_sub(after)).unwrap_or(usize::MAX);
        let mut between = self.read_entries(after, limit).await?;
        between.retain(|entry| entry.seq < until);
        Ok(between)
    }

    /// Loads the current state of the conversation by folding its log.
    ///
    /// # Errors
    ///
    /// Returns a [`DriveError`] if the store fails or the log cannot be read.
    pub async fn load_conversation(&self) -> Result<Conversation, DriveError> {
        driver::load_conversation(&self.host.agent().ports, &self.lane).await
    }
}
