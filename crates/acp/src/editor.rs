//! The editor at the other end of the connection: what it offers, and the requests to it.

use std::path::Path;
use std::time::Duration;

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    ClientCapabilities, ReadTextFileRequest, RequestPermissionRequest, RequestPermissionResponse,
    SessionNotification, SessionUpdate, WriteTextFileRequest,
};
use agent_client_protocol::{Client, Error};

use crate::line_transport::UpdateBudget;

/// How long an editor may take to read or write a file.
const FILE_TIMEOUT: Duration = Duration::from_secs(10);

/// The editor. Clones talk to the same one.
#[derive(Debug, Clone)]
pub(crate) struct Editor {
    connection: ConnectionTo<Client>,
    budget: UpdateBudget,
}

impl Editor {
    pub(crate) fn new(connection: ConnectionTo<Client>, budget: UpdateBudget) -> Self {
        Self { connection, budget }
    }

    /// Returns whether the editor has closed its end.
    pub(crate) fn is_gone(&self) -> bool {
        self.connection.is_incoming_closed()
    }

    /// Shows an update. Waits while too many of them are unread.
    pub(crate) async fn update(&self, session: &str, update: SessionUpdate) -> Result<(), Error> {
        self.budget.reserve().await;
        self.connection.send_notification(SessionNotification::new(session.to_owned(), update))
    }

    /// Asks for a permission. The question is withdrawn if the future is dropped.
    pub(crate) async fn ask_permission(
        &self,
        request: RequestPermissionRequest,
    ) -> Result<RequestPermissionResponse, Error> {
        self.connection.send_request(request).block_task().await
    }
}

/// The files of the editor, with what is typed and not saved yet.
#[derive(Debug, Clone)]
pub struct EditorFiles {
    editor: Editor,
    session: String,
    /// Whether it reads files.
    pub can_read: bool,
    /// Whether it writes files.
    pub can_write: bool,
}

impl EditorFiles {
    pub(crate) fn new(
        editor: &Editor,
        session: &str,
        offered: &ClientCapabilities,
    ) -> Option<Self> {
        let (can_read, can_write) = (offered.fs.read_text_file, offered.fs.write_text_file);
        let (editor, session) = (editor.clone(), session.to_owned());
        (can_read || can_write).then_some(Self { editor, session, can_read, can_write })
    }

    /// Reads a text file as the editor shows it.
    ///
    /// # Errors
    ///
    /// Returns the reason that the editor gives, or that it did not answer.
    pub async fn read_text(&self, path: &Path) -> Result<String, String> {
        let request = ReadTextFileRequest::new(self.session.clone(), path);
        let answer = self.editor.connection.send_request(request).block_task();
        wait_for(answer).await.map(|answer| answer.content)
    }

    /// Writes a text file through the editor.
    ///
    /// # Errors
    ///
    /// Returns the reason that the editor gives, or that it did not answer.
    pub async fn write_text(&self, path: &Path, text: &str) -> Result<(), String> {
        let request = WriteTextFileRequest::new(self.session.clone(), path, text);
        let answer = self.editor.connection.send_request(request).block_task();
        wait_for(answer).await.map(drop)
    }
}

async fn wait_for<T>(answer: impl Future<Output = Result<T, Error>>) -> Result<T, String> {
    match tokio::time::timeout(FILE_TIMEOUT, answer).await {
        Ok(answer) => answer.map_err(|error| error.message),
        Err(_) => Err(format!("no answer within {} seconds", FILE_TIMEOUT.as_secs())),
    }
}
