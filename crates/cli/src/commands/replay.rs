//! `windlass replay`: re-checks every decision of a conversation.

use std::process::ExitCode;

use windlass::core::conversation::Conversation;
use windlass::core::ids::LaneId;
use windlass::core::log::Entry;
use windlass::ports::StoreError;

use crate::args::StoreArgs;
use crate::{setup, show};

pub(crate) async fn replay(conversation: String, store: &StoreArgs) -> anyhow::Result<ExitCode> {
    let store = setup::store(store).await?;
    let lane = LaneId::from(conversation);
    let stored = store.read_log(lane.clone(), 0, usize::MAX).await?;
    if stored.is_empty() {
        return Err(StoreError::NoLane { lane }.into());
    }
    let mut replayed = Conversation::default();
    for line in &stored {
        replayed.verify(&Entry::parse(line.seq, &line.line)?)?;
    }
    show::line(&format!("replayed {} entries of {lane}: every decision is the same", stored.len()));
    Ok(ExitCode::SUCCESS)
}
