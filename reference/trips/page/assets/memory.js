// What outlives the page: that a command was sent whose outcome nobody has seen. It
// is kept for this tab only, so that one editor's doubt never shows in another.

/** memoryOf keeps it in a storage such as sessionStorage; null keeps nothing. */
export function memoryOf(draft, storage) {
  const key = `unresolved of trip ${draft}`;
  const tried = (act) => {
    try {
      return act();
    } catch {
      return null; // a browser may refuse its storage; the open page still knows
    }
  };
  return {
    read: () =>
      tried(() => {
        const left = JSON.parse(storage.getItem(key));
        return typeof left?.commandId === "string" && ["update", "submit"].includes(left.kind) ? left : null;
      }),
    write: ({ commandId, kind, user }) => tried(() => storage.setItem(key, JSON.stringify({ commandId, kind, user }))),
    clear: () => tried(() => storage.removeItem(key)),
  };
}
