//! A server in this process, on a port of its own, until the test ends.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use windlass_runtime::SystemClock;
use windlass_scripted::Script;
use windlass_scripted::server::{RequestObserver, ScriptedServer, ServedRequest};

use crate::client::{TestConnection, TestResponse};

/// A running server.
pub(crate) struct TestServer {
    pub(crate) address: SocketAddr,
    served: Arc<ServedLog>,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct ServedLog(Mutex<Vec<ServedRequest>>);

impl RequestObserver for ServedLog {
    fn on_served(&self, served: &ServedRequest) {
        self.0.lock().unwrap().push(served.clone());
    }
}

impl TestServer {
    pub(crate) async fn new(script: &str) -> Self {
        let server = ScriptedServer::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let (address, script) = (server.address(), Script::parse(script).unwrap());
        let (served, clock) = (Arc::new(ServedLog::default()), Arc::new(SystemClock::start()));
        let (stop, stopped) = oneshot::channel();
        let stopped = async {
            drop(stopped.await);
        };
        let task = tokio::spawn(server.serve(script, clock, served.clone(), stopped));
        Self { address, served, stop, task }
    }

    pub(crate) async fn connect(&self) -> TestConnection {
        TestConnection::open(self.address).await
    }

    /// Posts on a connection of its own; `None` if it closes without a response.
    pub(crate) async fn try_post(&self, path: &str, body: &Value) -> Option<TestResponse> {
        self.connect().await.post(path, &body.to_string()).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> TestResponse {
        self.try_post(path, body).await.unwrap()
    }

    /// Waits until `count` requests were served and returns them.
    pub(crate) async fn served(&self, count: usize) -> Vec<ServedRequest> {
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
