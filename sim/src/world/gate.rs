//! The life of a simulated process: everything it asks of the world passes here, so it can be cut
//! off, frozen or killed at any instant without its code knowing.

use tokio::sync::watch;

/// What becomes of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Life {
    /// It runs.
    Up,
    /// It runs, and its store does not answer.
    CutOff,
    /// Stopped as by SIGSTOP: nothing of it goes on.
    Frozen,
    /// Gone; nothing of it ever goes on.
    Dead,
}

/// What a process asks the world for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    /// An answer of the store.
    Store,
    /// Time, a tool, the model.
    Work,
}

pub(crate) struct Gate {
    life: watch::Sender<Life>,
}

impl Gate {
    pub(crate) fn open() -> Self {
        Self { life: watch::Sender::new(Life::Up) }
    }

    pub(crate) fn life(&self) -> Life {
        *self.life.borrow()
    }

    /// Changes its life; the dead stay dead.
    pub(crate) fn set(&self, life: Life) {
        self.life.send_if_modified(|now| {
            let changes = *now != Life::Dead && *now != life;
            if changes {
                *now = life;
            }
            changes
        });
    }

    /// Waits until the process may go on; for ever if it is dead.
    pub(crate) async fn pass(&self, door: Door) {
        if lets(self.life(), door) {
            return;
        }
        let mut life = self.life.subscribe();
        if life.wait_for(|life| lets(*life, door)).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

fn lets(life: Life, door: Door) -> bool {
    match (life, door) {
        (Life::Up, _) | (Life::CutOff, Door::Work) => true,
        (Life::CutOff, Door::Store) | (Life::Frozen | Life::Dead, _) => false,
    }
}
