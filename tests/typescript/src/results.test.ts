// How runs end: limits, errors of the service, structured output.

import assert from "node:assert/strict";
import { agentTest } from "./harness.js";

const LOOP = 'when any\n  call Bash {"command": "echo again"}\n  usage in 100 out 10\n';
const fewRetries = () => ({ env: { ...process.env, CLAUDE_CODE_MAX_RETRIES: "2" } });
const WEATHER = {
  type: "json_schema" as const,
  schema: {
    type: "object",
    properties: { city: { type: "string" }, degrees: { type: "integer" } },
    required: ["city", "degrees"],
    additionalProperties: false,
  },
};

agentTest("max turns", async (agent) => {
  await agent.serve(LOOP);
  const run = await agent.queryAny("go", { maxTurns: 2 });
  assert.ok(run.error);
  assert.equal(run.result.subtype, "error_max_turns");
  assert.equal(run.result.terminal_reason, "max_turns");
  assert.equal(agent.requests.length, 2);
  assert.equal(run.toolResults.length, 2);
});

agentTest("budget", async (agent) => {
  await agent.serve(LOOP.replace("in 100", "in 1000000"));
  const run = await agent.queryAny("go", { maxBudgetUsd: 0.01 });
  assert.ok(run.error);
  assert.equal(run.result.subtype, "error_max_budget_usd");
  assert.equal(run.result.terminal_reason, "budget_exhausted");
  assert.equal(run.toolResults.length, 0);
});

agentTest("unknown model", async (agent) => {
  await agent.serve('when any\n  fail 404 "model: no-such-model"\n');
  const run = await agent.queryAny("go", { model: "no-such-model" });
  assert.ok(run.error);
  assert.equal(run.result.subtype, "success");
  assert.ok(run.result.is_error);
  assert.equal(run.result.api_error_status, 404);
  assert.equal(run.ofType("assistant")[0].message.model, "<synthetic>");
});

agentTest("wrong key", async (agent) => {
  await agent.serve('when any\n  fail 401 "invalid x-api-key"\n');
  const run = await agent.queryAny("go", fewRetries());
  assert.equal(run.result.api_error_status, 401);
  assert.equal(run.ofType("assistant")[0].error, "authentication_failed");
});

for (const [failure, status] of [["fail 429 retry-after 1", 429], ["fail 529", 529], ["fail connect", null]] as const) {
  agentTest(`retry after ${failure}`, async (agent) => {
    await agent.serve(`when any\n  once\n  ${failure}\n\nwhen any\n  say "ok"\n`);
    const run = await agent.query("go");
    assert.equal(run.text, "ok");
    assert.equal(run.system("api_retry")[0].error_status, status);
  });
}

agentTest("retries come to an end", async (agent) => {
  await agent.serve("when any\n  fail 500\n");
  const run = await agent.queryAny("go", fewRetries());
  assert.ok(run.error);
  assert.equal(run.result.terminal_reason, "api_error");
  assert.equal(run.system("api_retry").length, 2);
});

agentTest("an error does not end the conversation", async (agent) => {
  await agent.serve('when user contains "good"\n  say "ok"\n\nwhen any\n  fail 404 "no"\n');
  const conversation = agent.converse();
  const bad = await conversation.ask("bad");
  const good = await conversation.ask("good");
  assert.ok(bad.result.is_error);
  assert.equal(good.text, "ok");
});

agentTest("refusal", async (agent) => {
  await agent.serve('when any\n  say "I will not"\n  stop refusal\n');
  const run = await agent.queryAny("go");
  assert.equal(run.result.stop_reason, "refusal");
  assert.ok(run.result.is_error);
});

agentTest("structured output", async (agent) => {
  await agent.serve(`
    when results 0
      call StructuredOutput {"city": "Rome", "degrees": "warm"}

    when error
      call StructuredOutput {"city": "Rome", "degrees": 21}
  `);
  const run = await agent.query("weather", { outputFormat: WEATHER });
  assert.ok(run.toolResults[0].is_error);
  assert.deepEqual(run.result.structured_output, { city: "Rome", degrees: 21 });
});

agentTest("structured output that never fits", async (agent) => {
  await agent.serve('when any\n  call StructuredOutput {"city": 7}\n');
  const run = await agent.queryAny("weather", { outputFormat: WEATHER });
  assert.ok(run.error);
  assert.equal(run.result.subtype, "error_max_structured_output_retries");
});
