// The editor's tools on the browser's own WebMCP. The browser hands arguments over
// as they come, so that each tool refuses by itself what its schema does not allow.
import { FIELDS, LABEL, OUTCOME } from "./words.js";

const draftId = { type: "string", description: "The draft that is open in this editor." };
const commandId = {
  type: "string",
  pattern: "^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$",
  description: "Names this one logical command. A new command takes a new one.",
};
const expectedRevision = { type: "integer", description: "The revision that the command is meant for, as it was read." };
const giveUp = {
  type: "boolean",
  description: "Where no receipt is found, shut the command out for good, so that it is known not to be applied.",
};
const text = { type: "string" };
const patch = {
  type: "object",
  properties: Object.fromEntries(FIELDS.map((field) => [field, text])),
  additionalProperties: false,
  minProperties: 1,
  description: "The fields to change, each with its new text.",
};

const input = (properties, required) => ({ type: "object", properties, required, additionalProperties: false });

const answered = {
  type: "object",
  properties: {
    outcome: { type: "string", enum: Object.values(OUTCOME) },
    commandId: text,
    draftId: text,
    fromRevision: { type: "integer" },
    toRevision: { type: "integer" },
    code: text,
    reason: text,
    recheck: { type: "object", properties: { tool: text, draftId: text, commandId: text }, required: ["tool", "draftId", "commandId"] },
  },
  required: ["outcome"],
};

const shown = {
  type: "object",
  properties: {
    draftId: text,
    revision: { type: "integer" },
    status: { type: "string", enum: ["draft", "submitted"] },
    saved: { type: "object", properties: patch.properties, required: FIELDS },
    hasUnsavedChanges: { type: "boolean" },
    state: { type: "string", enum: Object.values(LABEL) },
    unresolved: { type: "object", properties: { commandId: text, kind: { type: "string", enum: ["update", "submit"] } }, required: ["commandId", "kind"] },
    code: text,
    reason: text,
  },
  required: ["draftId"],
};

/** toolsOf lists the tools of an editor. */
export function toolsOf(editor) {
  const mutation = (act) => (args, { signal } = {}) => act(args, signal).then(told);
  return [
    {
      name: "get_trip_draft",
      description: "Reads the draft: its saved values and revision, whether the person has unsaved changes, and a command whose outcome is not known.",
      inputSchema: input({ draftId }, ["draftId"]),
      outputSchema: shown,
      annotations: { readOnlyHint: true, untrustedContentHint: true },
      run: (args, { signal } = {}) => read(editor, signal),
    },
    {
      name: "update_trip_draft",
      description: "Changes saved fields of the draft. An OUTCOME_UNKNOWN is neither success nor failure: recheck the command, do not send it again.",
      inputSchema: input({ draftId, expectedRevision, commandId, patch }, ["draftId", "expectedRevision", "commandId", "patch"]),
      outputSchema: answered,
      annotations: { untrustedContentHint: true },
      run: mutation((args, signal) => editor.update(args, signal)),
    },
    {
      name: "submit_trip",
      description: "Submits the draft as it is saved. An OUTCOME_UNKNOWN is neither success nor failure: recheck the command, do not send it again.",
      inputSchema: input({ draftId, expectedRevision, commandId }, ["draftId", "expectedRevision", "commandId"]),
      outputSchema: answered,
      annotations: { untrustedContentHint: true },
      run: mutation((args, signal) => editor.submit(args, signal)),
    },
    {
      name: "recheck_trip_update",
      description: "Looks up what became of this editor's update whose outcome is not known. Sends no update.",
      inputSchema: input({ draftId, commandId, giveUp }, ["draftId", "commandId"]),
      outputSchema: answered,
      annotations: { untrustedContentHint: true },
      run: mutation((args, signal) => editor.recheck("update", args, signal)),
    },
    {
      name: "recheck_trip_submission",
      description: "Looks up what became of this editor's submission whose outcome is not known. Sends no submission.",
      inputSchema: input({ draftId, commandId, giveUp }, ["draftId", "commandId"]),
      outputSchema: answered,
      annotations: { untrustedContentHint: true },
      run: mutation((args, signal) => editor.recheck("submit", args, signal)),
    },
  ].map(({ run, ...tool }) => ({ ...tool, execute: (args, options) => checked(editor, tool, args, () => run(args, options)) }));
}

/** offer registers tools with a browser's model context. Resolves to what withdraws them, or to null where the browser takes none. */
export async function offer(tools, context) {
  if (typeof context?.registerTool !== "function") return null;
  const offered = new AbortController();
  try {
    for (const tool of tools) await context.registerTool(tool, { signal: offered.signal });
  } catch {
    offered.abort(); // all or none: a browser may forbid it, as by a policy
    return null;
  }
  return () => offered.abort();
}

async function read(editor, signal) {
  const refusal = await editor.refresh(signal);
  if (!editor.desk.loaded) return result({ draftId: editor.desk.draft, ...refusal }, true, refusal?.reason);
  return result({ ...editor.shown(), ...refusal }, false); // as far as the editor knows, with why it knows no more
}

/** checked runs a tool whose arguments are as its schema has them and for the open draft; nothing is sent otherwise. */
async function checked(editor, tool, args, run) {
  const wrong = mismatch(tool.inputSchema, args, "the arguments");
  if (wrong) return refused(args, "invalid", `${wrong}; nothing was sent`);
  if (args.draftId !== editor.desk.draft) return refused(args, "not_found", `this editor has the draft ${editor.desk.draft} open and no other; nothing was sent`);
  return run();
}

function refused(args, code, reason) {
  const answer = { outcome: OUTCOME.refused, code, reason };
  for (const name of ["commandId", "draftId"]) if (typeof args?.[name] === "string") answer[name] = args[name];
  return told(answer);
}

/** mismatch says where a value is not as a schema has it, for the few words of JSON Schema that stand above; "" where it is. */
export function mismatch(schema, value, where) {
  const is = { object: (v) => v !== null && typeof v === "object" && !Array.isArray(v), string: (v) => typeof v === "string", integer: Number.isSafeInteger, boolean: (v) => typeof v === "boolean" };
  if (!is[schema.type](value)) return `${where}: expected ${schema.type === "boolean" ? "a" : "an"} ${schema.type}`.replace("an string", "a string");
  if (schema.pattern && !new RegExp(schema.pattern).test(value)) return `${where}: expected to match ${schema.pattern}`;
  if (schema.type !== "object") return "";
  const names = Object.keys(value);
  const missing = (schema.required ?? []).find((name) => !Object.hasOwn(value, name));
  if (missing) return `${where}: ${missing} is missing`;
  const unknown = names.find((name) => !Object.hasOwn(schema.properties, name));
  if (unknown !== undefined) return `${where}: there is no ${JSON.stringify(unknown.slice(0, 64))}, only ${Object.keys(schema.properties).join(", ")}`;
  if (names.length < (schema.minProperties ?? 0)) return `${where}: expected at least ${schema.minProperties} of ${Object.keys(schema.properties).join(", ")}`;
  return names.map((name) => mismatch(schema.properties[name], value[name], name)).find(Boolean) ?? "";
}

/** told is an outcome as a tool's result. Only what is known to be settled as asked is no error. */
function told(answer) {
  const settled = answer.outcome === OUTCOME.confirmed || answer.outcome === OUTCOME.notApplied;
  return result(answer, !settled, sentence(answer));
}

function sentence({ outcome, commandId, fromRevision, toRevision, reason, recheck }) {
  const next = recheck ? ` Call ${recheck.tool} with commandId ${recheck.commandId}.` : "";
  switch (outcome) {
    case OUTCOME.confirmed:
      return `confirmed: command ${commandId} moved the draft from revision ${fromRevision} to ${toRevision}.`;
    case OUTCOME.notApplied:
      return `not_applied: command ${commandId} was not applied and never will be.`;
    case OUTCOME.unknown:
      return `OUTCOME_UNKNOWN: whether command ${commandId} was applied is not known (${reason}). Do not send it again.${next}`;
    default:
      return `${outcome}: ${reason}.${next}`;
  }
}

function result(structuredContent, isError, words = JSON.stringify(structuredContent)) {
  return { structuredContent, content: [{ type: "text", text: words }], isError };
}
