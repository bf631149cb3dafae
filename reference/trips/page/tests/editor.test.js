import assert from "node:assert/strict";
import { test } from "node:test";

import { label } from "../assets/desk.js";
import { change, held, ok, opened, receiptOf, refusedWith, Script, saved, storage } from "./world.js";

/** uncertain is an editor whose update c1 lost its answer. */
async function uncertain(tab = storage()) {
  const server = new Script();
  const editor = await opened(server, tab);
  const answer = await editor.update(change("c1"));
  return { editor, server, answer };
}

test("an update that is confirmed is on the desk", async () => {
  const editor = await opened(new Script().on("update", ok(receiptOf("c1", { destination: "BOS" }))));
  assert.deepEqual(await editor.update(change("c1")), { outcome: "confirmed", commandId: "c1", draftId: "t1", fromRevision: 2, toRevision: 3 });
  assert.equal(editor.desk.visible.destination, "BOS");
  assert.equal(label(editor.desk), "Saved");
});

test("an update whose answer is lost is unknown, and changes nothing", async () => {
  const { editor, server, answer } = await uncertain();
  assert.equal(answer.outcome, "OUTCOME_UNKNOWN");
  assert.deepEqual(answer.recheck, { tool: "recheck_trip_update", draftId: "t1", commandId: "c1" });
  assert.equal(label(editor.desk), "Outcome unknown");
  assert.equal(editor.desk.visible.destination, "JFK");
  assert.equal(editor.desk.revision, 2);
  assert.equal(server.count("update"), 1);
});

test("recovery keeps what the person typed, unsaved, and sends nothing again", async () => {
  const { editor, server } = await uncertain();
  editor.type("purpose", "mine");
  assert.equal((await editor.recheck("update", { commandId: "c1" })).code, "no_receipt");
  assert.equal(label(editor.desk), "Outcome unknown");
  server.on("receipt", ok(receiptOf("c1", { destination: "BOS" })));
  assert.equal((await editor.recheck("update", { commandId: "c1" })).toRevision, 3);
  assert.equal(editor.desk.visible.purpose, "mine");
  assert.deepEqual(editor.shown(), {
    draftId: "t1", revision: 3, status: "draft", hasUnsavedChanges: true, state: "Unsaved changes",
    saved: { destination: "BOS", purpose: "Workshop", starts: saved.starts, ends: saved.ends },
  });
  assert.equal(server.count("update"), 1);
});

test("typing while the answer of an update is on its way stays", async () => {
  const late = held();
  const editor = await opened(new Script().on("update", late.reply));
  const answer = editor.update(change("c1"));
  await late.asked;
  assert.equal(label(editor.desk), "Saving…");
  editor.type("destination", "LAX");
  late.letGo(ok(receiptOf("c1", { destination: "BOS" })));
  assert.equal((await answer).outcome, "confirmed");
  assert.equal(editor.desk.visible.destination, "LAX");
  assert.equal(editor.desk.saved.destination, "BOS");
});

test("a recheck serves the attached command only, without a lookup for any other", async () => {
  const { editor, server } = await uncertain();
  for (const [kind, commandId] of [["update", "c2"], ["submit", "c1"]]) {
    const answer = await editor.recheck(kind, { commandId });
    assert.equal(`${answer.outcome} ${answer.code}`, "refused no_such_outcome");
  }
  assert.equal(server.count("receipt"), 0);
});

test("while an outcome is not known another mutation is refused, and the recheck named", async () => {
  const { editor, server } = await uncertain();
  const answer = await editor.submit({ expectedRevision: 2, commandId: "c2" });
  assert.equal(`${answer.outcome} ${answer.code}`, "refused unresolved");
  assert.equal(answer.recheck.commandId, "c1");
  assert.equal(server.count("submit"), 0);
});

test("a second operation is refused while one is in flight", async () => {
  const late = held();
  const editor = await opened(new Script().on("update", late.reply));
  const first = editor.update(change("c1"));
  await late.asked;
  assert.equal((await editor.update(change("c2"))).code, "busy");
  assert.equal(label(editor.desk), "Saving…", "the refused one released the other's operation");
  late.letGo(refusedWith(409, "revision_conflict"));
  assert.equal((await first).outcome, "conflict");
  assert.equal(label(editor.desk), "Saved");
});

test("a cancel before dispatch is not sent, a cancel after it is unknown", async () => {
  const reading = held();
  const server = new Script();
  const editor = await opened(server);
  server.on("draft", reading.reply);
  const early = new AbortController();
  const unsent = editor.update(change("c1"), early.signal);
  await reading.asked;
  early.abort();
  assert.equal((await unsent).outcome, "not_sent");
  assert.equal(server.count("update"), 0);
  assert.equal(label(editor.desk), "Saved");

  const late = held();
  server.on("update", late.reply);
  const cancel = new AbortController();
  const sent = editor.update(change("c2"), cancel.signal);
  await late.asked;
  cancel.abort();
  assert.equal((await sent).outcome, "OUTCOME_UNKNOWN");
  assert.equal((await sent).code, "cancelled");
  assert.equal(label(editor.desk), "Outcome unknown");
});

for (const reply of [{ status: 401 }, { status: 403 }, { status: 404 }, { status: 500 }, { failure: "cut" }, { failure: "deadline" }, ok({})]) {
  test(`a recheck that ends with ${JSON.stringify(reply)} releases the desk, and a later one works`, async () => {
    const { editor, server } = await uncertain();
    server.on("receipt", reply, ok(receiptOf("c1", { destination: "BOS" })));
    assert.equal((await editor.recheck("update", { commandId: "c1" })).outcome, "OUTCOME_UNKNOWN");
    assert.equal(label(editor.desk), "Outcome unknown");
    await editor.signIn("ann", "secret");
    assert.equal((await editor.recheck("update", { commandId: "c1" })).outcome, "confirmed");
    assert.equal(label(editor.desk), "Saved");
  });
}

test("a 401 on the mutation is a refusal, and asks for a sign-in", async () => {
  const editor = await opened(new Script().on("update", { status: 401 }));
  const answer = await editor.update(change("c1"));
  assert.equal(`${answer.outcome} ${answer.code}`, "refused signed_out");
  assert.equal(editor.desk.isIn, false);
  assert.equal(label(editor.desk), "Saved");
});

test("a submission is told apart and rechecked without a second one", async () => {
  const server = new Script().on("receipt", ok(receiptOf("c1")));
  const editor = await opened(server);
  const answer = await editor.submit({ expectedRevision: 2, commandId: "c1" });
  assert.equal(answer.recheck.tool, "recheck_trip_submission");
  assert.equal((await editor.recheck("submit", { commandId: "c1" })).outcome, "confirmed");
  assert.equal(editor.desk.status, "submitted");
  assert.equal(server.count("submit"), 1);
});

test("only giving up fences, and only where there is no receipt", async () => {
  const { editor, server } = await uncertain();
  server.on("receipt", { status: 500 }, refusedWith(404, "no_receipt"), refusedWith(404, "no_receipt"));
  await editor.recheck("update", { commandId: "c1", giveUp: true });
  await editor.recheck("update", { commandId: "c1" });
  assert.equal(server.count("fence"), 0);
  server.on("fence", ok({ outcome: "not_applied" }));
  assert.equal((await editor.recheck("update", { commandId: "c1", giveUp: true })).outcome, "not_applied");
  assert.equal(label(editor.desk), "Saved");
});

test("after a reload the doubt stays until a later command is confirmed", async () => {
  const tab = storage();
  await uncertain(tab);
  const server = new Script();
  const editor = await opened(server, tab);
  assert.equal(label(editor.desk), "Outcome unknown");
  assert.deepEqual(editor.shown().unresolved, { commandId: "c1", kind: "update" });
  assert.equal((await editor.recheck("update", { commandId: "c1" })).code, "stale_generation");
  assert.equal(server.count("receipt"), 0);
  server.on("update", refusedWith(409, "revision_conflict"), ok(receiptOf("c3", { destination: "BOS" })));
  await editor.update(change("c2"));
  assert.equal(label(editor.desk), "Outcome unknown");
  assert.equal(label((await opened(new Script(), tab)).desk), "Outcome unknown", "another reload");
  await editor.update(change("c3"));
  assert.equal(label(editor.desk), "Saved");
  assert.equal(label((await opened(new Script(), tab)).desk), "Saved");
});

test("a page that is reloaded while its command is in flight does not forget it", async () => {
  const tab = storage();
  const late = held();
  const editor = await opened(new Script().on("update", late.reply), tab);
  const answer = editor.update(change("c1"));
  await late.asked;
  assert.equal(label((await opened(new Script(), tab)).desk), "Outcome unknown");
  late.letGo({ failure: "cut" });
  await answer;
});

test("another user is told nothing of it, and a recheck of it is stale", async () => {
  const { editor, server } = await uncertain();
  server.on("signIn", ok({ user: "bob" })).on("draft", { status: 404 });
  await editor.signIn("bob", "secret");
  assert.equal(editor.shown().unresolved, undefined);
  assert.equal(editor.desk.visible.destination, "");
  assert.equal((await editor.recheck("update", { commandId: "c1" })).code, "stale_generation");
});

test("a session that ends while a command is in flight releases it, and its answer changes nothing", async () => {
  const late = held();
  const server = new Script().on("update", late.reply);
  const editor = await opened(server);
  const answer = editor.update(change("c1"));
  await late.asked;
  await editor.signOut();
  assert.equal((await answer).outcome, "OUTCOME_UNKNOWN");
  assert.equal(editor.desk.operation, null);
  assert.equal(editor.desk.visible.destination, "");
  assert.equal(label(editor.desk), "Outcome unknown");
});

const newer = { ...saved, revision: 5, destination: "ORD", purpose: "theirs" };

test("a reading shows what others saved, and leaves what the person typed", async () => {
  const server = new Script();
  const editor = await opened(server);
  editor.type("purpose", "mine");
  server.on("draft", ok(newer));
  assert.equal(await editor.refresh(), null);
  assert.equal(editor.desk.revision, 5);
  assert.equal(editor.desk.visible.destination, "ORD");
  assert.equal(editor.desk.visible.purpose, "mine");
  server.on("draft", ok(saved));
  await editor.refresh();
  assert.equal(editor.desk.revision, 5, "an answer that is older than the desk");
});

test("a reading does not look past an outcome that is not known", async () => {
  const { editor, server } = await uncertain();
  const asked = server.count("draft");
  assert.equal(await editor.refresh(), null);
  assert.equal(server.count("draft"), asked);
});

test("a reading that comes back while a command is in flight changes nothing", async () => {
  const slow = held();
  const late = held();
  const server = new Script();
  const editor = await opened(server);
  server.on("draft", slow.reply).on("update", late.reply);
  const read = editor.refresh();
  await slow.asked;
  const sent = editor.update(change("c1"));
  await late.asked;
  slow.letGo(ok(newer));
  assert.equal(await read, null);
  assert.equal(editor.desk.revision, 2);
  late.letGo({ failure: "cut" });
  await sent;
});

test("a reading that fails leaves the desk and says why", async () => {
  const server = new Script();
  const editor = await opened(server);
  server.on("draft", { status: 503 });
  assert.equal((await editor.refresh()).code, "unavailable");
  assert.equal(editor.desk.visible.destination, "JFK");
});
