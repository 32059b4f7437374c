//! From a prompt that somebody else delivers to the model being asked by a worker.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use tokio::task::JoinHandle;
use windlass::core::ids::LaneId;
use windlass::core::input::Failure;
use windlass::core::reply::Reply;
use windlass::core::request::Request;
use windlass::ports::{Model, Store, StoreError, Stream, Task};
use windlass::{Windlass, WorkTimes};
use windlass_store::PostgresStore;

use crate::clock::{self, Spread};
use crate::{WORKERS, lanes};

/// Prompts that are sent, one after the other.
const PROMPTS: usize = 240;

/// The first ones open connections and prepare statements, and workers get to know each other.
const WARM_UP: usize = 60;

#[derive(Clone, Default)]
struct Asked(Arc<Mutex<HashMap<usize, Instant>>>);

impl Asked {
    fn at(&self, nth: usize) -> Option<Instant> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&nth).copied()
    }
}

/// Notes when it is asked, and never answers.
impl Model for Asked {
    fn ask(&self, _request: Request, _stream: Arc<dyn Stream>) -> Task<'_, Result<Reply, Failure>> {
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let nth = asked.len();
        asked.insert(nth, clock::now());
        Box::pin(std::future::pending())
    }
}

/// How long it took until the model was asked.
#[derive(Default)]
pub(crate) struct Starts {
    /// From the moment somebody wants to send the prompt.
    pub(crate) sent: Spread,
    /// From the moment it is accepted: on the disk, and answered.
    pub(crate) accepted: Spread,
}

pub(crate) async fn measure(url: &str) -> Result<Starts> {
    // Its own database: nothing of the others' work is in the way.
    windlass_cluster::ask(url, "CREATE DATABASE starts").await?;
    let url = url.replace("/postgres", "/starts");
    let (front, asked) = (PostgresStore::open(&url).await?, Asked::default());
    let mut workers = Vec::new();
    for _ in 0..WORKERS {
        workers.push(Worker::start(&url, &asked).await?);
    }
    let mut took = Starts::default();
    for nth in 0..PROMPTS {
        let begin = clock::now();
        front.deliver(LaneId::from(format!("start:{nth}")), lanes::prompt(nth)).await?;
        let accepted = clock::now();
        let at = loop {
            if let Some(at) = asked.at(nth) {
                break at;
            }
            ensure!(begin.elapsed() < Duration::from_secs(30), "prompt {nth} was never begun");
            clock::pause(Duration::from_millis(1)).await;
        };
        if nth >= WARM_UP {
            took.sent.add(at.duration_since(begin));
            took.accepted.add(at.saturating_duration_since(accepted));
        }
        clock::pause(Duration::from_millis(60)).await;
    }
    for Worker { windlass, working } in workers {
        windlass.hand_over();
        working.await??;
    }
    Ok(took)
}

/// A worker with connections of its own. It shares only the clock with whoever sends.
struct Worker {
    windlass: Windlass,
    working: JoinHandle<Result<(), StoreError>>,
}

impl Worker {
    async fn start(url: &str, asked: &Asked) -> Result<Self> {
        let store = PostgresStore::open(url).await?;
        let windlass = Windlass::builder().model(asked.clone()).store(store).start().await?;
        let works = windlass.clone();
        let working = tokio::spawn(async move { works.work_with(WorkTimes::default()).await });
        Ok(Self { windlass, working })
    }
}
