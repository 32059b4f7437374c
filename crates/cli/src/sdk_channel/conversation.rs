//! Which conversation the channel serves: a new one, one that is resumed, perhaps at an earlier
//! message, a copy of one, or one that goes on from the transcript of another program.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::bail;
use windlass::Session;
use windlass::core::log::entry::Entry;
use windlass::core::log::ids::LaneId;
use windlass::core::log::inbox::HistorySource;
use windlass::core::message::transcript::Transcript;
use windlass::messages::{MessagePlace, find_message};
use windlass::ports::Store;
use windlass::tools::remove_tool_state;

use crate::args::PrintArgs;
use crate::commands::newest_conversation;
use crate::config::paths;
use crate::inspect::id_lookup::{self, LANE_PREFIX};
use crate::setup::{self, OpenConversation, RunSetup};
use crate::transcript::{self, TranscriptChain, TranscriptFiles};

/// Why there is no conversation to serve. The program gets it as a result.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct NoConversation(String);

/// What the conversation starts with.
#[derive(Default)]
pub(super) struct FoundConversation {
    /// The conversation that is continued or copied; `None` for a new one.
    pub(super) stored: Option<OpenConversation>,
    /// What the model sees instead of the messages that are stored.
    history: Option<GivenHistory>,
}

/// A history that replaces what is stored, or that nothing is stored of.
enum GivenHistory {
    /// The conversation up to a message.
    Cut { place: Box<MessagePlace>, last_message: String },
    /// The transcript of another program, and the session that it is of.
    Imported { chain: TranscriptChain, session_id: String },
}

/// Finds the conversation that is continued.
pub(super) async fn find(print: &PrintArgs) -> anyhow::Result<FoundConversation> {
    if print.session.no_session_persistence {
        let stored = Some(OpenConversation::in_memory(print.session_id.as_deref()));
        return Ok(FoundConversation { stored, history: None });
    }
    if print.resume.is_none() && !print.continue_newest {
        return Ok(FoundConversation::default());
    }
    let store = setup::open_store(&print.agent.store).await?;
    let workspace = paths::resolve_folder(&print.agent.permissions.workspace, "--workspace")?;
    let lane = find_lane(print, &store, &workspace).await?;
    let session_id = lane.session_id().to_owned();
    let is_stored = store.lane_info(lane.clone()).await?.is_some();
    let mut found = FoundConversation::default();
    if !is_stored {
        found.history = Some(import(&workspace, &session_id)?);
    }
    if let Some(uuid) = &print.sdk.resume_session_at {
        let log = if is_stored { read_log(store.as_ref(), &lane).await? } else { Vec::new() };
        let cut = match find_message(&lane, &log, uuid) {
            Some(place) => GivenHistory::at_place(place, uuid, print)?,
            None => GivenHistory::at_line(&workspace, &session_id, uuid, print)?,
        };
        found.history = Some(cut);
    }
    found.stored = is_stored.then_some(OpenConversation { store, lane });
    Ok(found)
}

async fn find_lane(
    print: &PrintArgs,
    store: &Arc<dyn Store>,
    workspace: &Path,
) -> anyhow::Result<LaneId> {
    let missing = |error: anyhow::Error| NoConversation(error.to_string());
    match &print.resume {
        Some(id) if uuid::Uuid::parse_str(id).is_ok() => {
            let lane = LaneId::from(format!("{LANE_PREFIX}{id}"));
            if transcript::is_deleted(id) {
                remove_conversation(store.as_ref(), &lane).await?;
                bail!(unknown_session(id));
            }
            Ok(lane)
        }
        Some(name) => match transcript::sessions_with_title(workspace, name).as_slice() {
            [session_id] => Ok(LaneId::from(format!("{LANE_PREFIX}{session_id}"))),
            [] => {
                let target = id_lookup::find_target(store.as_ref(), Some(name), workspace).await;
                Ok(target.map_err(missing)?.lane)
            }
            several => bail!(NoConversation(format!(
                "{} conversations have the title `{name}`; name one by its id: {}",
                several.len(),
                several.join(", ")
            ))),
        },
        None => Ok(newest_conversation::find_conversation_to_continue(
            store.as_ref(),
            &print.agent.store,
            workspace,
        )
        .await
        .map_err(missing)?),
    }
}

fn unknown_session(id: &str) -> NoConversation {
    NoConversation(format!("No conversation found with session ID: {id}"))
}

async fn read_log(store: &dyn Store, lane: &LaneId) -> anyhow::Result<Vec<Entry>> {
    let stored = store.read_log(lane.clone(), 0, usize::MAX).await?;
    Ok(stored.iter().map(|entry| Entry::parse(entry.seq, &entry.line)).collect::<Result<_, _>>()?)
}

fn import(workspace: &Path, session_id: &str) -> anyhow::Result<GivenHistory> {
    let path = transcript::find_transcript(workspace, session_id)
        .ok_or_else(|| unknown_session(session_id))?;
    let chain = TranscriptChain::read(&path)?.ok_or_else(|| unknown_session(session_id))?;
    Ok(GivenHistory::Imported { chain, session_id: session_id.to_owned() })
}

impl GivenHistory {
    fn at_place(place: MessagePlace, uuid: &str, print: &PrintArgs) -> anyhow::Result<Self> {
        check_dropped_turn(print, uuid, place.next_prompt.as_deref())?;
        Ok(Self::Cut { place: Box::new(place), last_message: uuid.to_owned() })
    }

    /// The transcript up to a message that the log does not have: another program wrote it.
    fn at_line(
        workspace: &Path,
        session_id: &str,
        uuid: &str,
        print: &PrintArgs,
    ) -> anyhow::Result<Self> {
        let unknown = || NoConversation(format!("No message found with message.uuid of: {uuid}"));
        let mut chain = match transcript::find_transcript(workspace, session_id) {
            Some(path) => TranscriptChain::read(&path)?.ok_or_else(unknown)?,
            None => bail!(unknown()),
        };
        let next_prompt = chain.cut_after(uuid).ok_or_else(unknown)?;
        check_dropped_turn(print, uuid, next_prompt.as_deref())?;
        Ok(Self::Imported { chain, session_id: session_id.to_owned() })
    }
}

/// Checks that the first turn that is dropped is the one that the program expects.
fn check_dropped_turn(print: &PrintArgs, kept: &str, next: Option<&str>) -> anyhow::Result<()> {
    let Some(expected) = &print.sdk.resume_drops_turn else { return Ok(()) };
    if next == Some(expected) {
        return Ok(());
    }
    let found = match next {
        Some(next) => format!("the prompt after message {kept} is {next}"),
        None => format!("no prompt follows message {kept}"),
    };
    bail!(NoConversation(format!(
        "Resume rejected by --resume-drops-turn: {found}, not {expected}"
    )))
}

/// Opens the conversation that is continued, a copy of it, or a new one.
pub(super) async fn open(
    print: &PrintArgs,
    setup: &RunSetup,
    found: FoundConversation,
) -> anyhow::Result<Session> {
    let FoundConversation { stored, history } = found;
    let is_new = stored.is_none() && history.is_none();
    let new_lane = match &print.session_id {
        Some(id) if is_new || print.fork_session => {
            let lane = LaneId::from(format!("{LANE_PREFIX}{id}"));
            if setup.store.lane_info(lane.clone()).await?.is_some() {
                bail!("Error: Session ID {id} is already in use.");
            }
            lane
        }
        _ => LaneId::from(format!("{LANE_PREFIX}{}", setup::new_id())),
    };
    let at = |lane: LaneId| setup.windlass.session(lane);
    match (stored, history) {
        (None, None) => Ok(at(new_lane)),
        (Some(old), None) if print.fork_session => Ok(at(old.lane).fork_as(new_lane, None).await?),
        (Some(old), None) => Ok(at(old.lane)),
        (Some(old), Some(GivenHistory::Cut { place, last_message })) if print.fork_session => {
            let fork = at(old.lane).fork_as(new_lane, Some(place.end)).await?;
            // A fork ends with a whole entry, which may have more.
            if !place.is_whole {
                fork.replace_history(&place.transcript, rewound(&place, &last_message)).await?;
            }
            Ok(fork)
        }
        (Some(old), Some(GivenHistory::Cut { place, last_message })) => {
            let session = at(old.lane);
            end_unfinished_run(&session, setup).await?;
            session.replace_history(&place.transcript, rewound(&place, &last_message)).await?;
            Ok(session)
        }
        (stored, Some(GivenHistory::Imported { chain, session_id })) => {
            let lane = match stored {
                _ if print.fork_session => new_lane,
                Some(old) => old.lane,
                None => LaneId::from(format!("{LANE_PREFIX}{session_id}")),
            };
            let session = at(lane);
            end_unfinished_run(&session, setup).await?;
            take_over(&session, chain, &setup.workspace, print.fork_session).await?;
            Ok(session)
        }
        (None, Some(GivenHistory::Cut { .. })) => bail!("no conversation is stored to be cut"),
    }
}

fn rewound(place: &MessagePlace, last_message: &str) -> HistorySource {
    HistorySource::Rewound { at: place.end, last_message: Arc::from(last_message) }
}

/// Makes the messages of a transcript those of a conversation. A copy has them in its own
/// transcript too.
async fn take_over(
    session: &Session,
    chain: TranscriptChain,
    workspace: &Path,
    is_copy: bool,
) -> anyhow::Result<()> {
    let history: Transcript = chain.history()?;
    let last_message = Arc::from(chain.last_message());
    if let Some(files) =
        TranscriptFiles::of_conversation(workspace, session.lane()).filter(|_| is_copy)
    {
        let file: PathBuf = files.main_file();
        TranscriptFiles::append(&file, &chain.into_lines_of(session.lane().session_id()))?;
    }
    Ok(session.replace_history(&history, HistorySource::Imported { last_message }).await?)
}

/// Ends the run that an earlier process did not finish: what it was about is left out.
async fn end_unfinished_run(session: &Session, setup: &RunSetup) -> anyhow::Result<()> {
    let lane = setup.store.lane_info(session.lane().clone()).await?;
    let Some(run) = lane.and_then(|lane| lane.active_run) else { return Ok(()) };
    session.abort(Some(run)).await?;
    session.resume().await?.wait_for_end().await?;
    Ok(())
}

/// Removes a conversation whose transcript a program has deleted. One whose run is not finished, or
/// that a copy needs, stays in the store.
async fn remove_conversation(store: &dyn Store, lane: &LaneId) -> anyhow::Result<()> {
    if store.lane_info(lane.clone()).await?.is_none() {
        return Ok(());
    }
    let Ok(removed) = store.remove_lane(lane.clone()).await else { return Ok(()) };
    let folder = paths::tool_state_folder(&paths::state_folder()?);
    for lane in &removed.lanes {
        remove_tool_state(&folder, lane)?;
    }
    Ok(transcript::remove_transcripts(&removed.lanes)?)
}

/// Removes every conversation whose transcript a program has deleted.
pub(super) async fn remove_deleted(store: &dyn Store) {
    for lane in transcript::deleted_conversations() {
        if let Err(error) = remove_conversation(store, &lane).await {
            tracing::warn!(%error, %lane, "cannot remove a conversation that was deleted");
        }
    }
}
