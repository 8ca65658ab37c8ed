/** Rules that have no pair, and why. A rule is here or in pairs.ts (tests/unit/twins.test.ts). */
/** A trace made by hand shows each with and without its fault (tests/traces/findings). */
const FOR_AUTHORS = 'the advice is for the author of a VFS, and no published one has both ways';

export const WITHOUT: Readonly<Record<string, string>> = {
  F04: 'Chromium gives the handles of a context back before the next one asks, so that no refusal can be brought about',
  F10: FOR_AUTHORS,
  F18: FOR_AUTHORS,
  F24: 'what a page that is left has not stored comes by chance',
  F37: 'Chromium opens 2,500 handles and more',
  F47: 'Chromium 156 throws QuotaExceededError, on a full disk as at a quota: only other browsers and older versions write less and say nothing',
  F48: 'no VFS here answers an I/O error where a handle is refused',
};
