//! Runs of all conversations, and prompts that are accepted for any worker.

use std::collections::BTreeSet;

use windlass_core::log::ids::{LaneId, RunId, Seq, UnixMillis};
use windlass_core::log::inbox::InboxCommand;
use windlass_core::log::input::Input;
use windlass_core::message::content_block::ContentBlock;
use windlass_core::settings::run_settings::RunSettings;
use windlass_core::stop::RunState;
use windlass_runtime::{DriveError, Session};

use crate::Windlass;
use crate::ports::{DEFAULT_TENANT, LaneInfo, RunInfo, StoreError};

/// Runs that are read by the first search; each further search reads ten times more.
const FIRST_SEARCH_RUNS: usize = 500;

/// Unread messages that are searched for a prompt.
const SEARCHED_MESSAGES: usize = 4_096;

/// Which runs are listed. A field that is `None` or empty matches all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunQuery {
    /// Runs of this tenant only.
    pub tenant: Option<String>,
    /// These runs only.
    pub runs: Option<BTreeSet<RunId>>,
    /// Runs of this conversation only.
    pub lane: Option<LaneId>,
    /// Runs in one of these states.
    pub states: Vec<RunState>,
    /// Runs that this agent drives.
    pub agent: Option<String>,
    /// Runs under this profile.
    pub profile: Option<String>,
    /// Runs that call this model.
    pub model: Option<String>,
    /// Runs whose prompt or answer contains this text, whatever the case of its letters.
    pub text: Option<String>,
    /// Runs that reached their state at this time or later.
    pub since: Option<UnixMillis>,
    /// Runs that reached their state before this time.
    pub until: Option<UnixMillis>,
    /// Runs that were started before this one.
    pub before: Option<RunId>,
}

impl RunQuery {
    /// Returns whether a run is one of those that are listed, wherever it stands in the list.
    #[must_use]
    pub fn matches(&self, run: &RunInfo) -> bool {
        let about = &run.description;
        let is = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| found == Some(wanted))
        };
        (self.states.is_empty() || self.states.contains(&run.state))
            && is(&self.tenant, Some(&run.tenant))
            && self.runs.as_ref().is_none_or(|runs| runs.contains(&run.run))
            && is(&self.agent, about.agent.as_deref())
            && is(&self.profile, about.profile.as_deref())
            && is(&self.model, about.model.as_deref())
            && self.since.is_none_or(|since| run.at >= since)
            && self.until.is_none_or(|until| run.at < until)
            && self.text.as_deref().is_none_or(|text| contains_text(run, text))
    }
}

fn contains_text(run: &RunInfo, wanted: &str) -> bool {
    let wanted = wanted.to_lowercase();
    let texts = [run.description.prompt.as_deref(), run.text.as_deref()];
    texts.into_iter().flatten().any(|text| text.to_lowercase().contains(&wanted))
}

/// A part of a list of runs, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunPage {
    /// The runs.
    pub runs: Vec<RunInfo>,
    /// Whether older runs match, too.
    pub has_more: bool,
}

/// Whether a prompt was new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptAcceptance {
    /// The prompt is in the conversation: now, or since the same one was sent before.
    Accepted,
    /// Another prompt was accepted under the same id, and stays.
    IdInUse,
}

/// How a prompt reaches a conversation that is busy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptDelivery {
    /// As a run of its own, after those before it.
    Queue {
        /// Settings of the run; without them it has those of its worker.
        settings: Option<Box<RunSettings>>,
    },
    /// To the active run, after its current round; a run of its own if none is active.
    Steer,
}

impl Windlass {
    /// Returns a run of any conversation; `None` if there is no such run.
    ///
    /// # Errors
    ///
    /// Returns a [`StoreError`] if the store fails.
    pub async fn find_run(&self, run: &RunId) -> Result<Option<RunInfo>, StoreError> {
        self.host.store().find_run(run.clone()).await
    }

    /// Returns the state of a conversation in the store; `None` if there is no such conversation.
    ///
    /// # Errors
    ///
    /// Returns a [`StoreError`] if the store fails.
    pub async fn find_conversation(&self, lane: &LaneId) -> Result<Option<LaneInfo>, StoreError> {
        self.host.store().lane_info(lane.clone()).await
    }

    /// Lists runs of all conversations, newest first, at most `limit`.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Invalid`] if the run to continue after does not exist, and another
    /// [`StoreError`] if the store fails.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::core::stop::RunState;
    /// use windlass::{RunQuery, Windlass, memory::MemoryStore, scripted::Script};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let builder = Windlass::builder().scripted_model(Script::default());
    /// let windlass = builder.store(MemoryStore::new()).start().await?;
    /// windlass.session("conversation:1").enqueue("Do it.").await?;
    /// let queued = RunQuery { states: vec![RunState::Queued], ..RunQuery::default() };
    /// let page = windlass.list_runs(&queued, 10).await?;
    /// assert_eq!((page.runs.len(), page.has_more), (1, false));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn list_runs(&self, query: &RunQuery, limit: usize) -> Result<RunPage, StoreError> {
        let mut searched = FIRST_SEARCH_RUNS.max(limit);
        loop {
            let all = self.host.store().list_runs(query.lane.clone(), searched).await?;
            let is_complete = all.len() < searched;
            let start = match &query.before {
                None => Some(0),
                Some(before) => {
                    all.iter().position(|run| run.run == *before).map(|place| place + 1)
                }
            };
            if let Some(start) = start {
                let older = all.into_iter().skip(start);
                let mut runs: Vec<RunInfo> =
                    older.filter(|run| query.matches(run)).take(limit + 1).collect();
                if is_complete || runs.len() > limit {
                    let has_more = runs.len() > limit;
                    runs.truncate(limit);
                    return Ok(RunPage { runs, has_more });
                }
            } else if is_complete {
                let message = "the run to continue after does not exist; begin again".to_owned();
                return Err(StoreError::Invalid { message });
            }
            searched = searched.saturating_mul(10);
        }
    }

    /// Accepts a prompt for any worker under a run id that the caller chose. Sending the same
    /// prompt again changes nothing; another prompt under the same id is not accepted.
    ///
    /// # Errors
    ///
    /// Returns a [`DriveError`] if the id is not a UUID, or the store fails.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::core::log::ids::RunId;
    /// use windlass::core::message::content_block::ContentBlock;
    /// use windlass::{PromptAcceptance, PromptDelivery, Windlass};
    /// use windlass::{memory::MemoryStore, scripted::Script};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let builder = Windlass::builder().scripted_model(Script::default());
    /// let windlass = builder.store(MemoryStore::new()).start().await?;
    /// let session = windlass.session("conversation:1");
    /// let run = RunId::from_name("order 17");
    /// let queue = PromptDelivery::Queue { settings: None };
    /// for (text, expected) in [
    ///     ("Ship it.", PromptAcceptance::Accepted),
    ///     ("Ship it.", PromptAcceptance::Accepted),
    ///     ("Cancel it.", PromptAcceptance::IdInUse),
    /// ] {
    ///     let blocks = vec![ContentBlock::text(text)];
    ///     let accepted = windlass.accept_prompt(&session, &run, blocks, queue.clone()).await?;
    ///     assert_eq!(accepted, expected);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn accept_prompt(
        &self,
        session: &Session,
        run: &RunId,
        blocks: Vec<ContentBlock>,
        delivery: PromptDelivery,
    ) -> Result<PromptAcceptance, DriveError> {
        self.accept_prompt_of(DEFAULT_TENANT, session, run, blocks, delivery).await
    }

    /// Accepts a prompt of a tenant, like [`Windlass::accept_prompt`], within the limits of the
    /// tenant. A new conversation belongs to the tenant.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::LimitReached`] if the tenant has reached a limit,
    /// [`StoreError::LaneNotFound`] if the conversation belongs to another one, and another
    /// [`DriveError`] if the id is not a UUID, or the store fails.
    pub async fn accept_prompt_of(
        &self,
        tenant: &str,
        session: &Session,
        run: &RunId,
        blocks: Vec<ContentBlock>,
        delivery: PromptDelivery,
    ) -> Result<PromptAcceptance, DriveError> {
        let lane = session.lane();
        let head = self.find_conversation(lane).await?.map_or(0, |lane| lane.head);
        let sent = match delivery {
            PromptDelivery::Queue { settings } => {
                let settings = settings.map(|settings| *settings);
                let own = settings.clone();
                session.enqueue_for_tenant(tenant, run, blocks.clone(), own).await?;
                let settings = settings.map(std::sync::Arc::new);
                InboxCommand::Prompt { run: run.clone(), blocks, settings }
            }
            PromptDelivery::Steer => {
                session.steer_as(run.clone(), blocks.clone()).await?;
                InboxCommand::Steer { run: run.clone(), blocks }
            }
        };
        let stored = self.find_prompt(session, run, head).await?;
        Ok(match stored.is_none_or(|stored| stored == sent) {
            true => PromptAcceptance::Accepted,
            false => PromptAcceptance::IdInUse,
        })
    }

    /// Returns the prompt that was accepted under an id: it is unread, or an entry has read it,
    /// most probably one after `head`.
    async fn find_prompt(
        &self,
        session: &Session,
        run: &RunId,
        head: Seq,
    ) -> Result<Option<InboxCommand>, DriveError> {
        let unread =
            self.host.store().read_inbox(session.lane().clone(), SEARCHED_MESSAGES).await?;
        if let Some(found) = unread.into_iter().find(|message| is_prompt(&message.body, run)) {
            return Ok(Some(found.body));
        }
        for after in [head, 0] {
            for entry in session.read_entries(after, usize::MAX).await? {
                if let Input::CommandsReceived { messages } = entry.input
                    && let Some(found) = messages.iter().find(|it| is_prompt(&it.body, run))
                {
                    return Ok(Some(found.body.clone()));
                }
            }
        }
        Ok(None)
    }
}

fn is_prompt(command: &InboxCommand, wanted: &RunId) -> bool {
    match command {
        InboxCommand::Prompt { run, .. } | InboxCommand::Steer { run, .. } => run == wanted,
        _ => false,
    }
}
