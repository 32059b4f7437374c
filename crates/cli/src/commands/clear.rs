//! `/clear`: starts a new conversation in the same folder. The old one is kept.

use std::process::ExitCode;

use windlass::ports::SessionEndReason;

use super::{local_commands, newest_conversation, print};
use crate::args::PrintArgs;
use crate::messages::local_command as words;
use crate::output;
use crate::setup::{self, ModelNeed};

pub(super) async fn run(print: &PrintArgs) -> anyhow::Result<ExitCode> {
    let old = match local_commands::is_new_conversation(print) {
        true => None,
        false => Some(print::find_named_conversation(print).await?).flatten(),
    };
    let setup =
        setup::start_for_conversation(old.clone(), &print.agent, ModelNeed::NotNeeded).await?;
    // A new session in any case, even if a conversation was named.
    let session = print::open_session(print, &setup, None).await?;
    let (store, store_args) = (setup.store.as_ref(), &print.agent.store);
    newest_conversation::record_cleared_conversation(
        session.lane(),
        store,
        store_args,
        &setup.workspace,
    )
    .await?;
    let old = old.map(|old| old.lane);
    if let Some(old) = &old {
        setup.windlass.session(old.clone()).close(SessionEndReason::Clear).await;
        output::print_hook_messages(&setup);
    }
    let text = words::conversation_cleared(session.lane(), old.as_ref());
    output::print_cleared(&text, old.as_ref(), (&session, &setup), &print.agent)?;
    Ok(ExitCode::SUCCESS)
}
