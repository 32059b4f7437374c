// The sub-agents of a run as a tree: each with its state, its cause and its own sub-agents.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { getExplanation, listRuns } from "../api/calls";
import type { SubAgent } from "../api/types";
import { revision } from "../state/live";
import { useResource } from "../state/resource";
import { link } from "../state/router";
import { codeSpans } from "../view/markdown";
import { Card, Empty, ExcerptView, Loaded, words } from "../view/parts";
import type { TabProps } from "./run";

const TONES: Record<string, string> = { working: "busy", answered: "ok", failed: "bad" };

/** The name by which the API knows a conversation. */
const publicName = (conversation: string): string => conversation.replace(/^conversation:/, "");

export function SubAgentsTab({ explanation }: TabProps): JSX.Element {
  return (
    <Card title="Sub-agents" note="as a tree">
      <Loaded resource={explanation}>{(found) => found.sub_agents.length === 0
        ? <Empty title="This run has no sub-agents">When an agent gives a task to another one, it appears here.</Empty>
        : <Tree agents={found.sub_agents} />}</Loaded>
    </Card>
  );
}

function Tree({ agents }: { agents: readonly SubAgent[] }): JSX.Element {
  return <ul class="tree">{agents.map((agent) => <Branch key={agent.conversation} agent={agent} />)}</ul>;
}

function Branch({ agent }: { agent: SubAgent }): JSX.Element {
  const isOpen = useSignal(false);
  const runs = useResource((stop) => listRuns({ conversation_id: publicName(agent.conversation) }, null, 1, stop), [agent.conversation, revision.value]);
  const run = runs.data.value?.data[0] ?? null;
  return (
    <li>
      <div class="row">
        <span class={`badge ${TONES[agent.state] ?? ""}`}>{words(agent.state)}</span>
        {run ? <a href={link(["runs", run.run_id])}><ExcerptView text={agent.task} /></a> : <ExcerptView text={agent.task} />}
        {agent.cause ? <span class="muted small">{words(agent.cause)}</span> : null}
        {run ? <button type="button" class="button small quiet" aria-expanded={isOpen.value} onClick={() => { isOpen.value = !isOpen.value; }}>{isOpen.value ? "Less" : "More"}</button> : null}
      </div>
      {agent.result ? <p class={agent.state === "failed" ? "small wrap bad-text" : "small wrap muted"}><ExcerptView text={agent.result} /></p> : null}
      {isOpen.value && run ? <Children id={run.run_id} /> : null}
    </li>
  );
}

function Children({ id }: { id: string }): JSX.Element {
  const explanation = useResource((stop) => getExplanation(id, stop), [id, revision.value]);
  return (
    <Loaded resource={explanation}>{(found) => (
      <>
        {found.advice.map((advice) => <p class="small wrap markdown">{codeSpans(advice)}</p>)}
        {found.sub_agents.length > 0 ? <Tree agents={found.sub_agents} /> : <p class="muted small">No sub-agents of its own.</p>}
      </>
    )}</Loaded>
  );
}
