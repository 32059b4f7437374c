//! The client against servers that behave well and badly.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use windlass_core::call::call_facts::Repeatability;
use windlass_core::call::outcome::ToolOutcome;
use windlass_core::message::raw_json::RawJson;
use windlass_runtime::SystemClock;
use windlass_runtime::ports::{BoxFuture, Tool};

use crate::result_content::outcome_of_result;
use crate::{
    FirstSeenApprovals, McpConnection, McpConnector, McpError, McpServer, McpServerConfig,
    McpServers, ServerInbox, ServerSpec, ServerState, TransportConfig, qualified_tool_name,
};

/// A server made of a function from a request to its result or error.
struct FakeServer<F> {
    answer: F,
    methods: Mutex<Vec<String>>,
}

impl<F: Fn(&str, &Value) -> Value + Send + Sync + 'static> McpConnection for FakeServer<F> {
    fn exchange(&self, message: Value) -> BoxFuture<'_, Result<Value, McpError>> {
        let method = message["method"].as_str().unwrap_or_default().to_owned();
        self.methods.lock().unwrap().push(method.clone());
        let mut answer = (self.answer)(&method, &message["params"]);
        answer["id"] = message["id"].clone();
        Box::pin(std::future::ready(Ok(answer)))
    }
}

fn server<F: Fn(&str, &Value) -> Value>(answer: F) -> Arc<FakeServer<F>> {
    Arc::new(FakeServer { answer, methods: Mutex::default() })
}

/// Connects to a server once, without supervision.
async fn connect<F: Fn(&str, &Value) -> Value + Send + Sync + 'static>(
    fake: &Arc<FakeServer<F>>,
) -> Result<McpServer, McpError> {
    McpServer::connect("desk", fake.clone(), Arc::new(ServerInbox::new("desk", &[]))).await
}

struct FakeConnector<F>(Arc<FakeServer<F>>);

impl<F: Fn(&str, &Value) -> Value + Send + Sync + 'static> McpConnector for FakeConnector<F> {
    fn connect(
        &self,
        _inbox: Arc<ServerInbox>,
    ) -> BoxFuture<'_, Result<Arc<dyn McpConnection>, McpError>> {
        Box::pin(std::future::ready(Ok(self.0.clone() as Arc<dyn McpConnection>)))
    }
}

/// Keeps a server connected.
async fn supervise<F: Fn(&str, &Value) -> Value + Send + Sync + 'static>(
    fake: &Arc<FakeServer<F>>,
) -> McpServers {
    let approvals = Arc::new(FirstSeenApprovals::default());
    let servers = McpServers::new(approvals, Arc::new(SystemClock::start()));
    servers.add(ServerSpec {
        name: "desk".to_owned(),
        connector: Arc::new(FakeConnector(fake.clone())),
        roots: Vec::new(),
        startup_ms: 10_000,
        call_timeout_ms: 10_000,
        scope: "dynamic".to_owned(),
        config: Value::Null,
    });
    servers.wait_until_settled(10_000).await;
    servers
}

fn outcome_of(result: &Value) -> ToolOutcome {
    outcome_of_result(result, &[], None)
}

fn result(value: Value) -> Value {
    json!({"jsonrpc": "2.0", "result": value})
}

#[tokio::test]
async fn the_handshake_comes_first_and_the_list_is_read_to_its_end() {
    let fake = server(|method, params| match (method, params["cursor"].as_str()) {
        ("initialize", _) => result(json!({"serverInfo": {"name": "desk", "version": "1"}})),
        ("tools/list", None) => result(json!({"tools": [{"name": "a"}], "nextCursor": "2"})),
        ("tools/list", Some("2")) => result(json!({"tools": [{"name": "b"}, {"name": "b"}]})),
        _ => result(json!({})),
    });
    let servers = supervise(&fake).await;
    let desk = servers.find("desk").unwrap();
    let names: Vec<_> = desk.tools().iter().map(|tool| tool.name().to_owned()).collect();
    assert_eq!(names, ["mcp__desk__a", "mcp__desk__b"]);
    let ServerState::Connected(connected) = desk.state() else { panic!("not connected") };
    assert_eq!(connected.info()["version"], "1");
    let methods = fake.methods.lock().unwrap().clone();
    assert_eq!(methods, ["initialize", "notifications/initialized", "tools/list", "tools/list"]);
}

#[tokio::test]
async fn a_list_that_never_ends_is_an_error() {
    let fake = server(|method, _| match method {
        "tools/list" => result(json!({"tools": [], "nextCursor": "again"})),
        _ => result(json!({})),
    });
    let error = connect(&fake).await.err().unwrap();
    assert!(error.to_string().contains("pages"), "{error}");
}

#[tokio::test]
async fn a_refusal_is_said_in_the_words_of_the_server() {
    let fake = server(|_, _| json!({"error": {"code": -32000, "message": "closed"}}));
    let error = connect(&fake).await.err().unwrap();
    assert_eq!(error, McpError::Refused { code: -32000, message: "closed".to_owned() });
}

// spec: ROUNDS-03
#[tokio::test]
async fn the_word_of_a_server_grants_concurrency_and_repetition_but_no_permission() {
    let fake = server(|method, _| match method {
        "tools/list" => result(json!({"tools": [
            {"name": "look", "annotations": {"readOnlyHint": true}},
            {"name": "set", "annotations": {"idempotentHint": true}},
            {"name": "pay"},
        ]})),
        _ => result(json!({})),
    });
    let tools = supervise(&fake).await.find("desk").unwrap().tools();
    let facts: Vec<_> = tools.iter().map(|tool| tool.assess(&RawJson::string(""))).collect();
    let [look, set, pay] = &facts[..] else { panic!("three tools") };
    assert!(!look.touches.conflicts_with(&look.touches) && !look.is_read_only());
    assert_eq!((look.repeat, pay.repeat), (Repeatability::OnceOnly, Repeatability::OnceOnly));
    assert_eq!(set.repeat, Repeatability::Repeatable);
    assert!(set.touches.conflicts_with(&look.touches) && pay.touches.conflicts_with(&look.touches));
}

#[test]
fn names_have_only_characters_that_providers_accept() {
    assert_eq!(qualified_tool_name("my server", "ti.me"), "mcp__my_server__ti_me");
    assert_eq!(qualified_tool_name("s", &"x".repeat(99)).len(), 64);
}

#[test]
fn every_kind_of_content_reaches_the_model() {
    let outcome = outcome_of(&json!({"content": [
        {"type": "text", "text": "one"},
        {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"},
        {"type": "resource_link", "name": "notes", "uri": "file:///notes"},
        {"type": "resource", "resource": {"uri": "a:b", "text": "inside"}},
        {"type": "tomorrow"},
    ]}));
    let content: Value = outcome.content().unwrap().read().unwrap();
    assert_eq!(content[1]["source"]["media_type"], "image/png");
    assert_eq!(content[2]["text"], "notes: file:///notes");
    assert_eq!(content[3]["text"], "a:b:\ninside");
    let data = outcome_of(&json!({"structuredContent": {"n": 1}}));
    let data: Value = data.content().unwrap().read().unwrap();
    assert_eq!(data, r#"{"n":1}"#);
    let failed = outcome_of(&json!({"isError": true, "content": [{"type": "text", "text": "no"}]}));
    assert!(matches!(failed, ToolOutcome::Failed(error) if &*error.message == "no"));
}

fn read_config(value: Value) -> Result<McpServerConfig, String> {
    let variable = |name: &str| (name == "KEY").then(|| "secret".to_owned());
    McpServerConfig::from_json(&value, &variable).map_err(|error| error.to_string())
}

#[test]
fn variables_are_expanded_and_a_missing_one_is_an_error() {
    let config =
        json!({"command": "${PROGRAM:-serve}", "args": ["--key=${KEY}"], "env": {"A": "b${KEY}"}});
    let TransportConfig::Stdio { command, arguments, variables, .. } =
        read_config(config).unwrap().transport
    else {
        panic!("not a program")
    };
    assert_eq!((command.as_str(), arguments[0].as_str()), ("serve", "--key=secret"));
    assert_eq!(variables, [("A".to_owned(), "bsecret".to_owned())]);
    let missing = read_config(json!({"url": "https://a.test/${NOWHERE}"})).unwrap_err();
    assert!(missing.contains("the variable NOWHERE is not set"), "{missing}");
}

#[test]
fn a_configuration_that_cannot_be_used_says_what_to_do() {
    for (config, says) in [
        (json!({"type": "sse", "url": "https://a.test/sse"}), "use `\"type\": \"http\"`"),
        (json!({"type": "ws", "url": "wss://a.test"}), "unknown type `ws`; use stdio or http"),
        (json!({"args": []}), "neither a `command` nor a `url`"),
        (json!({"type": "http", "url": "a.test"}), "does not begin with https://"),
        (json!({"command": "x", "args": "y"}), "`args` is not a list of texts"),
        (json!({"command": "x", "env": {"A": 1}}), "`env.A` is not a text"),
        (json!({"command": "x", "timeout": 0}), "`timeout` is not a number"),
    ] {
        let error = read_config(config).unwrap_err();
        assert!(error.contains(says), "{error}");
    }
}

/// Opens connections to a fake server, and keeps the inbox of the last one.
struct InboxKeeper<F> {
    fake: Arc<FakeServer<F>>,
    inbox: Arc<Mutex<Option<Arc<ServerInbox>>>>,
}

impl<F: Fn(&str, &Value) -> Value + Send + Sync + 'static> McpConnector for InboxKeeper<F> {
    fn connect(
        &self,
        inbox: Arc<ServerInbox>,
    ) -> BoxFuture<'_, Result<Arc<dyn McpConnection>, McpError>> {
        *self.inbox.lock().unwrap() = Some(inbox);
        Box::pin(std::future::ready(Ok(self.fake.clone() as Arc<dyn McpConnection>)))
    }
}

#[tokio::test]
async fn prompts_that_change_are_read_again() {
    let lists = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counted = Arc::clone(&lists);
    let fake = server(move |method, _| match method {
        "initialize" => result(json!({"capabilities": {"prompts": {}, "tools": {}}})),
        "tools/list" => result(json!({"tools": []})),
        "prompts/list" => {
            let count = counted.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            result(json!({"prompts": [{"name": format!("prompt{count}")}]}))
        }
        _ => result(json!({})),
    });
    let inbox = Arc::new(Mutex::new(None));
    let connector = InboxKeeper { fake, inbox: Arc::clone(&inbox) };
    let approvals = Arc::new(FirstSeenApprovals::default());
    let servers = McpServers::new(approvals, Arc::new(SystemClock::start()));
    servers.add(ServerSpec {
        name: "desk".to_owned(),
        connector: Arc::new(connector),
        roots: Vec::new(),
        startup_ms: 10_000,
        call_timeout_ms: 10_000,
        scope: "dynamic".to_owned(),
        config: Value::Null,
    });
    servers.wait_until_settled(10_000).await;
    let managed = servers.find("desk").unwrap();
    let names = || managed.prompts().iter().map(|it| it.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(), ["prompt0"]);
    let told = inbox.lock().unwrap().clone().unwrap();
    told.on_notification("notifications/prompts/list_changed", &Value::Null);
    let changed = async {
        while names() != ["prompt1"] {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(10), changed).await.unwrap();
}
