//! `windlass acp`: serves an editor over standard input and output.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::bail;

use crate::args::AcpArgs;
use crate::editor_host::CliEditorHost;
use crate::exit::{ExitReason, OrUsageError};
use crate::output::{SignalAction, SignalListener};
use crate::setup;

pub(crate) async fn run(args: AcpArgs) -> anyhow::Result<ExitCode> {
    let AcpArgs { agent } = args;
    check_args(&agent).or_usage_error()?;
    let mut signals = SignalListener::new()?;
    let store = setup::open_store(&agent.store).await?;
    let host = Arc::new(CliEditorHost::new(agent, store));
    let mut reason = ExitReason::Success;
    let shutdown = async {
        reason = match signals.next().await {
            SignalAction::Cancel | SignalAction::Abort | SignalAction::Terminate => {
                ExitReason::Terminated
            }
            SignalAction::HangUp => ExitReason::HungUp,
        };
    };
    windlass_acp::serve(host, shutdown).await?;
    Ok(reason.to_exit_code())
}

/// The editor chooses the folder, and standard output belongs to the protocol.
fn check_args(args: &crate::args::AgentArgs) -> anyhow::Result<()> {
    if args.permissions.workspace.as_os_str() != "." {
        bail!("--workspace has no meaning with `acp`; the editor names the folder of each session");
    }
    Ok(())
}
