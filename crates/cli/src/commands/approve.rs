//! `windlass approve`: approves a call that waits for approval and continues the run.

use std::process::ExitCode;

use anyhow::{Context, bail};
use windlass::HumanAnswer;
use windlass::core::log::ids::{CallId, QuestionId};
use windlass::core::log::inbox::{AnswerChannel, AnswerSource, InboxCommand};
use windlass::core::permission::{
    CallEffect, HookPreference, PermissionQuery, PermissionRule, suggest_rule,
};
use windlass::core::run::active_run::Run;
use windlass::core::run::conversation::Conversation;
use windlass::core::run::question::{Question, QuestionKind};

use crate::args::AgentArgs;
use crate::args::inspect_args::ApproveArgs;
use crate::commands::send_command::{AfterSend, PendingCommand, SentReport};
use crate::config::paths;
use crate::inspect::history::ConversationHistory;
use crate::inspect::id_lookup;
use crate::setup::{self, ModelNeed};
use crate::{messages, terminal};

pub(crate) async fn run(args: ApproveArgs) -> anyhow::Result<ExitCode> {
    let store = setup::open_existing_store(&args.agent.store).await?;
    let workspace = &args.agent.permissions.workspace;
    let found = id_lookup::find_target(store.as_ref(), args.id.as_deref(), workspace).await?;
    let history = ConversationHistory::load(store.as_ref(), found.lane.clone()).await?;
    let (question, call) = select_question(&history, args.question)?;
    print_question(&question.kind, &history.conversation, &args.agent)?;
    let rule = if args.rule { Some(suggest_rule_for(&history.conversation, call)?) } else { None };
    if let Some(rule) = &rule {
        let folder =
            messages::command_folder(&question.kind, &history.conversation).unwrap_or_default();
        terminal::print_note(&messages::action::rule_kept(rule, folder));
    }
    // The approval applies to the input that was shown, not to one that changed meanwhile.
    let yes = rule.map_or_else(HumanAnswer::allow, HumanAnswer::allow_with_rule);
    let answer = match history.conversation.input_hash(call) {
        Some(hash) => yes.for_input_hash(&hash),
        None => yes,
    };
    let report = SentReport::answer(&found.lane, question.id);
    let answered_by = Some(AnswerSource::new(AnswerChannel::Command));
    let command = Some(InboxCommand::Answer { question: question.id, answer, answered_by });
    let sending =
        PendingCommand { lane: found.lane, command, report, model_need: ModelNeed::Required };
    sending.send(store, &args.agent, AfterSend::from_detach_flag(args.detach)).await
}

/// Prints the complete call that is approved: on standard error, so that the answer can still be
/// piped.
pub(super) fn print_question(
    kind: &QuestionKind,
    now: &Conversation,
    agent: &AgentArgs,
) -> anyhow::Result<()> {
    let folder = paths::resolve_folder(&agent.permissions.workspace, "--workspace")?;
    let (title, details) = messages::question_for_terminal(kind, now, &folder);
    terminal::print_note(&title);
    details.iter().for_each(|line| terminal::print_note(line));
    Ok(())
}

/// Selects the question to approve, and the call that it is about.
fn select_question(
    history: &ConversationHistory,
    id: Option<QuestionId>,
) -> anyhow::Result<(Question, CallId)> {
    let lane = &history.lane;
    let open: Vec<&Question> =
        history.conversation.run.iter().flat_map(Run::open_questions).collect();
    let approval = |question: &&Question| matches!(question.kind, QuestionKind::Approval { .. });
    let waiting: Vec<&Question> = open.iter().copied().filter(approval).collect();
    let named = id.map(|id| (id, open.iter().copied().find(|question| question.id == id)));
    let question = match (named, waiting.as_slice()) {
        (None, [only]) => only,
        (None, []) => bail!(messages::action::no_pending_approval(lane)),
        (None, _) => bail!(messages::action::several_questions(lane, &waiting)),
        (Some((_, Some(question))), _) if approval(&question) => question,
        (Some((_, Some(question))), _) => {
            bail!(messages::action::answer_not_accepted(lane, question))
        }
        (Some((id, None)), _) => bail!(messages::action::question_not_open(lane, id, &open)),
    };
    Ok((question.clone(), question.kind.call().context(messages::action::QUESTION_WITHOUT_CALL)?))
}

/// The rule that would allow the same call without a question.
fn suggest_rule_for(now: &Conversation, id: CallId) -> anyhow::Result<PermissionRule> {
    let call = now.run.as_ref().and_then(Run::round).and_then(|round| round.call(id));
    let settings = now.settings.as_ref();
    let suggested = call.zip(settings).and_then(|(call, settings)| {
        let effect =
            if call.facts.is_read_only() { CallEffect::ReadOnly } else { CallEffect::MayChange };
        let (tool, subject, preference) =
            (&*call.tool_use.name, &call.facts.subject, HookPreference::Neutral);
        suggest_rule(
            &settings.rules,
            PermissionQuery { tool, subject, effect, preference, grants: &now.grants },
        )
    });
    suggested.context(messages::action::NO_RULE_SUGGESTED)
}
