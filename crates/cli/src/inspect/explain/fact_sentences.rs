//! Sections that come from the facts of the run alone.

use windlass::StopCause;
use windlass::core::run::conversation::RunEnd;
use windlass::messages::RunFacts;

use super::ExplainSentence;
use crate::messages::report;

/// What the provider said last, for a run that it failed.
pub(super) fn last_error(ended: Option<&RunEnd>, facts: &RunFacts) -> Option<ExplainSentence> {
    ended.filter(|ended| ended.cause == StopCause::ProviderFailed)?;
    let error = facts.lost_attempts.last_error.as_ref()?;
    let entry = *facts.lost_attempts.entries.last()?;
    Some(ExplainSentence::new(report::explain_facts::last_error(error), entry))
}

/// The sub-agents of the run.
pub(super) fn sub_agents(facts: &RunFacts) -> Vec<ExplainSentence> {
    let said = |agent: &windlass::messages::SubAgentFact| {
        ExplainSentence::new(report::explain_facts::sub_agent(agent), agent.entry)
    };
    facts.sub_agents.iter().map(said).collect()
}

/// How the run used the prompt cache.
pub(super) fn cache_use(facts: &RunFacts) -> Vec<ExplainSentence> {
    let said = report::explain_facts::cache_use(&facts.model_calls).into_iter();
    said.map(|(text, entries)| ExplainSentence::with_proof(text, &entries)).collect()
}

/// Adds the largest pieces of a crowded context.
pub(super) fn add_pieces(
    mut sentences: Vec<ExplainSentence>,
    facts: &RunFacts,
) -> Vec<ExplainSentence> {
    let pieces = facts.context.as_ref().and_then(report::explain_facts::largest_pieces);
    sentences.extend(pieces.map(ExplainSentence::without_proof));
    sentences
}
