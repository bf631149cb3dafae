import assert from "node:assert/strict";
import { test } from "node:test";

import { connect } from "../assets/server.js";

const deadlines = { mutation: 20, lookup: 10 };
const command = { expectedRevision: 2, commandId: "c/1", patch: { destination: "BOS" }, giveUp: true };

/** hangs is a fetch that only its signal ends. */
const hangs = (path, { signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

test("a command is one request that nobody repeats, caches or redirects", async () => {
  const asked = [];
  const server = connect("t 1", deadlines, async (path, how) => {
    asked.push({ path, ...how });
    return new Response('{"x":1}', { status: 200 });
  });
  assert.deepEqual(await server.update(command), { status: 200, body: { x: 1 } });
  assert.equal(asked.length, 1);
  const [{ path, method, body, headers, cache, redirect, keepalive }] = asked;
  assert.deepEqual({ path, method, cache, redirect, keepalive }, { path: "/api/trips/t%201", method: "PATCH", cache: "no-store", redirect: "error", keepalive: false });
  assert.deepEqual(JSON.parse(body), { expectedRevision: 2, commandId: "c/1", patch: { destination: "BOS" } });
  assert.deepEqual(Object.keys(headers), ["Content-Type"]);
  await server.receipt("c/1");
  assert.equal(asked[1].path, "/api/trips/t%201/commands/c%2F1");
});

test("a request that hangs ends at its deadline", async () => {
  const server = connect("t1", deadlines, hangs);
  assert.deepEqual(await server.update(command), { failure: "deadline" });
  assert.deepEqual(await server.receipt("c1"), { failure: "deadline" });
});

test("an answer whose body hangs ends at its deadline too", async () => {
  const server = connect("t1", deadlines, async (path, { signal }) => ({ status: 200, text: () => hangs(path, { signal }) }));
  assert.deepEqual(await server.receipt("c1"), { failure: "deadline" });
});

test("a cancel ends a request, and keeps one that did not begin from being sent", async () => {
  let sent = 0;
  const server = connect("t1", { mutation: 60_000, lookup: 60_000 }, (...args) => {
    sent++;
    return hangs(...args);
  });
  const cancel = new AbortController();
  const reply = server.update(command, cancel.signal);
  cancel.abort();
  assert.deepEqual(await reply, { failure: "cancelled" });
  assert.deepEqual(await server.update(command, cancel.signal), { failure: "unsent" });
  assert.equal(sent, 1);
});

test("a broken connection and an answer that is no JSON are told as such", async () => {
  assert.deepEqual(await connect("t1", deadlines, () => Promise.reject(new TypeError("x"))).update(command), { failure: "cut" });
  assert.deepEqual(await connect("t1", deadlines, async () => new Response("<p>", { status: 502 })).update(command), { status: 502, body: undefined });
});
