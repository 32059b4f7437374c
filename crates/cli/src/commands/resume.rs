//! `windlass resume`: goes on where a conversation was left.

use std::process::ExitCode;

use crate::args::AgentArgs;
use crate::{setup, show};

pub(crate) async fn resume(conversation: String, agent: AgentArgs) -> anyhow::Result<ExitCode> {
    let windlass = setup::start(&agent).await?;
    let session = windlass.session(conversation);
    let run = session.resume().await?;
    show::watch(run, &session, agent.output_format).await
}
