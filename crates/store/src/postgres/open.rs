//! Opening the database: what is not ours, too new, too old or read-only is named and left as it is.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;
use windlass_runtime::ports::StoreError;

use super::address::Statements;
use super::home::Home;
use super::link::Link;
use super::pause::Pauses;
use super::trouble::{Trouble, is_starting, unreachable};
use super::{migrate, server};

/// The connections that are there from the beginning.
pub(super) struct Opened {
    pub(super) appends: Link,
    pub(super) beats: Link,
}

/// Opens patiently: a server may be starting, restarting or full for a moment. One that says that it
/// is starting is given as long as any other work would wait for it.
pub(super) async fn open(home: &Arc<Home>) -> Result<Opened, StoreError> {
    match within(home, home.settings.opening).await {
        Err(error) if is_starting(&error) => within(home, home.settings.patience).await,
        outcome => outcome,
    }
}

async fn within(home: &Arc<Home>, patience: Duration) -> Result<Opened, StoreError> {
    let mut last = unreachable(home.place(), "it was never tried".to_owned()).into_error();
    let trying = async {
        let mut pauses = Pauses::new();
        loop {
            match attempt(home).await {
                Ok(opened) => return Ok(opened),
                Err(Trouble::Lost(error) | Trouble::Again(error)) => last = error,
                Err(other) => return Err(other.into_error()),
            }
            pauses.wait().await;
        }
    };
    match timeout(patience, trying).await {
        Ok(opened) => opened,
        Err(_) => Err(last),
    }
}

async fn attempt(home: &Arc<Home>) -> Result<Opened, Trouble> {
    let mut appends = Link::bare(home).await?;
    let mut beats = Link::bare(home).await?;
    // Two that are one would find each other's statements, so nothing is prepared until this is
    // known.
    home.stop_preparing();
    server::examine(&mut appends).await?;
    let is_pooled = server::is_pooled(&mut appends, &mut beats).await?;
    if home.address.statements == Statements::Prepared && !is_pooled {
        home.prepare_again();
    }
    migrate::migrate(&mut appends).await?;
    appends.set_up().await?;
    beats.set_up().await?;
    Ok(Opened { appends, beats })
}
