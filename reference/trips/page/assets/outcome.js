// What an answer of the server means for a command. Pure: a reply in, an outcome out.
//
// A reply is { status, body } or { failure }, where failure says why there is none:
// "unsent" (cancelled before it left), "cut", "deadline" or "cancelled".
import { FIELDS, OUTCOME } from "./words.js";

const REASON = {
  cut: "the connection ended before an answer came",
  deadline: "no answer came within the deadline",
  cancelled: "the call was cancelled",
  unsent: "the call was cancelled before the request left",
};

const CODE = { cut: "unavailable", unsent: "cancelled", deadline: "deadline", cancelled: "cancelled" };

const STATUS_CODE = { 400: "invalid", 401: "signed_out", 403: "forbidden", 404: "not_found", 422: "command_reused" };

/** The server's own words for a 409, of which all but the first are refusals. */
const CONFLICTS = ["revision_conflict", "submitted", "fenced"];

const isRefused = (reply) => reply.status >= 400 && reply.status < 500;

function codeOf({ failure, status, body }) {
  if (failure) return CODE[failure];
  if (!isRefused({ status })) return "unavailable";
  if (status === 409 && CONFLICTS.includes(body?.code)) return body.code;
  return STATUS_CODE[status] ?? "refused";
}

/** told is the code and reason of a reply. What the server says in words is text, and nothing more is made of it. */
export function told(reply) {
  const said = typeof reply.body?.reason === "string" ? reply.body.reason : `the server answered with status ${reply.status}`;
  return { code: codeOf(reply), reason: REASON[reply.failure] ?? said };
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

const unreadable = { outcome: OUTCOME.unknown, code: "unavailable", reason: "the answer is no receipt of this command" };

const isDone = (reply) => reply.status >= 200 && reply.status < 300;

/** ofMutation is the outcome of a command by the reply to its one request. */
export function ofMutation(reply, command) {
  if (reply.failure === "unsent") return { outcome: OUTCOME.notSent, ...told(reply) };
  if (reply.failure === "cut") return { outcome: OUTCOME.unknown, ...told(reply), code: "answer_lost" };
  if (reply.failure) return { outcome: OUTCOME.unknown, ...told(reply) };
  if (isDone(reply)) {
    return isReceipt(reply.body, command) ? { outcome: OUTCOME.confirmed, receipt: reply.body } : unreadable;
  }
  if (isRefused(reply)) {
    const { code, reason } = told(reply);
    return { outcome: code === "revision_conflict" ? OUTCOME.conflict : OUTCOME.refused, code, reason };
  }
  return { outcome: OUTCOME.unknown, ...told(reply) };
}

/** What a refusal of a lookup says about a command, where that is another thing than about the request. */
const LOOKUP_CODE = { not_found: "no_receipt", invalid: "unavailable", refused: "unavailable", command_reused: "unavailable", revision_conflict: "unavailable", submitted: "unavailable", fenced: "unavailable" };

/** ofLookup is the outcome of an unresolved command by the reply to the lookup of its receipt. Only a receipt settles it. */
export function ofLookup(reply, command) {
  if (isDone(reply)) {
    return isReceipt(reply.body, command) ? { outcome: OUTCOME.confirmed, receipt: reply.body } : unreadable;
  }
  const { code, reason } = told(reply);
  return { outcome: OUTCOME.unknown, code: LOOKUP_CODE[code] ?? code, reason };
}

/** ofFence is the outcome of an unresolved command by the reply to its fence. */
export function ofFence(reply, command) {
  if (isDone(reply) && reply.body?.outcome === OUTCOME.notApplied) return { outcome: OUTCOME.notApplied };
  return ofLookup(isDone(reply) ? { status: reply.status, body: reply.body?.receipt } : reply, command);
}

/** ofPreparation is why a command was not sent, by the reply to the reading before it; null where it can be. */
export function ofPreparation(reply, loaded, draft) {
  if (reply.failure === "cut") return { outcome: OUTCOME.notSent, ...told(reply), code: "unreachable" };
  if (reply.failure) return { outcome: OUTCOME.notSent, ...told(reply) };
  if (loaded || (isDone(reply) && isDraft(reply.body, draft))) return null;
  return { outcome: isRefused(reply) ? OUTCOME.refused : OUTCOME.notSent, ...told(reply) };
}
