import assert from "node:assert/strict";
import { test } from "node:test";

import { ofFence, ofLookup, ofMutation, ofPreparation } from "../assets/outcome.js";
import { ok, receiptOf, refusedWith, saved } from "./world.js";

const command = { commandId: "c1", kind: "update", draft: "t1" };
const receipt = receiptOf("c1", { destination: "BOS" });
const brief = ({ outcome, code }) => (code ? `${outcome} ${code}` : outcome);

const mutations = [
  [ok(receipt), "confirmed"],
  [ok({ ...receipt, commandId: "c2" }), "OUTCOME_UNKNOWN unavailable"],
  [ok({ ...receipt, kind: "submit" }), "OUTCOME_UNKNOWN unavailable"],
  [ok({ ...receipt, draft: { ...receipt.draft, draft: "t2" } }), "OUTCOME_UNKNOWN unavailable"],
  [ok({ ...receipt, toRevision: 9 }), "OUTCOME_UNKNOWN unavailable"],
  [ok(undefined), "OUTCOME_UNKNOWN unavailable"],
  [refusedWith(409, "revision_conflict"), "conflict revision_conflict"],
  [refusedWith(409, "submitted"), "refused submitted"],
  [refusedWith(409, "fenced"), "refused fenced"],
  [refusedWith(400, "invalid"), "refused invalid"],
  [{ status: 401 }, "refused signed_out"],
  [refusedWith(401, "anything"), "refused signed_out"],
  [refusedWith(409, "anything"), "refused refused"],
  [{ status: 403 }, "refused forbidden"],
  [{ status: 404 }, "refused not_found"],
  [{ status: 422 }, "refused command_reused"],
  [{ status: 418, body: null }, "refused refused"],
  [{ status: 500 }, "OUTCOME_UNKNOWN unavailable"],
  [{ status: 304 }, "OUTCOME_UNKNOWN unavailable"],
  [{ failure: "unsent" }, "not_sent cancelled"],
  [{ failure: "cut" }, "OUTCOME_UNKNOWN answer_lost"],
  [{ failure: "deadline" }, "OUTCOME_UNKNOWN deadline"],
  [{ failure: "cancelled" }, "OUTCOME_UNKNOWN cancelled"],
];
for (const [reply, expected] of mutations) {
  test(`a mutation answered by ${JSON.stringify(reply)} is ${expected}`, () => assert.equal(brief(ofMutation(reply, command)), expected));
}

const lookups = [
  [ok(receipt), "confirmed"],
  [ok({ ...receipt, commandId: "c2" }), "OUTCOME_UNKNOWN unavailable"],
  [refusedWith(404, "no_receipt"), "OUTCOME_UNKNOWN no_receipt"],
  [{ status: 404 }, "OUTCOME_UNKNOWN no_receipt"],
  [refusedWith(503, "no_receipt"), "OUTCOME_UNKNOWN unavailable"],
  [{ status: 401 }, "OUTCOME_UNKNOWN signed_out"],
  [{ status: 403 }, "OUTCOME_UNKNOWN forbidden"],
  [{ status: 409 }, "OUTCOME_UNKNOWN unavailable"],
  [{ failure: "cut" }, "OUTCOME_UNKNOWN unavailable"],
  [{ failure: "deadline" }, "OUTCOME_UNKNOWN deadline"],
  [{ failure: "unsent" }, "OUTCOME_UNKNOWN cancelled"],
];
for (const [reply, expected] of lookups) {
  test(`a lookup answered by ${JSON.stringify(reply)} is ${expected}`, () => assert.equal(brief(ofLookup(reply, command)), expected));
}

test("a fence settles only what it says", () => {
  assert.equal(brief(ofFence(ok({ outcome: "not_applied" }), command)), "not_applied");
  assert.equal(brief(ofFence(ok({ outcome: "confirmed", receipt }), command)), "confirmed");
  assert.equal(brief(ofFence(ok({ outcome: "confirmed" }), command)), "OUTCOME_UNKNOWN unavailable");
  assert.equal(brief(ofFence({ status: 500 }, command)), "OUTCOME_UNKNOWN unavailable");
  assert.equal(brief(ofFence({ failure: "cut" }, command)), "OUTCOME_UNKNOWN unavailable");
});

test("a reading that comes to nothing keeps the command back", () => {
  assert.equal(ofPreparation(ok(saved), false, "t1"), null);
  assert.equal(ofPreparation({ status: 503 }, true, "t1"), null, "the server can be reached, and the draft is there");
  assert.equal(brief(ofPreparation({ failure: "cut" }, true, "t1")), "not_sent unreachable");
  assert.equal(brief(ofPreparation({ failure: "cancelled" }, true, "t1")), "not_sent cancelled");
  assert.equal(brief(ofPreparation({ status: 503 }, false, "t1")), "not_sent unavailable");
  assert.equal(brief(ofPreparation({ status: 401 }, false, "t1")), "refused signed_out");
  assert.equal(brief(ofPreparation(refusedWith(404, "not_found"), false, "t1")), "refused not_found");
});
