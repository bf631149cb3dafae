// The editor's memory of one draft: what is saved, what is visible, what is under
// way and what is not known. No network, no document, no clock.
import { merge } from "./merge.js";
import { FIELDS, LABEL } from "./words.js";

/** A generation that no editor has: of what an earlier page left behind. */
const EARLIER = -1;

const blank = (value) => Object.fromEntries(FIELDS.map((field) => [field, value]));
const fieldsOf = (draft) => Object.fromEntries(FIELDS.map((field) => [field, draft[field]]));

/** newDesk is the desk of a draft that was not read yet. */
export function newDesk(draft) {
  return {
    draft,
    user: null, // who signed in last; stays when the server forgets the session
    isIn: null, // whether the server knew the session when it was last heard; null before it was
    loaded: false,
    revision: 0,
    status: "",
    saved: blank(""),
    visible: blank(""),
    editVersion: 0, // counts typings
    editedAt: blank(0), // the edit version of each field's last one
    sessionGeneration: 0,
    editorGeneration: 0,
    operation: null, // { kind, commandId }: what is in flight
    unresolved: null, // the command whose outcome is not known, with its snapshot
  };
}

/** hasUnsavedChanges says whether the visible values differ from the saved ones. */
export const hasUnsavedChanges = (desk) => FIELDS.some((field) => desk.visible[field] !== desk.saved[field]);

/** label is what the person reads about saving, in the order of precedence. */
export function label(desk) {
  if (desk.operation) return LABEL.saving;
  if (desk.unresolved) return LABEL.unknown;
  return hasUnsavedChanges(desk) ? LABEL.unsaved : LABEL.saved;
}

/** load puts a draft on the desk as it was read. */
export function load(desk, draft) {
  desk.loaded = true;
  desk.revision = draft.revision;
  desk.status = draft.status;
  desk.saved = fieldsOf(draft);
  desk.visible = fieldsOf(draft);
}

/** renew puts a newer reading on the desk and leaves the person's unsaved changes as they are. */
export function renew(desk, draft) {
  if (draft.revision < desk.revision) return;
  for (const field of FIELDS) {
    if (desk.visible[field] === desk.saved[field]) desk.visible[field] = draft[field];
  }
  desk.saved = fieldsOf(draft);
  desk.revision = draft.revision;
  desk.status = draft.status;
}

/** type is a person typing into a field. */
export function type(desk, field, text) {
  desk.visible[field] = text;
  desk.editedAt[field] = ++desk.editVersion;
}

/** begin takes the desk for an operation; nothing else can begin until it is released. */
export function begin(desk, kind, commandId) {
  desk.operation = { kind, commandId };
  return desk.operation;
}

/** release ends an operation, and no other one than it. */
export function release(desk, operation) {
  if (desk.operation === operation) desk.operation = null;
}

/** snapshot is what a confirmation will need to know of the moment of dispatch. */
export function snapshot(desk, kind, commandId, patch) {
  return {
    kind,
    commandId,
    patch: { ...patch },
    user: desk.user,
    saved: { ...desk.saved },
    visible: { ...desk.visible },
    editVersion: desk.editVersion,
    sessionGeneration: desk.sessionGeneration,
    editorGeneration: desk.editorGeneration,
  };
}

/** isCurrent says whether a snapshot is of this session and this editor. */
export const isCurrent = (desk, shot) =>
  shot.sessionGeneration === desk.sessionGeneration && shot.editorGeneration === desk.editorGeneration;

/** attach keeps the command of a snapshot as the one whose outcome is not known. */
export function attach(desk, shot) {
  desk.unresolved = shot;
}

/** remember attaches what an earlier page of this editor left unknown; it has no snapshot. */
export function remember(desk, left) {
  attach(desk, { kind: left.kind, commandId: left.commandId, user: left.user, sessionGeneration: EARLIER, editorGeneration: EARLIER });
}

/** detach forgets the unresolved command: it is known now, or a later one was confirmed. */
export function detach(desk) {
  desk.unresolved = null;
}

/** blocking is the unresolved command that keeps others from being sent, or null. */
export const blocking = (desk) => (desk.unresolved && isCurrent(desk, desk.unresolved) ? desk.unresolved : null);

/**
 * confirm puts the result of a command on the desk, by its snapshot. A result that is
 * older than what the desk has, as of a repeated command, changes no value.
 */
export function confirm(desk, shot, receipt) {
  detach(desk);
  if (receipt.toRevision < desk.revision) return;
  desk.visible = merge(shot, desk, shot.patch, receipt.draft);
  desk.saved = fieldsOf(receipt.draft);
  desk.revision = receipt.draft.revision;
  desk.status = receipt.draft.status;
}

/** signedIn notes who is in. Another user than before gets a session of their own, and a desk with nothing on it. */
export function signedIn(desk, user) {
  if (desk.user !== null && desk.user !== user) leave(desk);
  desk.user = user;
  desk.isIn = true;
}

/** forgotten notes that the server knows no session. The same user's next one goes on with this desk. */
export function forgotten(desk) {
  desk.isIn = false;
}

/** signedOut ends the session: nothing of it stays visible. */
export function signedOut(desk) {
  leave(desk);
  desk.user = null;
  desk.isIn = false;
}

function leave(desk) {
  desk.sessionGeneration++;
  desk.operation = null;
  desk.loaded = false;
  desk.revision = 0;
  desk.status = "";
  desk.saved = blank("");
  desk.visible = blank("");
}
