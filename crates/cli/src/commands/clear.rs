//! `/clear`: a new conversation in the same folder. The old one stays as it is.

use std::process::ExitCode;

use windlass::ports::SessionEndReason;

use super::{local, newest, print};
use crate::args::Print;
use crate::look::local as words;
use crate::setup::{self, Asks};
use crate::show;

pub(super) async fn clear(print: &Print) -> anyhow::Result<ExitCode> {
    let old = match local::is_new(print) {
        true => None,
        false => Some(print::earlier(print).await?).flatten(),
    };
    let setup = setup::start_on(old.clone(), &print.agent, Asks::Nobody).await?;
    // The old one is left, whatever was named.
    let session = print::session(print, &setup, None).await?;
    let (store, place) = (setup.store.as_ref(), &print.agent.store);
    newest::begin_anew(session.lane(), store, place, &setup.workspace).await?;
    let old = old.map(|old| old.lane);
    if let Some(old) = &old {
        setup.windlass.session(old.clone()).end(SessionEndReason::Clear).await;
        show::print_hook_messages(&setup);
    }
    let said = words::cleared(session.lane(), old.as_ref());
    show::cleared(&said, old.as_ref(), (&session, &setup), &print.agent)?;
    Ok(ExitCode::SUCCESS)
}
