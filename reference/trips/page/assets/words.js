// The words of the editor, as its page, its tools and their callers know them.

/** The fields of a draft that an update may change, in the order of the form. */
export const FIELDS = ["destination", "purpose", "starts", "ends"];

/** What the save label says; exactly one of these. */
export const LABEL = {
  saving: "Saving…",
  unknown: "Outcome unknown",
  unsaved: "Unsaved changes",
  saved: "Saved",
};

/** How a mutation or a recheck can end. */
export const OUTCOME = {
  confirmed: "confirmed",
  conflict: "conflict",
  refused: "refused",
  notSent: "not_sent",
  unknown: "OUTCOME_UNKNOWN",
  notApplied: "not_applied", // only behind a fence
};

/** The recheck tool of each kind of command. */
export const RECHECK = { update: "recheck_trip_update", submit: "recheck_trip_submission" };
