//! A server in this process, on a port of its own, until the test ends.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use windlass_providers::scripted::Script;
use windlass_providers::scripted::server::{Served, Server, Watch};
use windlass_runtime::SystemClock;

use crate::client::{Connection, Response};

/// A running server.
pub(crate) struct Place {
    pub(crate) address: SocketAddr,
    served: Arc<Seen>,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Seen(Mutex<Vec<Served>>);

impl Watch for Seen {
    fn served(&self, served: &Served) {
        self.0.lock().unwrap().push(served.clone());
    }
}

impl Place {
    pub(crate) async fn new(script: &str) -> Self {
        let server = Server::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let (address, script) = (server.address(), Script::parse(script).unwrap());
        let (served, clock) = (Arc::new(Seen::default()), Arc::new(SystemClock::start()));
        let (stop, stopped) = oneshot::channel();
        let stopped = async {
            drop(stopped.await);
        };
        let task = tokio::spawn(server.serve(script, clock, served.clone(), stopped));
        Self { address, served, stop, task }
    }

    pub(crate) async fn connect(&self) -> Connection {
        Connection::open(self.address).await
    }

    /// Posts on a connection of its own; nothing comes back if it closes without a response.
    pub(crate) async fn try_post(&self, path: &str, body: &Value) -> Option<Response> {
        self.connect().await.post(path, &body.to_string()).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Response {
        self.try_post(path, body).await.unwrap()
    }

    /// What was served so far, once it is `count`.
    pub(crate) async fn served(&self, count: usize) -> Vec<Served> {
        let all = async {
            loop {
                let served = self.served.0.lock().unwrap().clone();
                if served.len() >= count {
                    return served;
                }
                tokio::task::yield_now().await;
            }
        };
        timeout(Duration::from_secs(20), all).await.unwrap()
    }

    /// Stops the server and waits for its end.
    pub(crate) async fn stop(self) {
        self.stop.send(()).unwrap();
        timeout(Duration::from_secs(20), self.task).await.unwrap().unwrap();
    }
}
