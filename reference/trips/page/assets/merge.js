// What becomes of the person's text when a command is confirmed. The one rule that
// decides it, by itself: the snapshot comes from the moment of dispatch, however
// much later the confirmation comes (RC-14, RC-16).
import { FIELDS } from "./words.js";

/**
 * merge gives the visible values after a confirmation.
 *
 * snapshot: { saved, visible, editVersion } as they were at dispatch
 * now:      { visible, editedAt } where editedAt is the edit version of each field's last typing
 * patch:    the fields that the command changed
 * stored:   the draft as the command saved it
 */
export function merge(snapshot, now, patch, stored) {
  const visible = {};
  for (const field of FIELDS) {
    const typedSince = now.editedAt[field] > snapshot.editVersion;
    const unsavedBefore = snapshot.visible[field] !== snapshot.saved[field];
    const keeps = typedSince || (!Object.hasOwn(patch, field) && unsavedBefore);
    visible[field] = keeps ? now.visible[field] : stored[field];
  }
  return visible;
}
