// The editor: it sends commands for the person and for the tools, and settles what
// it does not know. Every exit releases the operation that it began, and only that.
import * as desks from "./desk.js";
import { isDraft, ofFence, ofLookup, ofMutation, ofPreparation, told } from "./outcome.js";
import { OUTCOME, RECHECK } from "./words.js";

const SESSION_ENDED = { code: "stale_generation", reason: "the session changed meanwhile" };

export class Editor {
  /**
   * desk:    see desk.js
   * server:  see server.js
   * memory:  { read, write, clear }: what outlives the page, see memory.js
   * changed: called whenever the desk changed
   */
  constructor(desk, server, memory, changed = () => {}) {
    Object.assign(this, { desk, server, memory, changed, underWay: null });
    const left = memory.read();
    if (left) desks.remember(desk, left);
  }

  /** type is the person typing. */
  type(field, text) {
    desks.type(this.desk, field, text);
    this.changed();
  }

  /** open reads who is signed in and the draft. Resolves to a refusal { code, reason }, or null. */
  async open() {
    const reply = await this.server.session();
    if (typeof reply.body?.user !== "string" || reply.status !== 200) {
      desks.forgotten(this.desk);
      this.changed();
      return told(reply);
    }
    desks.signedIn(this.desk, reply.body.user);
    this.changed();
    return this.ensureLoaded();
  }

  async signIn(user, password) {
    const reply = await this.server.signIn(user, password);
    if (reply.status !== 200 || typeof reply.body?.user !== "string") {
      return reply.status === 401 ? { code: "sign_in_refused", reason: reply.body?.reason ?? "user and password do not belong together" } : told(reply);
    }
    if (this.desk.user !== null && this.desk.user !== reply.body.user) this.endSession();
    desks.signedIn(this.desk, reply.body.user);
    this.changed();
    return this.ensureLoaded();
  }

  async signOut() {
    const reply = await this.server.signOut();
    if (reply.status !== 200 && reply.status !== 401) return told(reply);
    this.endSession();
    desks.signedOut(this.desk);
    this.changed();
    return null;
  }

  /** endSession stops what the old session has under way; it must not reach the new one's desk. */
  endSession() {
    this.underWay?.abort();
  }

  /** noted sees in a reply that the server knows no session any more. Who is in again as the same user goes on. */
  noted(reply) {
    if (reply.status === 401) {
      desks.forgotten(this.desk);
      this.changed();
    }
    return reply;
  }

  /** ensureLoaded reads the draft where it was not read yet. Resolves to a refusal { code, reason }, or null. */
  async ensureLoaded(signal) {
    if (this.desk.loaded) return null;
    const reply = await this.readDraft(signal);
    if (this.desk.loaded) return null;
    return told(reply);
  }

  /**
   * refresh reads the draft anew, but for an operation in flight and an outcome that
   * can be rechecked: what a command started from stays until it is settled (RC-07).
   * Resolves to a refusal { code, reason }, or null.
   */
  async refresh(signal) {
    const { desk } = this;
    if (!desk.loaded) return this.ensureLoaded(signal);
    const isHeld = () => !desk.loaded || desk.operation || desks.blocking(desk);
    if (isHeld()) return null;
    const { sessionGeneration, editorGeneration } = desk;
    const reply = await this.readDraft(signal);
    if (reply.status !== 200 || !isDraft(reply.body, desk.draft)) return told(reply);
    if (isHeld() || !desks.isCurrent(desk, { sessionGeneration, editorGeneration })) return null;
    desks.renew(desk, reply.body);
    this.changed();
    return null;
  }

  /** readDraft asks for the draft; the desk takes it where it has none. */
  async readDraft(signal) {
    const { sessionGeneration, editorGeneration } = this.desk;
    const reply = this.noted(await this.server.draft(signal));
    const current = desks.isCurrent(this.desk, { sessionGeneration, editorGeneration });
    if (current && !this.desk.loaded && reply.status === 200 && isDraft(reply.body, this.desk.draft)) {
      desks.load(this.desk, reply.body);
      this.changed();
    }
    return reply;
  }

  /** update sends { expectedRevision, commandId, patch }, once. */
  update(command, signal) {
    return this.mutate("update", command, signal);
  }

  /** submit sends { expectedRevision, commandId }, once. */
  submit(command, signal) {
    return this.mutate("submit", { ...command, patch: {} }, signal);
  }

  async mutate(kind, command, signal) {
    const { desk } = this;
    const { commandId } = command;
    const hindrance = this.hindrance();
    if (hindrance) return this.answer(commandId, hindrance);
    return this.during(kind, commandId, signal, async (bound) => {
      // A browser does not tell a refused connection from a cut one, so that the way
      // to the server is tried with a reading before a command is entrusted to it.
      // What it reads is no new baseline: the desk takes it only where it has none.
      const prepared = ofPreparation(await this.readDraft(bound), desk.loaded, desk.draft);
      if (prepared) return prepared;
      return this.dispatch(kind, command, bound);
    });
  }

  /** dispatch sends a command; from here on only an answer says what became of it. */
  async dispatch(kind, command, signal) {
    const { desk } = this;
    const shot = desks.snapshot(desk, kind, command.commandId, command.patch);
    this.memory.write({ commandId: shot.commandId, kind, user: desk.user });
    const reply = this.noted(await this.server[kind](command, signal));
    return this.settle(shot, ofMutation(reply, this.named(shot)));
  }

  /** recheck looks the unresolved command up, and with giveUp fences it where it has no receipt. No command is sent again. */
  async recheck(kind, { commandId, giveUp }, signal) {
    const { desk } = this;
    const shot = desk.unresolved;
    if (shot?.commandId !== commandId || shot.kind !== kind) {
      return this.answer(commandId, { outcome: OUTCOME.refused, code: "no_such_outcome", reason: `no ${kind} with this commandId is unresolved in this editor` });
    }
    if (!desks.isCurrent(desk, shot)) {
      const reason = "the outcome is of an earlier session or an earlier page of this editor; read the draft and decide anew";
      return this.answer(commandId, { outcome: OUTCOME.refused, code: "stale_generation", reason });
    }
    if (desk.operation) return this.answer(commandId, this.busy());
    return this.during("recheck", commandId, signal, async (bound) => {
      let result = ofLookup(this.noted(await this.server.receipt(commandId, bound)), this.named(shot));
      if (giveUp && result.code === "no_receipt" && !bound.aborted) {
        result = ofFence(this.noted(await this.server.fence(commandId, bound)), this.named(shot));
      }
      return this.settle(shot, result);
    });
  }

  /** during holds the desk for one operation. A session that ends meanwhile ends it. */
  async during(kind, commandId, signal, act) {
    const { desk } = this;
    const underWay = new AbortController();
    const operation = desks.begin(desk, kind, commandId);
    this.underWay = underWay;
    this.changed();
    try {
      return this.answer(commandId, await act(anyOf(signal, underWay.signal)));
    } finally {
      desks.release(desk, operation);
      if (this.underWay === underWay) this.underWay = null;
      this.changed();
    }
  }

  /** settle writes an outcome on the desk. Of an older session nothing is written but that it is not known. */
  settle(shot, result) {
    const { desk } = this;
    const current = desks.isCurrent(desk, shot);
    if (result.outcome === OUTCOME.unknown) {
      if (current || !desks.blocking(desk)) desks.attach(desk, shot);
      return current ? result : { ...result, ...SESSION_ENDED };
    }
    if (current && result.outcome === OUTCOME.confirmed) desks.confirm(desk, shot, result.receipt);
    if (current && result.outcome === OUTCOME.notApplied) desks.detach(desk);
    if (desk.unresolved) this.memory.write(desk.unresolved); // an earlier one, which this did not settle
    else this.memory.clear();
    return result;
  }

  /** hindrance is why no mutation can be sent now, or null. */
  hindrance() {
    if (this.desk.operation) return this.busy();
    if (!desks.blocking(this.desk)) return null;
    const reason = "the outcome of an earlier command is not known; recheck it before another is sent";
    return { outcome: OUTCOME.refused, code: "unresolved", reason };
  }

  busy() {
    return { outcome: OUTCOME.refused, code: "busy", reason: "another operation of this editor is in flight; wait for it" };
  }

  named(shot) {
    return { commandId: shot.commandId, kind: shot.kind, draft: this.desk.draft };
  }

  /** answer is an outcome as a caller gets it, with the recheck where one is due. */
  answer(commandId, { outcome, code, reason, receipt }) {
    const answer = { outcome, commandId, draftId: this.desk.draft };
    if (receipt) Object.assign(answer, { fromRevision: receipt.fromRevision, toRevision: receipt.toRevision });
    if (code) Object.assign(answer, { code, reason });
    const due = outcome === OUTCOME.unknown || code === "unresolved" ? desks.blocking(this.desk) : null;
    if (due) answer.recheck = { tool: RECHECK[due.kind], draftId: this.desk.draft, commandId: due.commandId };
    return answer;
  }

  /** shown is the draft as the editor has it. */
  shown() {
    const { desk } = this;
    const { draft, revision, status, saved, unresolved, user } = desk;
    const shown = { draftId: draft, revision, status, saved: { ...saved }, hasUnsavedChanges: desks.hasUnsavedChanges(desk), state: desks.label(desk) };
    // Another user's command is none of this one's business.
    if (unresolved && unresolved.user === user) shown.unresolved = { commandId: unresolved.commandId, kind: unresolved.kind };
    return shown;
  }
}

function anyOf(...signals) {
  return AbortSignal.any(signals.filter(Boolean));
}
