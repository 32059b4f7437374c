//! The one point where the driver waits: for flights to land, for mail, for the clock, for the owner
//! of the stream, and for the request to hand over.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use windlass_core::ids::{LaneId, RunId};
use windlass_core::mail::{Mail, MailBody};

use crate::agent::Ports;
use crate::feed::OwnerFeed;
use crate::flights::Landed;
use crate::ports::{Clock, Letter, MAIL_PAGE, StoreError};

/// Inputs decided in one step.
const BATCH: usize = 64;

pub(super) struct Inbox {
    lane: LaneId,
    ports: Ports,
    landed: mpsc::Receiver<Landed>,
}

/// What ended the wait.
pub(super) enum Woken {
    /// Flights brought something.
    Landed(Vec<Landed>),
    /// There may be mail.
    Mail,
    /// The time has come.
    Time,
    /// The owner dropped its stream.
    OwnerLeft,
    /// The lease ran out.
    Lapsed,
    /// Another process is to go on.
    HandOver,
}

impl Inbox {
    pub(super) fn new(lane: LaneId, ports: Ports, landed: mpsc::Receiver<Landed>) -> Self {
        Self { lane, ports, landed }
    }

    pub(super) async fn wait(
        &mut self,
        until_due: Option<u64>,
        owner: Option<&OwnerFeed>,
        hand_over: &CancellationToken,
        lapsed: impl Future<Output = ()>,
    ) -> Woken {
        tokio::select! {
            biased;
            Some(first) = self.landed.recv() => Woken::Landed(self.drain(first)),
            () = hand_over.cancelled() => Woken::HandOver,
            () = lapsed => Woken::Lapsed,
            () = owner_gone(owner) => Woken::OwnerLeft,
            () = self.ports.store.mail_hint(self.lane.clone()) => Woken::Mail,
            () = due(self.ports.clock.as_ref(), until_due) => Woken::Time,
        }
    }

    /// Waits for flights alone.
    pub(super) async fn landed(&mut self) -> Vec<Landed> {
        match self.landed.recv().await {
            Some(first) => self.drain(first),
            // The flights hold the other end as long as there is a driver.
            None => std::future::pending().await,
        }
    }

    /// Whatever landed meanwhile is decided in the same step: one append for all of it.
    fn drain(&mut self, first: Landed) -> Vec<Landed> {
        let mut all = vec![first];
        while all.len() < BATCH {
            match self.landed.try_recv() {
                Ok(landed) => all.push(landed),
                Err(_) => break,
            }
        }
        all
    }

    pub(super) async fn read_mail(&self) -> Result<Vec<Mail>, StoreError> {
        self.ports.store.read_mail(self.lane.clone(), MAIL_PAGE).await
    }

    /// Sends the run a cancel, as the one who dropped its stream would have.
    pub(super) async fn cancel(&self, run: &RunId) -> Result<(), StoreError> {
        let letter = Letter {
            key: Arc::from(format!("owner-left:{run}")),
            body: MailBody::Cancel { run: Some(run.clone()) },
        };
        self.ports.store.deliver(self.lane.clone(), letter).await.map(|_| ())
    }
}

async fn owner_gone(owner: Option<&OwnerFeed>) {
    match owner {
        Some(owner) => owner.abandoned().await,
        None => std::future::pending().await,
    }
}

async fn due(clock: &dyn Clock, until_due: Option<u64>) {
    match until_due {
        Some(ms) => clock.sleep(ms).await,
        None => std::future::pending().await,
    }
}
