/** `aux` of an IndexedDB transaction: its mode in two bits, and its durability in the next two. */

export const IDB_MODES = ['readonly', 'readwrite', 'versionchange'] as const;
export const [READONLY, READWRITE, VERSIONCHANGE] = [0, 1, 2] as const;
/** IDBTransaction.durability; browsers that don't report it have the first. */
export const IDB_DURABILITIES = ['default', 'strict', 'relaxed'] as const;

export const idbAux = (mode: string, durability: string): number =>
  Math.max(0, (IDB_MODES as readonly string[]).indexOf(mode)) |
  (Math.max(0, (IDB_DURABILITIES as readonly string[]).indexOf(durability)) << 2);
/** Place in IDB_MODES. */
export const idbMode = (aux: number): number => aux & 3;
/** Place in IDB_DURABILITIES. */
export const idbDurability = (aux: number): number => (aux >>> 2) & 3;
