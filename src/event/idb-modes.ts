/** What `aux` says of an IndexedDB transaction: its mode in two bits, and its durability in the next two. */

export const IDB_MODES = ['readonly', 'readwrite', 'versionchange'] as const;
export const [READONLY, READWRITE, VERSIONCHANGE] = [0, 1, 2] as const;
/** Place in IDB_MODES. */
export const idbMode = (aux: number): number => aux & 3;
/** 0 default, 1 strict, 2 relaxed. */
export const idbDurability = (aux: number): number => (aux >>> 2) & 3;
