import assert from "node:assert/strict";
import { test } from "node:test";

import { offer, toolsOf } from "../assets/tools.js";
import { opened, Script } from "./world.js";

const byName = (editor) => Object.fromEntries(toolsOf(editor).map((tool) => [tool.name, tool]));

test("there are five tools, each closed to arguments that it does not know", async () => {
  const tools = toolsOf(await opened());
  assert.deepEqual(tools.map(({ name }) => name), ["get_trip_draft", "update_trip_draft", "submit_trip", "recheck_trip_update", "recheck_trip_submission"]);
  for (const tool of tools) assert.equal(tool.inputSchema.additionalProperties, false, tool.name);
});

const right = { draftId: "t1", expectedRevision: 2, commandId: "c1", patch: { destination: "BOS" } };
const without = (name) => Object.fromEntries(Object.entries(right).filter(([key]) => key !== name));
const wrong = [
  [without("expectedRevision"), "invalid", "expectedRevision is missing"],
  [without("commandId"), "invalid", "commandId is missing"],
  [without("patch"), "invalid", "patch is missing"],
  [{ ...right, expectedRevision: "2" }, "invalid", "expectedRevision: expected an integer"],
  [{ ...right, expectedRevision: 2.5 }, "invalid", "expectedRevision: expected an integer"],
  [{ ...right, commandId: "../x" }, "invalid", "commandId: expected to match"],
  [{ ...right, commandId: 7 }, "invalid", "commandId: expected a string"],
  [{ ...right, patch: {} }, "invalid", "patch: expected at least 1"],
  [{ ...right, patch: { owner: "bob" } }, "invalid", 'patch: there is no "owner"'],
  [{ ...right, patch: { destination: null } }, "invalid", "destination: expected a string"],
  [{ ...right, force: true }, "invalid", 'there is no "force"'],
  [null, "invalid", "the arguments: expected an object"],
  [[], "invalid", "the arguments: expected an object"],
  [{ ...right, draftId: "t2" }, "not_found", "no other"],
];
for (const [args, code, reason] of wrong) {
  test(`an update with ${JSON.stringify(args)} is refused before anything is sent`, async () => {
    const server = new Script();
    const tools = byName(await opened(server));
    const asked = server.asked.length;
    const { structuredContent, isError, content } = await tools.update_trip_draft.execute(args, {});
    assert.equal(structuredContent.outcome, "refused");
    assert.equal(structuredContent.code, code);
    assert.ok(structuredContent.reason.includes(reason), structuredContent.reason);
    assert.equal(isError, true);
    assert.ok(content[0].text.startsWith("refused: "), content[0].text);
    assert.equal(server.asked.length, asked);
  });
}

test("an unknown outcome is an error that names its recheck", async () => {
  const tools = byName(await opened());
  const { structuredContent, isError, content } = await tools.update_trip_draft.execute(right, { signal: new AbortController().signal });
  assert.equal(structuredContent.outcome, "OUTCOME_UNKNOWN");
  assert.equal(isError, true);
  assert.ok(content[0].text.includes("Call recheck_trip_update with commandId c1."), content[0].text);
});

test("a draft that cannot be read is an error with its code", async () => {
  const tools = byName(await opened(new Script().on("session", { status: 401 }).on("draft", { status: 401 })));
  const { structuredContent, isError } = await tools.get_trip_draft.execute({ draftId: "t1" }, {});
  assert.equal(structuredContent.code, "signed_out");
  assert.equal(isError, true);
});

test("tools are offered all or none, and withdrawn by their signal", async () => {
  const tools = toolsOf(await opened());
  const offered = [];
  const context = { registerTool: async (tool, { signal }) => offered.push(signal) };
  const withdraw = await offer(tools, context);
  assert.equal(offered.length, 5);
  withdraw();
  assert.ok(offered.every((signal) => signal.aborted));
  assert.equal(await offer(tools, undefined), null);
  assert.equal(await offer(tools, { registerTool: async (tool, { signal }) => offered.push(signal) > 7 && Promise.reject(new Error("forbidden")) }), null);
  assert.ok(offered.every((signal) => signal.aborted));
});
