//! The agent side of a connection: requests of the editor and their answers.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, AuthMethod, AuthMethodAgent, AuthenticateRequest, AuthenticateResponse,
    CancelNotification, ClientCapabilities, CloseSessionRequest, CloseSessionResponse,
    DeleteSessionRequest, DeleteSessionResponse, Implementation, InitializeRequest,
    InitializeResponse, ListSessionsRequest, ListSessionsResponse, LoadSessionRequest,
    LoadSessionResponse, McpCapabilities, McpServer, NewSessionRequest, NewSessionResponse,
    PromptCapabilities, PromptRequest, PromptResponse, ResumeSessionRequest, ResumeSessionResponse,
    SessionAdditionalDirectoriesCapabilities, SessionCapabilities, SessionCloseCapabilities,
    SessionConfigOptionValue, SessionDeleteCapabilities, SessionInfo, SessionListCapabilities,
    SessionResumeCapabilities, SetSessionConfigOptionRequest, SetSessionConfigOptionResponse,
    SetSessionModeRequest, SetSessionModeResponse,
};
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{
    Agent as AgentRole, Client, Error, HandleDispatchFrom, JsonRpcResponse,
    on_receive_notification, on_receive_request,
};

use crate::editor::{Editor, EditorFiles};
use crate::host::{
    EditorHost, McpServerConfig, OpenRequest, OpenTarget, SessionEntry, SessionFilter,
};
use crate::line_transport::{UpdateBudget, open_stdio};
use crate::session::{OpenSession, SharedSession, invalid, to_error};
use crate::sessions::Sessions;

/// Sessions of one page of a list.
const PAGE_SESSIONS: usize = 50;

/// Why the connection could not be served.
#[derive(Debug, thiserror::Error)]
#[error("the connection to the editor failed: {0}")]
pub struct ServeError(String);

/// Serves an editor at standard input and output until it closes its end or `shutdown` resolves.
/// Runs that are in progress then stop at a step, and continue when their session is loaded again.
///
/// # Errors
///
/// Returns a [`ServeError`] if the connection fails.
pub async fn serve(
    host: Arc<dyn EditorHost>,
    shutdown: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let transport = open_stdio();
    let agent = Agent::new(host, transport.budget.clone());
    let connection = connect(&agent).connect_with(transport.lines, async |connection| {
        let connection: ConnectionTo<Client> = connection;
        tokio::select! {
            () = connection.incoming_closed() => {}
            () = shutdown => {}
        }
        agent.sessions.leave_all().await;
        Ok(())
    });
    let served = Box::pin(connection).await;
    let _ = transport.written.await;
    served.map_err(|error| ServeError(error.message))
}

/// The agent, as one connection sees it. Clones share the sessions.
#[derive(Clone)]
struct Agent {
    host: Arc<dyn EditorHost>,
    sessions: Arc<Sessions>,
    budget: UpdateBudget,
    /// What the editor offers, once it has said so.
    offered: Arc<OnceLock<ClientCapabilities>>,
}

/// Registers what answers each request.
fn connect(
    agent: &Agent,
) -> agent_client_protocol::v1::Builder<AgentRole, impl HandleDispatchFrom<Client>> {
    macro_rules! answers {
        ($builder:expr, $request:ty, $method:ident) => {{
            let agent = agent.clone();
            $builder.on_receive_request(
                async move |request: $request, responder, connection: ConnectionTo<Client>| {
                    let (agent, editor) = (agent.clone(), agent.editor(connection));
                    respond(responder, async move { agent.$method(editor, request).await })
                },
                on_receive_request!(),
            )
        }};
    }
    let builder = AgentRole.v1().name("windlass");
    let builder = answers!(builder, InitializeRequest, initialize);
    let builder = answers!(builder, AuthenticateRequest, authenticate);
    let builder = answers!(builder, NewSessionRequest, new_session);
    let builder = answers!(builder, LoadSessionRequest, load_session);
    let builder = answers!(builder, ResumeSessionRequest, resume_session);
    let builder = answers!(builder, ListSessionsRequest, list_sessions);
    let builder = answers!(builder, CloseSessionRequest, close_session);
    let builder = answers!(builder, DeleteSessionRequest, delete_session);
    let builder = answers!(builder, SetSessionModeRequest, set_mode);
    let builder = answers!(builder, SetSessionConfigOptionRequest, set_option);
    let (prompting, cancelling) = (agent.clone(), agent.clone());
    builder
        .on_receive_request(
            async move |request: PromptRequest, responder, _: ConnectionTo<Client>| {
                prompting.prompt(request, responder)
            },
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |request: CancelNotification, _: ConnectionTo<Client>| {
                // A cancellation of a session that is not open has nothing to cancel.
                if let Ok(session) = cancelling.sessions.find(&request.session_id.to_string()) {
                    session.cancel();
                }
                Ok(())
            },
            on_receive_notification!(),
        )
}

/// Answers a request in the background: other requests are not held up.
fn respond<T: JsonRpcResponse + Send + 'static>(
    responder: Responder<T>,
    work: impl Future<Output = Result<T, Error>> + Send + 'static,
) -> Result<(), Error> {
    tokio::spawn(async move {
        // If the answer cannot be sent, the editor is gone.
        let _ = responder.respond_with_result(work.await);
    });
    Ok(())
}

impl Agent {
    fn new(host: Arc<dyn EditorHost>, budget: UpdateBudget) -> Self {
        Self { host, sessions: Arc::default(), budget, offered: Arc::default() }
    }

    fn editor(&self, connection: ConnectionTo<Client>) -> Editor {
        Editor::new(connection, self.budget.clone())
    }

    async fn initialize(
        self,
        _: Editor,
        request: InitializeRequest,
    ) -> Result<InitializeResponse, Error> {
        // A second handshake changes nothing: sessions may be open already.
        let _ = self.offered.set(request.client_capabilities);
        let prompts = PromptCapabilities::new().image(true).embedded_context(true);
        let sessions = SessionCapabilities::new()
            .list(SessionListCapabilities::new())
            .resume(SessionResumeCapabilities::new())
            .close(SessionCloseCapabilities::new())
            .delete(SessionDeleteCapabilities::new())
            .additional_directories(SessionAdditionalDirectoriesCapabilities::new());
        let capabilities = AgentCapabilities::new()
            .load_session(true)
            .prompt_capabilities(prompts)
            .mcp_capabilities(McpCapabilities::new().http(true))
            .session_capabilities(sessions);
        let methods = self.host.login_methods().into_iter().map(|method| {
            let shown =
                AuthMethodAgent::new(method.id, method.name).description(method.description);
            AuthMethod::Agent(shown)
        });
        let info =
            Implementation::new("windlass", self.host.version()).title("Windlass".to_owned());
        Ok(InitializeResponse::new(ProtocolVersion::V1)
            .agent_capabilities(capabilities)
            .auth_methods(methods.collect())
            .agent_info(info))
    }

    async fn authenticate(
        self,
        _: Editor,
        request: AuthenticateRequest,
    ) -> Result<AuthenticateResponse, Error> {
        let id = request.method_id.to_string();
        if !self.host.login_methods().iter().any(|method| method.id == id) {
            return Err(invalid(&format!("unknown authentication method `{id}`")));
        }
        self.host.check_login().await.map_err(to_error)?;
        Ok(AuthenticateResponse::new())
    }

    async fn new_session(
        self,
        editor: Editor,
        request: NewSessionRequest,
    ) -> Result<NewSessionResponse, Error> {
        let NewSessionRequest { cwd, additional_directories, mcp_servers, .. } = request;
        let id = uuid::Uuid::now_v7().to_string();
        let place = SessionPlace { folder: cwd, more_folders: additional_directories, mcp_servers };
        let session = self.open(&editor, OpenTarget::New(id.clone()), place).await?;
        let (modes, options) = session.choices().await;
        self.sessions.insert(id.clone(), Arc::clone(&session));
        // The commands come after the answer: before it, the editor does not know the session.
        tokio::spawn(async move {
            tokio::task::yield_now().await;
            session.show_commands().await
        });
        Ok(NewSessionResponse::new(id).modes(modes).config_options(options))
    }

    async fn load_session(
        self,
        editor: Editor,
        request: LoadSessionRequest,
    ) -> Result<LoadSessionResponse, Error> {
        let LoadSessionRequest { session_id, cwd, additional_directories, mcp_servers, .. } =
            request;
        let place = SessionPlace { folder: cwd, more_folders: additional_directories, mcp_servers };
        let session = self.reopen(&editor, session_id.to_string(), place).await?;
        session.show_history().await?;
        session.show_commands().await?;
        let (modes, options) = session.choices().await;
        Ok(LoadSessionResponse::new().modes(modes).config_options(options))
    }

    async fn resume_session(
        self,
        editor: Editor,
        request: ResumeSessionRequest,
    ) -> Result<ResumeSessionResponse, Error> {
        let ResumeSessionRequest { session_id, cwd, additional_directories, mcp_servers, .. } =
            request;
        let place = SessionPlace { folder: cwd, more_folders: additional_directories, mcp_servers };
        let session = self.reopen(&editor, session_id.to_string(), place).await?;
        session.show_commands().await?;
        let (modes, options) = session.choices().await;
        Ok(ResumeSessionResponse::new().modes(modes).config_options(options))
    }

    /// Opens a session that exists, in the place of the one that is open.
    async fn reopen(
        &self,
        editor: &Editor,
        id: String,
        place: SessionPlace,
    ) -> Result<SharedSession, Error> {
        if let Some(open) = self.sessions.remove(&id) {
            open.leave().await;
        }
        let session = self.open(editor, OpenTarget::Existing(id.clone()), place).await?;
        self.sessions.insert(id, Arc::clone(&session));
        Ok(session)
    }

    async fn open(
        &self,
        editor: &Editor,
        target: OpenTarget,
        place: SessionPlace,
    ) -> Result<SharedSession, Error> {
        let offered = self.offered.get();
        let offered = offered.ok_or_else(|| invalid("the first request must be `initialize`"))?;
        self.sessions.check_room()?;
        for folder in place.more_folders.iter().chain([&place.folder]) {
            check_folder(folder)?;
        }
        let (OpenTarget::New(id) | OpenTarget::Existing(id)) = &target;
        let id = id.clone();
        let request = OpenRequest {
            folder: place.folder,
            more_folders: place.more_folders,
            target,
            mcp_servers: place.mcp_servers.into_iter().filter_map(server_config).collect(),
            files: EditorFiles::new(editor, &id, offered).map(Arc::new),
        };
        let hosted = self.host.open(request).await.map_err(to_error)?;
        Ok(Arc::new(OpenSession::new(id, editor.clone(), hosted)))
    }

    async fn list_sessions(
        self,
        _: Editor,
        request: ListSessionsRequest,
    ) -> Result<ListSessionsResponse, Error> {
        let skip = match request.cursor.as_deref() {
            None => 0,
            Some(cursor) => cursor.parse().map_err(|_| {
                invalid("the cursor is not one of this agent; list from the beginning")
            })?,
        };
        let filter = SessionFilter { folder: request.cwd, skip, limit: PAGE_SESSIONS + 1 };
        let mut found = self.host.list(filter).await.map_err(to_error)?;
        let has_more = found.len() > PAGE_SESSIONS;
        found.truncate(PAGE_SESSIONS);
        let next = has_more.then(|| skip.saturating_add(PAGE_SESSIONS).to_string());
        let sessions = found.into_iter().map(session_info).collect();
        Ok(ListSessionsResponse::new(sessions).next_cursor(next))
    }

    async fn close_session(
        self,
        _: Editor,
        request: CloseSessionRequest,
    ) -> Result<CloseSessionResponse, Error> {
        let id = request.session_id.to_string();
        let session = self.sessions.find(&id)?;
        self.sessions.remove(&id);
        session.close().await;
        Ok(CloseSessionResponse::new())
    }

    async fn delete_session(
        self,
        _: Editor,
        request: DeleteSessionRequest,
    ) -> Result<DeleteSessionResponse, Error> {
        let id = request.session_id.to_string();
        if let Some(open) = self.sessions.remove(&id) {
            open.close().await;
        }
        self.host.delete(id).await.map_err(to_error)?;
        Ok(DeleteSessionResponse::new())
    }

    async fn set_mode(
        self,
        _: Editor,
        request: SetSessionModeRequest,
    ) -> Result<SetSessionModeResponse, Error> {
        let session = self.sessions.find(&request.session_id.to_string())?;
        session.set_mode(&request.mode_id.to_string()).await?;
        Ok(SetSessionModeResponse::new())
    }

    async fn set_option(
        self,
        _: Editor,
        request: SetSessionConfigOptionRequest,
    ) -> Result<SetSessionConfigOptionResponse, Error> {
        let session = self.sessions.find(&request.session_id.to_string())?;
        let SessionConfigOptionValue::ValueId { value } = &request.value else {
            return Err(invalid("the value must be one of the options"));
        };
        let options =
            session.set_option(&request.config_id.to_string(), &value.to_string()).await?;
        Ok(SetSessionConfigOptionResponse::new(options))
    }

    /// Answers a prompt. That it can be cancelled is settled before the next message is read.
    fn prompt(
        &self,
        request: PromptRequest,
        responder: Responder<PromptResponse>,
    ) -> Result<(), Error> {
        let session = match self.sessions.find(&request.session_id.to_string()) {
            Ok(session) => session,
            Err(error) => return responder.respond_with_error(error),
        };
        let cancellation = session.watch_cancellation();
        let withdrawn = responder.cancellation();
        let withdrawing = Arc::clone(&session);
        respond(responder, async move {
            let answer = session.prompt(request.prompt, cancellation);
            tokio::pin!(answer);
            tokio::select! {
                answer = &mut answer => return answer,
                () = withdrawn.cancelled() => withdrawing.cancel(),
            }
            answer.await
        })
    }
}

/// Where a session works, as the editor gives it.
struct SessionPlace {
    folder: PathBuf,
    more_folders: Vec<PathBuf>,
    mcp_servers: Vec<McpServer>,
}

fn check_folder(folder: &Path) -> Result<(), Error> {
    if !folder.is_absolute() {
        return Err(invalid(&format!("{} is not an absolute path", folder.display())));
    }
    match folder.is_dir() {
        true => Ok(()),
        false => Err(invalid(&format!("{} is not a folder", folder.display()))),
    }
}

fn server_config(server: McpServer) -> Option<McpServerConfig> {
    match server {
        McpServer::Stdio(server) => Some(McpServerConfig::Stdio {
            name: server.name,
            command: server.command,
            args: server.args,
            env: server.env.into_iter().map(|variable| (variable.name, variable.value)).collect(),
        }),
        McpServer::Http(server) => Some(McpServerConfig::Remote {
            name: server.name,
            transport: "http",
            url: server.url,
            headers: server.headers.into_iter().map(|header| (header.name, header.value)).collect(),
        }),
        McpServer::Sse(server) => Some(McpServerConfig::Remote {
            name: server.name,
            transport: "sse",
            url: server.url,
            headers: server.headers.into_iter().map(|header| (header.name, header.value)).collect(),
        }),
        _ => None,
    }
}

fn session_info(entry: SessionEntry) -> SessionInfo {
    SessionInfo::new(entry.session_id, entry.folder).title(entry.title).updated_at(entry.updated_at)
}
