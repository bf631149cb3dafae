// What the person sees and does. It writes text only, never markup: what the server
// says is not trusted.
import { hasUnsavedChanges, isCurrent, label } from "./desk.js";
import { FIELDS, OUTCOME } from "./words.js";

const KIND = { update: "update", submit: "submission" };

export class View {
  constructor(document, editor) {
    this.document = document;
    this.editor = editor;
    const on = (id, event, act) => this.at(id).addEventListener(event, act);
    for (const field of FIELDS) on(field, "input", (e) => editor.type(field, e.target.value));
    on("editor", "submit", (e) => this.pressed(e, () => this.save()));
    on("sign-in", "submit", (e) => this.pressed(e, () => this.signIn()));
    on("sign-out-button", "click", (e) => this.pressed(e, () => this.signOut()));
    on("recheck-button", "click", (e) => this.pressed(e, () => this.recheck()));
    on("review-button", "click", (e) => this.pressed(e, () => this.review(true)));
    on("back-button", "click", (e) => this.pressed(e, () => this.review(false)));
    on("submit-button", "click", (e) => this.pressed(e, () => this.submit()));
    on("review", "keydown", (e) => e.key === "Escape" && this.review(false));
  }

  at(id) {
    return this.document.getElementById(id);
  }

  /** write sets a text where it differs, so that nothing is read aloud twice. */
  write(id, text) {
    const element = this.at(id);
    if (element.textContent !== text) element.textContent = text;
  }

  /** show shows or hides a part of the page. The focus is not lost with what is hidden: the next words are where it goes. */
  show(id, shown) {
    const part = this.at(id);
    const hadFocus = !shown && part.contains(this.document.activeElement);
    part.hidden = !shown;
    if (hadFocus) this.at("message").focus();
  }

  /** say tells the person what came of what they did. */
  say(text, isTrouble = false) {
    this.at("message").classList.toggle("trouble", isTrouble);
    this.write("message", text);
  }

  pressed(event, act) {
    event.preventDefault();
    return act();
  }

  /** draw brings the page up to the desk. */
  draw() {
    const { desk } = this.editor;
    const isKnown = desk.loaded || desk.operation || desk.unresolved;
    this.write("state", isKnown ? label(desk) : "");
    this.at("state").dataset.state = this.at("state").textContent;
    this.write("session", desk.user && !desk.isIn ? "Signed out by the server:" : "Signed in:");
    this.write("user", desk.user ?? "nobody");
    this.show("sign-in", desk.isIn === false);
    this.show("sign-out-button", desk.isIn === true);
    this.show("editor", desk.loaded);
    this.write("revision", desk.loaded ? String(desk.revision) : "–");
    this.write("status", desk.loaded ? desk.status : "–");
    for (const field of FIELDS) {
      const input = this.at(field);
      if (input.value !== desk.visible[field]) input.value = desk.visible[field];
      input.readOnly = desk.status === "submitted";
    }
    this.disable("save-button", Boolean(desk.operation) || desk.status === "submitted");
    this.disable("review-button", Boolean(desk.operation) || desk.status === "submitted");
    this.disable("submit-button", Boolean(desk.operation));
    this.disable("recheck-button", Boolean(desk.operation));
    if (!desk.loaded || desk.status === "submitted") this.show("review", false);
    this.drawUnresolved(desk);
    this.drawReview(desk);
  }

  /** disable says that a button does nothing now. It keeps the focus, which a disabled one would lose. */
  disable(id, isDisabled) {
    this.at(id).setAttribute("aria-disabled", String(isDisabled));
  }

  isDisabled(id) {
    return this.at(id).getAttribute("aria-disabled") === "true";
  }

  drawUnresolved({ unresolved, user, ...desk }) {
    const isOwn = unresolved && unresolved.user === user;
    const isHere = unresolved && isCurrent(desk, unresolved);
    this.show("doubt", Boolean(unresolved));
    this.show("recheck-button", Boolean(isHere));
    if (!unresolved) return this.write("unresolved", "");
    const what = isOwn ? `the ${KIND[unresolved.kind]} ${unresolved.commandId}` : "a command of another user of this page";
    const next = isHere
      ? "Ask the server before you save or submit again. You can go on typing."
      : "It is of an earlier session or page, and can no longer be asked for here. What is saved is what you see after reading the page anew.";
    this.write("unresolved", `Whether ${what} was applied is not known. ${next}`);
  }

  drawReview(desk) {
    for (const field of FIELDS) this.write(`review-${field}`, desk.saved[field] || "(empty)");
    this.show("review-unsaved", hasUnsavedChanges(desk));
  }

  /** offered says whether the browser took the tools. */
  offered(isOffered) {
    const words = isOffered ? "This page offers its tools to agents of this browser." : "Tools are not offered: this browser has no WebMCP, or forbids it here. You can edit as usual.";
    this.write("tools", words);
  }

  /** opened ends the page's start. */
  opened(refusal) {
    if (!refusal) return;
    if (refusal.code === "signed_out") {
      this.say("Sign in to read the draft.");
      this.at("user-name").focus();
      return;
    }
    this.say(`The draft could not be read: ${refusal.reason}. Load the page again.`, true);
  }

  async signIn() {
    const password = this.at("password");
    this.say("Signing in…");
    const refusal = await this.editor.signIn(this.at("user-name").value, password.value);
    password.value = "";
    if (refusal && !this.editor.desk.isIn) {
      this.say(`Nobody was signed in: ${refusal.reason}.`, true);
      password.focus();
      return;
    }
    this.say(refusal ? `Signed in. The draft could not be read: ${refusal.reason}.` : `Signed in as ${this.editor.desk.user}.`, Boolean(refusal));
    this.at(refusal ? "sign-out-button" : "destination").focus();
  }

  async signOut() {
    const refusal = await this.editor.signOut();
    if (refusal) return this.say(`You are still signed in: ${refusal.reason}.`, true);
    this.say("Signed out.");
    this.at("user-name").focus();
  }

  async save() {
    if (this.isDisabled("save-button")) return;
    const { desk } = this.editor;
    const patch = Object.fromEntries(FIELDS.filter((field) => desk.visible[field] !== desk.saved[field]).map((field) => [field, desk.visible[field]]));
    if (Object.keys(patch).length === 0) return this.say("There is nothing to save.");
    this.sayOutcome(await this.editor.update({ expectedRevision: desk.revision, commandId: ownCommand("save"), patch }), "Saved.");
  }

  review(isOpen) {
    if (isOpen && this.isDisabled("review-button")) return;
    this.show("review", isOpen);
    this.at(isOpen ? "review-title" : "review-button").focus();
  }

  async submit() {
    if (this.isDisabled("submit-button")) return;
    const { desk } = this.editor;
    this.sayOutcome(await this.editor.submit({ expectedRevision: desk.revision, commandId: ownCommand("submit") }), "Submitted.");
  }

  async recheck() {
    if (this.isDisabled("recheck-button")) return;
    const { kind, commandId } = this.editor.desk.unresolved;
    this.sayOutcome(await this.editor.recheck(kind, { commandId }), `The ${KIND[kind]} had been applied.`);
  }

  sayOutcome({ outcome, code, reason, toRevision }, done) {
    if (outcome === OUTCOME.confirmed) return this.say(`${done} The draft is at revision ${toRevision}.`);
    this.say(`${TOLD[outcome]} ${sentence(reason)}`, true);
    if (code === "signed_out") this.at("user-name").focus();
  }
}

const TOLD = {
  [OUTCOME.conflict]: "Not saved, somebody else changed the draft.",
  [OUTCOME.refused]: "Refused, nothing was changed.",
  [OUTCOME.notSent]: "Not sent.",
  [OUTCOME.unknown]: "It is not known whether this was applied.",
};

const sentence = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/** ownCommand names a command of the person. */
const ownCommand = (what) => `person-${what}-${crypto.randomUUID()}`;
