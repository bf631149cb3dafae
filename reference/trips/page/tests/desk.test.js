import assert from "node:assert/strict";
import { test } from "node:test";

import * as desks from "../assets/desk.js";
import { receiptOf, saved } from "./world.js";

function deskWith(draft = saved) {
  const desk = desks.newDesk("t1");
  desks.signedIn(desk, "ann");
  desks.load(desk, draft);
  return desk;
}

test("the label says one thing, in its order of precedence", () => {
  const desk = deskWith();
  assert.equal(desks.label(desk), "Saved");
  desks.type(desk, "purpose", "mine");
  assert.equal(desks.label(desk), "Unsaved changes");
  desks.attach(desk, desks.snapshot(desk, "update", "c1", {}));
  assert.equal(desks.label(desk), "Outcome unknown");
  const operation = desks.begin(desk, "recheck", "c1");
  assert.equal(desks.label(desk), "Saving…");
  desks.release(desk, { ...operation });
  assert.equal(desks.label(desk), "Saving…", "another operation's release");
  desks.release(desk, operation);
  desks.detach(desk);
  desks.type(desk, "purpose", saved.purpose);
  assert.equal(desks.label(desk), "Saved", "typed back to what is saved");
});

test("a snapshot does not move with the desk", () => {
  const desk = deskWith();
  const shot = desks.snapshot(desk, "update", "c1", { destination: "BOS" });
  desks.type(desk, "purpose", "mine");
  assert.equal(shot.visible.purpose, saved.purpose);
  assert.equal(shot.editVersion, 0);
});

test("a result that is older than the desk changes nothing on it", () => {
  const desk = deskWith({ ...saved, revision: 7, destination: "LAX" });
  desks.confirm(desk, desks.snapshot(desk, "update", "c1", { destination: "BOS" }), receiptOf("c1", { destination: "BOS" }));
  assert.equal(desk.revision, 7);
  assert.equal(desk.visible.destination, "LAX");
});

test("a session goes on for the same user only", () => {
  const desk = deskWith();
  const shot = desks.snapshot(desk, "update", "c1", {});
  desks.forgotten(desk);
  desks.signedIn(desk, "ann");
  assert.equal(desks.isCurrent(desk, shot), true);
  assert.equal(desk.visible.destination, "JFK");
  desks.signedIn(desk, "bob");
  assert.equal(desks.isCurrent(desk, shot), false);
  assert.deepEqual(desk.visible, { destination: "", purpose: "", starts: "", ends: "" }, "nothing of ann's is shown to bob");
});

test("a sign-out is the end of a session, also for the same user", () => {
  const desk = deskWith();
  const shot = desks.snapshot(desk, "update", "c1", {});
  desks.signedOut(desk);
  desks.signedIn(desk, "ann");
  assert.equal(desks.isCurrent(desk, shot), false);
});
