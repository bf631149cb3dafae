// The page's only way to the server: one bounded request an act, sent once.

// How long a sign-in may take, in ms. No operation waits for it, and a server takes its time with a password.
const SIGN_IN = 30_000;

/**
 * connect makes the client of one draft. deadlines: { mutation, lookup } in ms.
 * Every function resolves to a reply (see outcome.js) and never rejects.
 */
export function connect(draft, deadlines, fetch = globalThis.fetch.bind(globalThis)) {
  const at = `/api/trips/${encodeURIComponent(draft)}`;
  const receiptOf = (commandId) => `${at}/commands/${encodeURIComponent(commandId)}`;

  async function ask(method, path, body, deadline, cancel) {
    if (cancel?.aborted) return { failure: "unsent" };
    const bound = new AbortController();
    let failure = "cut";
    const end = (why) => {
      failure = why;
      bound.abort();
    };
    const timer = setTimeout(end, deadline, "deadline");
    const onCancel = () => end("cancelled");
    cancel?.addEventListener("abort", onCancel, { once: true });
    try {
      const response = await fetch(path, {
        method,
        headers: body === undefined ? {} : { "Content-Type": "application/json" },
        body: body === undefined ? undefined : JSON.stringify(body),
        signal: bound.signal,
        cache: "no-store",
        credentials: "same-origin",
        keepalive: false,
        redirect: "error",
      });
      const text = await response.text();
      return { status: response.status, body: parsed(text) };
    } catch {
      return { failure };
    } finally {
      clearTimeout(timer);
      cancel?.removeEventListener("abort", onCancel);
    }
  }

  const look = (method, path, body, cancel) => ask(method, path, body, deadlines.lookup, cancel);
  const mutate = (method, path, body, cancel) => ask(method, path, body, deadlines.mutation, cancel);

  return {
    session: () => look("GET", "/api/session"),
    signIn: (user, password) => ask("POST", "/api/session", { user, password }, SIGN_IN),
    signOut: () => look("DELETE", "/api/session"),
    draft: (cancel) => look("GET", at, undefined, cancel),
    receipt: (commandId, cancel) => look("GET", receiptOf(commandId), undefined, cancel),
    fence: (commandId, cancel) => look("POST", `${receiptOf(commandId)}/fence`, undefined, cancel),
    update: ({ expectedRevision, commandId, patch }, cancel) => mutate("PATCH", at, { expectedRevision, commandId, patch }, cancel),
    submit: ({ expectedRevision, commandId }, cancel) => mutate("POST", `${at}/submit`, { expectedRevision, commandId }, cancel),
  };
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
