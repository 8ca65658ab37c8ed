/** Rules that have no pair, and why. A rule is here or in pairs.ts (tests/unit/twins.test.ts). */
/** A trace made by hand shows each with and without its fault (tests/traces/findings). */
const FOR_AUTHORS = 'the advice is for the author of a VFS, and no published one has both ways';
const OTHER_BROWSER = 'the browser of the tests never does it, and DevTools cannot make it';

export const WITHOUT: Readonly<Record<string, string>> = {
  F04: 'Chromium gives the handles of a context back before the next one asks, so that no refusal can be brought about',
  F06: 'not recorded: the apps here wait for the lock by themselves, and their BUSY answers come by chance',
  F10: FOR_AUTHORS,
  F17: 'not recorded: how long a transaction waits for another tab comes by chance',
  F18: FOR_AUTHORS,
  F24: 'what a page that is left has not stored comes by chance',
  F27: OTHER_BROWSER,
  F28: OTHER_BROWSER,
  F33: 'no VFS here loses its lock',
  F37: OTHER_BROWSER,
  F46: 'not recorded: the app here that writes behind stops at a failed write',
  F47: 'TODO',
  F48: 'TODO',
  F49: 'TODO',
};
