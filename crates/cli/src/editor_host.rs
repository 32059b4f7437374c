//! What `windlass acp` opens for an editor: sessions with the settings of this machine, of the
//! folder and of the command line.

mod editor_files;
mod editor_servers;
mod hosted_session;

use std::path::Path;
use std::sync::Arc;

use windlass::core::log::ids::LaneId;
use windlass::messages::format_iso_time;
use windlass::ports::{BoxFuture, RunInfo, Store};
use windlass_acp::{
    EditorHost, HostError, HostedSession, LoginMethod, OpenRequest, OpenTarget, SessionEntry,
    SessionFilter,
};

use crate::args::{AgentArgs, WhenAsked};
use crate::commands::delete::remove_conversation;
use crate::inspect::id_lookup::{self, LANE_PREFIX};
use crate::setup::{self, HostParts, OpenConversation, session_changes};
use editor_files::BlockingFiles;
use hosted_session::CliSession;

/// The id of the way to make a model available.
const KEY_METHOD: &str = "api-key";

/// Runs read by the first search for sessions; each further search reads four times more.
const FIRST_PAGE_RUNS: usize = 500;

/// Opens sessions with the settings of this machine.
pub(crate) struct CliEditorHost {
    args: AgentArgs,
    store: Arc<dyn Store>,
}

impl CliEditorHost {
    pub(crate) fn new(args: AgentArgs, store: Arc<dyn Store>) -> Self {
        Self { args, store }
    }

    async fn open_session(
        &self,
        request: OpenRequest,
    ) -> Result<Box<dyn HostedSession>, HostError> {
        let lane = self.find_lane(&request.target).await?;
        let mut args = self.args.clone();
        args.permissions.workspace.clone_from(&request.folder);
        args.permissions.add_dir.extend(request.more_folders);
        // The editor is asked for approvals.
        args.permissions.when_asked = Some(WhenAsked::Park);
        let (config, missing) = editor_servers::split_servers(&request.mcp_servers);
        args.mcp.mcp_config.extend(config);
        let opened = OpenConversation { store: Arc::clone(&self.store), lane: lane.clone() };
        let open_files = request.files.map(BlockingFiles::share);
        let parts = HostParts { open_files, ..HostParts::default() };
        let started = setup::start_for_host(Some(opened), &args, parts).await;
        let setup = match started {
            Ok(setup) => setup,
            Err(error) => return Err(self.explain(&args, &error)),
        };
        let session = setup.windlass.session(lane);
        Ok(Box::new(CliSession::new(args, setup, session, &missing)))
    }

    async fn find_lane(&self, target: &OpenTarget) -> Result<LaneId, HostError> {
        let id = match target {
            OpenTarget::New(id) => return Ok(LaneId::from(format!("{LANE_PREFIX}{id}"))),
            OpenTarget::Existing(id) => id,
        };
        let unknown = || HostError::NoSession(id.chars().take(100).collect());
        let id = uuid::Uuid::parse_str(id).map_err(|_| unknown())?;
        let lane = LaneId::from(format!("{LANE_PREFIX}{id}"));
        match self.store.lane_info(lane.clone()).await {
            Ok(Some(_)) => Ok(lane),
            Ok(None) => Err(unknown()),
            Err(error) => Err(HostError::Failed(error.to_string())),
        }
    }

    /// Finds out whether a session could not be opened because no model can be called.
    fn explain(&self, args: &AgentArgs, error: &anyhow::Error) -> HostError {
        match session_changes::check_model(args) {
            Err(reason) => HostError::LoginRequired(format!("{reason:#}")),
            Ok(()) => HostError::Failed(format!("{error:#}")),
        }
    }

    async fn list_sessions(&self, filter: SessionFilter) -> Result<Vec<SessionEntry>, HostError> {
        let wanted = filter.skip.saturating_add(filter.limit);
        let mut page = FIRST_PAGE_RUNS;
        loop {
            let runs = self.store.list_runs(None, page).await;
            let runs = runs.map_err(|error| HostError::Failed(error.to_string()))?;
            let is_all = runs.len() < page;
            let found = newest_of_each(runs, filter.folder.as_deref());
            if is_all || found.len() >= wanted {
                return Ok(found.into_iter().skip(filter.skip).take(filter.limit).collect());
            }
            page = page.saturating_mul(4);
        }
    }
}

/// The newest run of each conversation, as a session; without sub-agents.
fn newest_of_each(runs: Vec<RunInfo>, folder: Option<&Path>) -> Vec<SessionEntry> {
    let folder = folder.map(|folder| folder.canonicalize().unwrap_or_else(|_| folder.to_owned()));
    let mut seen = std::collections::HashSet::new();
    let is_wanted = |run: &RunInfo| {
        let fits = folder.as_ref().is_none_or(|folder| id_lookup::is_in_folder(run, folder));
        fits && id_lookup::parent_lane(run.lane.as_str()).is_none() && seen.insert(run.lane.clone())
    };
    runs.into_iter().filter(is_wanted).filter_map(session_entry).collect()
}

impl EditorHost for CliEditorHost {
    fn open(
        &self,
        request: OpenRequest,
    ) -> BoxFuture<'_, Result<Box<dyn HostedSession>, HostError>> {
        Box::pin(self.open_session(request))
    }

    fn list(&self, filter: SessionFilter) -> BoxFuture<'_, Result<Vec<SessionEntry>, HostError>> {
        Box::pin(self.list_sessions(filter))
    }

    fn delete(&self, session_id: String) -> BoxFuture<'_, Result<(), HostError>> {
        Box::pin(async move {
            let lane = self.find_lane(&OpenTarget::Existing(session_id)).await?;
            let removed = remove_conversation(self.store.as_ref(), lane).await;
            removed.map(drop).map_err(|error| HostError::Failed(format!("{error:#}")))
        })
    }

    fn login_methods(&self) -> Vec<LoginMethod> {
        vec![LoginMethod {
            id: KEY_METHOD.to_owned(),
            name: "Key of a provider".to_owned(),
            description:
                "Set ANTHROPIC_API_KEY, or the key of another provider, in the environment \
                          of the editor; `windlass doctor` says what is missing"
                    .to_owned(),
        }]
    }

    fn check_login(&self) -> BoxFuture<'_, Result<(), HostError>> {
        let checked = session_changes::check_model(&self.args);
        let checked = checked.map_err(|reason| HostError::LoginRequired(format!("{reason:#}")));
        Box::pin(std::future::ready(checked))
    }

    fn version(&self) -> String {
        env!("CARGO_PKG_VERSION").to_owned()
    }
}

fn session_entry(run: RunInfo) -> Option<SessionEntry> {
    let folder = run.description.folder.as_deref()?;
    Some(SessionEntry {
        session_id: run.lane.session_id().to_owned(),
        folder: folder.into(),
        title: run.description.prompt.as_deref().map(str::to_owned),
        updated_at: Some(format_iso_time(run.at)),
    })
}
