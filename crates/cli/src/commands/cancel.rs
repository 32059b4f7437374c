//! `windlass cancel`: asks the active run to end.

use std::process::ExitCode;
use std::sync::Arc;

use windlass::core::ids::LaneId;
use windlass::core::mail::MailBody;
use windlass::ports::{Letter, StoreError};

use crate::args::StoreArgs;
use crate::{setup, show};

pub(crate) async fn cancel(conversation: String, store: &StoreArgs) -> anyhow::Result<ExitCode> {
    let store = setup::store(store).await?;
    let lane = LaneId::from(conversation);
    if store.lane(lane.clone()).await?.is_none() {
        return Err(StoreError::NoLane { lane }.into());
    }
    let key = Arc::from(setup::new_id());
    let letter = Letter { key, body: MailBody::Cancel { run: None } };
    store.deliver(lane.clone(), letter).await?;
    show::line(&format!("asked the active run of {lane} to end"));
    Ok(ExitCode::SUCCESS)
}
