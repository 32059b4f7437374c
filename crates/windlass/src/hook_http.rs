//! The HTTP client of the models, for hooks that are web services.

use std::sync::Arc;

use windlass_providers::{HttpClient, PlainRequest, ProxyRules};
use windlass_runtime::ports::{BoxFuture, Clock};
use windlass_tools::{HookHttp, HookHttpRequest, HookHttpResponse};

/// How long a connection may take to open, in milliseconds.
const CONNECT_MS: u64 = 10_000;

/// Sends the requests of hooks.
pub(crate) struct HookHttpClient {
    client: Arc<HttpClient>,
}

impl HookHttpClient {
    /// Creates a client. Proxies are those of the environment; an invalid one is left out, because
    /// every model call says so.
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        let variable = |name: &str| std::env::var(name).ok();
        let proxies = ProxyRules::from_variables(&variable).unwrap_or_default();
        Self { client: Arc::new(HttpClient::new(clock).with_proxy_rules(proxies)) }
    }

    async fn send(&self, request: HookHttpRequest) -> Result<HookHttpResponse, String> {
        let HookHttpRequest { url, headers, body, max_bytes } = request;
        let request = PlainRequest { method: "POST".to_owned(), url, headers, body };
        let sent = self.client.send_plain(request, CONNECT_MS).await;
        let mut response = sent.map_err(|error| error.message)?;
        let mut answer =
            HookHttpResponse { status: response.status, body: Vec::new(), is_truncated: false };
        while let Some(chunk) = response.body.recv().await {
            let chunk = chunk?;
            let room = max_bytes.saturating_sub(answer.body.len());
            answer.body.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
            if chunk.len() > room {
                answer.is_truncated = true;
                break;
            }
        }
        Ok(answer)
    }
}

impl HookHttp for HookHttpClient {
    fn post(&self, request: HookHttpRequest) -> BoxFuture<'_, Result<HookHttpResponse, String>> {
        Box::pin(self.send(request))
    }
}
