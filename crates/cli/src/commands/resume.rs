//! `windlass resume`: goes on where a conversation was left.

use std::process::ExitCode;

use crate::args::AgentArgs;
use crate::{setup, show};

pub(crate) async fn resume(conversation: String, agent: AgentArgs) -> anyhow::Result<ExitCode> {
    let windlass = setup::start(&agent).await?;
    let session = windlass.session(conversation.as_str());
    let run = session.resume().await?;
    show::watch(run, &conversation, agent.output_format).await
}
