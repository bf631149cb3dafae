import assert from "node:assert/strict";
import { test } from "node:test";

import { merge } from "../assets/merge.js";

const all = (destination, purpose) => ({ destination, purpose, starts: "s", ends: "e" });
const stored = { ...all("BOS", "Workshop"), revision: 3 };

// One line a case: saved and visible at dispatch, what was typed since, what is visible then.
const cases = [
  ["nothing was typed", all("JFK", "Workshop"), {}, all("BOS", "Workshop")],
  ["another field was typed into since", all("JFK", "Workshop"), { purpose: "mine" }, all("BOS", "mine")],
  ["the very field was typed into since", all("JFK", "Workshop"), { destination: "LAX" }, all("LAX", "Workshop")],
  ["another field was unsaved before", all("JFK", "before"), {}, all("BOS", "before")],
  ["the very field was unsaved before", all("ORD", "Workshop"), {}, all("BOS", "Workshop")],
  ["the very field was unsaved before and typed into since", all("ORD", "Workshop"), { destination: "LAX" }, all("LAX", "Workshop")],
];
for (const [name, visible, typed, expected] of cases) {
  test(`a confirmation, where ${name}`, () => {
    const editedAt = { destination: 4, purpose: 3, starts: 0, ends: 0 };
    let version = 5;
    for (const field of Object.keys(typed)) editedAt[field] = ++version;
    const snapshot = { saved: all("JFK", "Workshop"), visible, editVersion: 5 };
    assert.deepEqual(merge(snapshot, { visible: { ...visible, ...typed }, editedAt }, { destination: "BOS" }, stored), expected);
  });
}

test("a field that somebody else saved comes along where the person left it alone", () => {
  const snapshot = { saved: all("JFK", "Workshop"), visible: all("JFK", "Workshop"), editVersion: 0 };
  const now = { visible: all("JFK", "Workshop"), editedAt: { destination: 0, purpose: 0, starts: 0, ends: 0 } };
  assert.deepEqual(merge(snapshot, now, { destination: "BOS" }, { ...stored, purpose: "theirs" }), all("BOS", "theirs"));
});
