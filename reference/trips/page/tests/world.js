// A server and a memory for the tests of the editor, in place of the network's and the browser's.
import { newDesk } from "../assets/desk.js";
import { Editor } from "../assets/editor.js";
import { memoryOf } from "../assets/memory.js";

export const saved = { draft: "t1", revision: 2, status: "draft", destination: "JFK", purpose: "Workshop", starts: "2026-03-01", ends: "2026-03-04" };

/** receiptOf is what the server stores of an update, or of a submission without a patch. */
export function receiptOf(commandId, patch, from = 2) {
  const draft = { ...saved, revision: from + 1, ...patch, ...(patch ? {} : { status: "submitted" }) };
  return { commandId, kind: patch ? "update" : "submit", fromRevision: from, toRevision: from + 1, draft };
}

export const ok = (body) => ({ status: 200, body });
export const refusedWith = (status, code) => ({ status, body: { code, reason: `it says ${code}` } });

/** script is a server that answers each act by the next of its replies, and lists what it was asked. */
export class Script {
  constructor() {
    this.asked = [];
    this.replies = {};
    for (const act of ["session", "signIn", "signOut", "draft", "update", "submit", "receipt", "fence"]) {
      this.replies[act] = [];
      this[act] = (...args) => {
        this.asked.push(act);
        const reply = this.replies[act].shift() ?? DEFAULT[act];
        return Promise.resolve(typeof reply === "function" ? reply(...args) : reply);
      };
    }
  }

  on(act, ...replies) {
    this.replies[act].push(...replies);
    return this;
  }

  count(act) {
    return this.asked.filter((asked) => asked === act).length;
  }
}

const DEFAULT = { session: ok({ user: "ann" }), signIn: ok({ user: "ann" }), signOut: ok({ user: "ann" }), draft: ok(saved), update: { failure: "cut" }, submit: { failure: "cut" }, receipt: refusedWith(404, "no_receipt"), fence: { failure: "cut" } };

/** storage is a browser's, for one tab. */
export function storage() {
  const kept = new Map();
  return { getItem: (key) => kept.get(key) ?? null, setItem: (key, text) => kept.set(key, text), removeItem: (key) => kept.delete(key) };
}

/** opened is an editor with the draft on its desk. */
export async function opened(server = new Script(), tab = storage()) {
  const editor = new Editor(newDesk("t1"), server, memoryOf("t1", tab));
  await editor.open();
  return editor;
}

export const change = (commandId, patch = { destination: "BOS" }) => ({ expectedRevision: 2, commandId, patch });

/** held is a reply that comes when it is let go, or by itself when its request is cancelled. */
export function held() {
  let letGo;
  let arrived;
  const asked = new Promise((resolve) => (arrived = resolve));
  const reply = (...args) =>
    new Promise((resolve) => {
      letGo = resolve;
      args.at(-1)?.addEventListener?.("abort", () => resolve({ failure: "cancelled" }));
      arrived();
    });
  return { reply, asked, letGo: (with_) => letGo(with_) };
}
