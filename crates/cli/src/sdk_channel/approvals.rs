//! Approvals: questions of runs, asked at the other end of the channel. A question that is answered
//! elsewhere first is withdrawn; one that cannot be asked is denied with an explanation.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use windlass::core::call::input_request::InputRequest;
use windlass::core::log::ids::{LaneId, QuestionId};
use windlass::core::log::inbox::{AnswerChannel, AnswerSource, InboxCommand};
use windlass::core::permission::{PermissionMode, PermissionUpdate};
use windlass::core::run::active_run::Run;
use windlass::core::run::conversation::Conversation;
use windlass::core::run::question::{Question, QuestionKind};
use windlass::ports::{HookContext, Store, StoreError};
use windlass::tools::CommandHooks;
use windlass::{HumanAnswer, Session};

use super::elicitation;
use super::host_requests::{HostRequestError, HostRequests};
use super::permission_reply::PermissionReply;
use super::permission_request::PermissionRequest;
use super::session_state::SessionState;

/// How long the program may take to answer; it may ask a person.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// Number of answers that wait for the loop.
const QUEUED_ANSWERS: usize = 64;

/// Number of unread messages that are searched for an answer.
const SEARCHED_MESSAGES: usize = 4_096;

/// A question was answered, and a run may continue; or the answer could not be stored. An answer may
/// change the permission mode.
pub(super) type AnswerStored = Result<Option<PermissionMode>, StoreError>;

/// Asks the program at the other end of the channel. Clones share the open questions.
#[derive(Clone)]
pub(super) struct Approvals {
    shared: Arc<SharedApprovals>,
}

struct SharedApprovals {
    host: HostRequests,
    state: Arc<SessionState>,
    /// Whether the program answers; otherwise everything that is asked is denied.
    asks_host: bool,
    /// Hooks that decide before the program is asked.
    hooks: Option<CommandHooks>,
    /// The folder that relative folders in answers are in.
    workspace: PathBuf,
    stored: mpsc::Sender<AnswerStored>,
    open: Mutex<HashMap<(LaneId, QuestionId), AbortHandle>>,
}

impl Approvals {
    /// Creates approvals; the receiver gets a message for every answer that was stored.
    pub(super) fn new(
        host: HostRequests,
        state: Arc<SessionState>,
        asks_host: bool,
        hooks: Option<CommandHooks>,
        workspace: PathBuf,
    ) -> (Self, mpsc::Receiver<AnswerStored>) {
        let (stored, answers) = mpsc::channel(QUEUED_ANSWERS);
        let open = Mutex::default();
        let shared = SharedApprovals { host, state, asks_host, hooks, workspace, stored, open };
        (Self { shared: Arc::new(shared) }, answers)
    }

    /// Asks a question in the background, unless it is being asked already.
    pub(super) fn ask(&self, session: &Session, now: &Conversation, question: &Question) {
        let key = (session.lane().clone(), question.id);
        let mut open = self.lock();
        if open.contains_key(&key) {
            return;
        }
        let (approvals, session) = (self.clone(), session.clone());
        let (now, question) = (now.clone(), question.clone());
        let task = tokio::spawn(async move {
            let answer = approvals.find_answer(&session, now, &question).await;
            let source = AnswerSource::new(AnswerChannel::Sdk);
            let mode = mode_of(&answer);
            let stored = session.answer_as(question.id, answer, source).await.map(|()| mode);
            approvals.lock().remove(&(session.lane().clone(), question.id));
            let _ = approvals.shared.stored.send(stored).await;
        });
        open.insert(key, task.abort_handle());
    }

    /// Asks the questions of a run that came to rest, except those whose answer was stored since.
    pub(super) async fn ask_unanswered(
        &self,
        store: &Arc<dyn Store>,
        session: &Session,
        questions: &[Question],
    ) -> anyhow::Result<()> {
        // In this order: a question is being asked, or its answer is in the inbox, or the
        // conversation has the answer.
        let asked: Vec<_> = self.lock().keys().cloned().collect();
        let unread = store.read_inbox(session.lane().clone(), SEARCHED_MESSAGES).await?;
        let now = session.load_conversation().await?;
        let open: Vec<_> = now.run.iter().flat_map(Run::open_questions).map(|it| it.id).collect();
        let is_answered = |id: QuestionId| {
            let mut answers = unread.iter();
            answers.any(|message| matches!(&message.body, InboxCommand::Answer { question, .. } if *question == id))
        };
        for question in questions.iter().filter(|question| open.contains(&question.id)) {
            let is_asked = asked.contains(&(session.lane().clone(), question.id));
            if !is_asked && !is_answered(question.id) {
                self.ask(session, &now, question);
            }
        }
        Ok(())
    }

    /// The program that is asked.
    pub(super) fn host(&self) -> &HostRequests {
        &self.shared.host
    }

    /// Withdraws every question.
    pub(super) fn withdraw_all(&self) {
        self.lock().drain().for_each(|(_, task)| task.abort());
    }

    /// Whether a question waits for its answer.
    pub(super) fn is_waiting(&self) -> bool {
        !self.lock().is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(LaneId, QuestionId), AbortHandle>> {
        self.shared.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn find_answer(
        &self,
        session: &Session,
        now: Conversation,
        question: &Question,
    ) -> HumanAnswer {
        match &question.kind {
            QuestionKind::Approval { .. }
            | QuestionKind::Uncertain { .. }
            | QuestionKind::ModelQuestion { .. }
            | QuestionKind::Plan { .. } => self.ask_about_call(session, now, question).await,
            QuestionKind::ToolRequest { request, .. } => self.ask_for_tool(session, request).await,
            // The program started this process with the prompt and the tools that it has now.
            QuestionKind::PromptChanged { .. } => HumanAnswer::Continue {},
            // A program sets its limits itself: reaching one ends the run.
            QuestionKind::Guidance { .. } | QuestionKind::Budget { .. } => HumanAnswer::Abandon {},
        }
    }

    /// Asks the program what a tool wants to know. A program that cannot be asked, or answers what
    /// does not fit, sends the default values where they are enough.
    async fn ask_for_tool(&self, session: &Session, request: &InputRequest) -> HumanAnswer {
        let SharedApprovals { host, state, .. } = &*self.shared;
        let prompt = OpenPrompt::begin(Arc::clone(state), session.lane().session_id()).await;
        let reply = host.send(elicitation::to_request(request), ANSWER_TIMEOUT).await;
        prompt.end().await;
        elicitation::to_answer(request, reply.ok().as_ref())
    }

    async fn ask_about_call(
        &self,
        session: &Session,
        now: Conversation,
        question: &Question,
    ) -> HumanAnswer {
        let Some(request) = PermissionRequest::new(session.lane(), &now, question) else {
            return HumanAnswer::Abandon {};
        };
        let reply = match self.ask_hooks(session, now, &request).await {
            Some(reply) => reply,
            None => self.ask_host(session, &request).await,
        };
        reply.into_answer(&question.kind, (request.input(), &self.shared.workspace))
    }

    async fn ask_hooks(
        &self,
        session: &Session,
        conversation: Conversation,
        request: &PermissionRequest,
    ) -> Option<PermissionReply> {
        let hooks = self.shared.hooks.as_ref().filter(|hooks| hooks.decides_permissions())?;
        let context = HookContext::new(session.lane().clone(), conversation);
        let decision =
            hooks.decide_permission(&context, request.call(), request.suggestions().clone());
        decision.await.map(PermissionReply::from_hook)
    }

    async fn ask_host(&self, session: &Session, request: &PermissionRequest) -> PermissionReply {
        let SharedApprovals { host, state, asks_host, .. } = &*self.shared;
        if !asks_host {
            return PermissionReply::denied(&request.no_host_message());
        }
        let session_id = session.lane().session_id();
        let prompt = OpenPrompt::begin(Arc::clone(state), session_id).await;
        let answer = host.send(request.to_json(), ANSWER_TIMEOUT).await;
        prompt.end().await;
        match answer {
            Ok(reply) => PermissionReply::parse(&reply),
            Err(HostRequestError::Closed) => PermissionReply::denied(&request.closed_message()),
            Err(error) => {
                PermissionReply::denied(&format!("the permission callback failed: {error}"))
            }
        }
    }
}

/// The permission mode that an answer sets.
fn mode_of(answer: &HumanAnswer) -> Option<PermissionMode> {
    answer.permission_updates().iter().rev().find_map(|update| match update {
        PermissionUpdate::SetMode { mode } => Some(*mode),
        _ => None,
    })
}

/// A prompt that the state of the session counts; dropped, it counts no longer.
struct OpenPrompt {
    state: Arc<SessionState>,
    session_id: String,
    is_open: bool,
}

impl OpenPrompt {
    async fn begin(state: Arc<SessionState>, session_id: &str) -> Self {
        let _ = state.begin_prompt(session_id).await;
        Self { state, session_id: session_id.to_owned(), is_open: true }
    }

    async fn end(mut self) {
        self.is_open = false;
        let _ = self.state.end_prompt(&self.session_id).await;
    }
}

impl Drop for OpenPrompt {
    fn drop(&mut self) {
        if !self.is_open {
            return;
        }
        let (state, session_id) = (Arc::clone(&self.state), std::mem::take(&mut self.session_id));
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { state.end_prompt(&session_id).await });
        }
    }
}
