//! Prompts queued behind a run: the process that drives the conversation continues with them at
//! once. If it exited after its own result, it would interrupt them, so it drives them to their end
//! first.

use windlass::core::log::entry::Entry;
use windlass::core::log::ids::{LaneId, RunId, Seq};
use windlass::core::log::record::Record;
use windlass::core::message::content_block::ContentBlock;
use windlass::core::message::transcript::SegmentKind;
use windlass::core::run::child_runs::{OrphanedChild, child_lane, notification_run_id};
use windlass::core::run::conversation::Conversation;
use windlass::core::run::wanted::is_parked;
use windlass::{RunOutcome, RunStream, Session, StreamItem};

use super::follow_run::{FollowInterrupt, RunOrigin, RunView, follow_stream};
use super::parked_run::ParkedRun;
use super::signals::SignalListener;
use crate::args::AgentArgs;
use crate::messages;
use crate::setup::RunSetup;
use crate::terminal::print_note;

/// The number of entries read from the log at once.
const LOG_PAGE_ENTRIES: usize = 256;

/// The part of the log that was printed, and what was active at its end.
#[derive(Default)]
pub(super) struct PrintedLog {
    head: Seq,
    active_run: Option<RunId>,
    /// Whether this process drove the conversation when the last entry was printed.
    is_driven_here: bool,
}

impl PrintedLog {
    /// Notes an item of a stream that was printed.
    pub(super) fn observe(&mut self, item: &StreamItem, run: &RunStream) {
        let StreamItem::Entry(entry) = item else { return };
        self.head = entry.seq;
        self.is_driven_here = run.is_driven_here();
        entry.records.iter().for_each(|record| self.observe_record(record));
    }

    fn observe_record(&mut self, record: &Record) {
        match record {
            Record::RunStarted { run } => self.active_run = Some(run.clone()),
            Record::RunFinished { .. } => self.active_run = None,
            _ => {}
        }
    }
}

/// Drives queued prompts until no run is active, or a run needs an answer. `printed` is what was
/// printed of the run before them: a queued prompt may have ended already.
pub(super) async fn drive_queued_prompts(
    (session, setup): (&Session, &RunSetup),
    args: &AgentArgs,
    signals: &mut SignalListener,
    mut printed: PrintedLog,
) -> anyhow::Result<()> {
    if !printed.is_driven_here {
        return Ok(());
    }
    while let Some(queued) = wait_for_next_run(session, setup, &printed).await? {
        let mut run = session.follow(queued.clone(), printed.head).await?;
        let before = run.conversation_before().await?;
        let is_for_programs = args.output.is_for_programs();
        let mut view =
            match !is_for_programs && is_background_result(session.lane(), &before, &queued) {
                true => RunView::for_background_result(&before, setup, args),
                false => {
                    if !is_for_programs {
                        print_note(messages::RUNNING_QUEUED_PROMPT);
                    }
                    RunView::for_queued_prompt(&before, setup, args)
                }
            };
        let interrupt =
            follow_stream(&mut run, session, setup, &mut view, signals, RunOrigin::Other).await?;
        let queued = run.run().cloned();
        let end = run.wait_for_end().await?;
        if interrupt != FollowInterrupt::NotInterrupted {
            break;
        }
        let parked = ParkedRun::read(&end, queued.as_ref(), (session, setup)).await?;
        view.finish(&end, &parked, session).await?;
        if !matches!(end, RunOutcome::Finished(_)) {
            break;
        }
        printed = view.into_printed_log();
    }
    Ok(())
}

/// Returns whether the result of a sub-agent in the background starts a queued run: it belongs to the
/// prompt of this process.
fn is_background_result(lane: &LaneId, before: &Conversation, run: &RunId) -> bool {
    let starts_it = |child: &OrphanedChild| {
        notification_run_id(&child_lane(lane, child.call, child.part)) == *run
    };
    if before.background_children().any(starts_it) {
        return true;
    }
    // It has returned already: its result is queued, or the prompt of the active run.
    let is_result = |blocks: &[ContentBlock]| {
        let mut texts = blocks.iter().filter_map(ContentBlock::as_text);
        texts.any(|text| text.starts_with("<task-notification>"))
    };
    let queued = before.prompt_queue.iter().find(|prompt| prompt.run == *run);
    if let Some(prompt) = queued {
        return is_result(&prompt.blocks);
    }
    let is_active = before.run.as_ref().is_some_and(|active| active.id == *run);
    let mut newest = before.transcript.segments().iter().rev();
    let prompt = newest.find(|segment| segment.kind == SegmentKind::Prompt);
    is_active && prompt.is_some_and(|prompt| is_result(&prompt.blocks))
}

/// Returns the next run that this process drives or has driven after the printed part of the log.
/// If there is none, waits until the conversation is released, so that another process need not
/// wait for the end of the lease.
async fn wait_for_next_run(
    session: &Session,
    setup: &RunSetup,
    printed: &PrintedLog,
) -> anyhow::Result<Option<RunId>> {
    loop {
        let is_driven_here = session.is_driven_here();
        if let Some(run) = find_next_run(session, setup, printed).await? {
            let now = session.load_conversation().await?;
            let is_active = now.run.as_ref().is_some_and(|active| active.id == run);
            // A run that another process took over is left to it.
            let is_ours = !is_active || is_parked(&now) || session.is_driven_here();
            return Ok(is_ours.then_some(run));
        }
        if !is_driven_here {
            return Ok(None);
        }
        let mut entries = session.subscribe(printed.head);
        tokio::select! {
            () = session.wait_until_released() => {}
            item = entries.next() => drop(item?),
        }
    }
}

/// Finds the run that was active at the end of the printed part of the log, or else the first one
/// that started after it.
async fn find_next_run(
    session: &Session,
    setup: &RunSetup,
    printed: &PrintedLog,
) -> anyhow::Result<Option<RunId>> {
    let (mut head, mut next) = (printed.head, printed.active_run.clone());
    while next.is_none() {
        let page = setup.store.read_log(session.lane().clone(), head, LOG_PAGE_ENTRIES).await?;
        let Some(last) = page.last() else { return Ok(None) };
        head = last.seq;
        for stored in &page {
            next = next.or(started_run(&Entry::parse(stored.seq, &stored.line)?));
        }
    }
    Ok(next)
}

/// Returns the run that an entry starts.
fn started_run(entry: &Entry) -> Option<RunId> {
    entry.records.iter().find_map(|record| match record {
        Record::RunStarted { run } => Some(run.clone()),
        _ => None,
    })
}

/// Finds an active run of another prompt, behind which this prompt is queued.
pub(super) async fn find_other_active_run(
    session: &Session,
    setup: &RunSetup,
    own: Option<&RunId>,
) -> anyhow::Result<Option<Conversation>> {
    let lane = setup.store.lane_info(session.lane().clone()).await?;
    let active = lane.and_then(|lane| lane.active_run);
    match active.is_some_and(|active| Some(&active) != own) {
        true => Ok(Some(session.load_conversation().await?)),
        false => Ok(None),
    }
}
