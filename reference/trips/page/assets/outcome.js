// What an answer of the server means for a command. Pure: a reply in, an outcome out.
//
// A reply is { status, body } or { failure }, where failure says why there is none:
// "unsent" (it never left), "cut", "deadline" or "cancelled".
import { FIELDS, OUTCOME } from "./words.js";

const REASON = {
  cut: "the connection ended before an answer came",
  deadline: "no answer came within the deadline",
  cancelled: "the call was cancelled",
  unsent: "the request did not leave",
};

const CODE = { cut: "unavailable", unsent: "unavailable", deadline: "deadline", cancelled: "cancelled" };

const STATUS_CODE = { 400: "invalid", 401: "signed_out", 403: "forbidden", 404: "not_found", 422: "command_reused" };

/** told is the code and reason of a reply. What the server says is text, and nothing more is made of it. */
export function told(reply) {
  if (reply.failure) return { code: CODE[reply.failure], reason: REASON[reply.failure] };
  const body = reply.body ?? {};
  const reason = typeof body.reason === "string" ? body.reason : `the server answered with status ${reply.status}`;
  if (reply.status >= 500) return { code: "unavailable", reason };
  // Whoever stands between answers 401 and 403 without the server's words.
  const fixed = reply.status === 401 || reply.status === 403;
  const code = !fixed && typeof body.code === "string" ? body.code : (STATUS_CODE[reply.status] ?? `status_${reply.status}`);
  return { code, reason };
}

/** isReceipt says whether a body is the receipt of that command, whole. */
export function isReceipt(body, command) {
  return (
    body?.commandId === command.commandId &&
    body.kind === command.kind &&
    Number.isInteger(body.fromRevision) &&
    Number.isInteger(body.toRevision) &&
    isDraft(body.draft, command.draft) &&
    body.draft.revision === body.toRevision
  );
}

/** isDraft says whether a body is that draft, whole. */
export function isDraft(body, draft) {
  return (
    body?.draft === draft &&
    Number.isInteger(body.revision) &&
    typeof body.status === "string" &&
    FIELDS.every((field) => typeof body[field] === "string")
  );
}

const unreadable = { outcome: OUTCOME.unknown, code: "unreadable", reason: "the answer is no receipt of this command" };

const isDone = (reply) => reply.status >= 200 && reply.status < 300;

/** ofMutation is the outcome of a command by the reply to its one request. */
export function ofMutation(reply, command) {
  if (reply.failure === "unsent") return { outcome: OUTCOME.notSent, ...told(reply) };
  if (reply.failure) return { outcome: OUTCOME.unknown, ...told(reply) };
  if (isDone(reply)) {
    return isReceipt(reply.body, command) ? { outcome: OUTCOME.confirmed, receipt: reply.body } : unreadable;
  }
  if (reply.status >= 400 && reply.status < 500) {
    const { code, reason } = told(reply);
    return { outcome: code === "revision_conflict" ? OUTCOME.conflict : OUTCOME.refused, code, reason };
  }
  return { outcome: OUTCOME.unknown, ...told(reply) };
}

/** ofLookup is the outcome of an unresolved command by the reply to the lookup of its receipt. Only a receipt settles it. */
export function ofLookup(reply, command) {
  if (isDone(reply)) {
    return isReceipt(reply.body, command) ? { outcome: OUTCOME.confirmed, receipt: reply.body } : unreadable;
  }
  const { code, reason } = told(reply);
  return { outcome: OUTCOME.unknown, code: reply.status === 404 ? "no_receipt" : code, reason };
}

/** ofFence is the outcome of an unresolved command by the reply to its fence. */
export function ofFence(reply, command) {
  if (isDone(reply) && reply.body?.outcome === OUTCOME.notApplied) return { outcome: OUTCOME.notApplied };
  return ofLookup(isDone(reply) ? { status: reply.status, body: reply.body?.receipt } : reply, command);
}

/** ofPreparation is why a command was not sent, by the reply to the reading before it; null where it can be. */
export function ofPreparation(reply, loaded, draft) {
  if (reply.failure) return { outcome: OUTCOME.notSent, ...told(reply) };
  if (loaded || (isDone(reply) && isDraft(reply.body, draft))) return null;
  const refused = reply.status >= 400 && reply.status < 500;
  return { outcome: refused ? OUTCOME.refused : OUTCOME.notSent, ...told(reply) };
}
