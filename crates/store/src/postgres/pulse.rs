//! The connection that is kept for beats alone: however long the others are busy, this process can
//! say that it lives.

use std::sync::Arc;

use tokio::sync::Mutex;
use tokio::time::timeout;
use windlass_runtime::ports::{StoreError, WorkerId};

use super::claim;
use super::home::Home;
use super::link::Link;
use super::pause::Pauses;
use super::trouble::{Trouble, unreachable};

pub(super) struct Pulse {
    home: Arc<Home>,
    link: Mutex<Option<Link>>,
}

impl Pulse {
    pub(super) fn new(home: Arc<Home>, link: Link) -> Self {
        Self { home, link: Mutex::new(Some(link)) }
    }

    /// Beats, until it is answered or patience ends. A beat that landed twice is two beats: both say
    /// the same.
    pub(super) async fn beat(&self, worker: &WorkerId) -> Result<(), StoreError> {
        let mut last = unreachable(self.home.place(), "it was never tried".to_owned()).into_error();
        let beating = async {
            let mut link = self.link.lock().await;
            let mut pauses = Pauses::new();
            loop {
                match self.attempt(&mut link, worker).await {
                    Ok(()) => return Ok(()),
                    Err(Trouble::Lost(error) | Trouble::Again(error)) => last = error,
                    Err(other) => return Err(other.into_error()),
                }
                *link = None;
                pauses.wait().await;
            }
        };
        match timeout(self.home.settings.patience, beating).await {
            Ok(answer) => answer,
            Err(_) => Err(last),
        }
    }

    async fn attempt(&self, kept: &mut Option<Link>, worker: &WorkerId) -> Result<(), Trouble> {
        let link = match kept {
            Some(link) => link,
            none => none.insert(Link::connect(&self.home).await?),
        };
        claim::beat(link, worker).await
    }
}
