//! `windlass resume`: goes on with what was left in the middle.

use std::process::ExitCode;

use crate::args::AgentArgs;
use crate::{setup, show};

pub(crate) async fn resume(conversation: String, agent: AgentArgs) -> anyhow::Result<ExitCode> {
    let setup = setup::start(&agent).await?;
    let lane = setup::find(setup.store.as_ref(), &conversation).await?;
    let session = setup.windlass.session(lane);
    let run = session.resume().await?;
    show::watch(run, &session, &setup, &agent).await
}
