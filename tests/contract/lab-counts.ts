/**
 * Golden instruction counts, measured independently of this code by a prototype. Chromium, Firefox,
 * and Node agreed on all of them, and WebKit in the minimum of three.
 */
import type { Config, VfsName } from '../../src/lab/experiments/model/types.ts';

/** On :memory:, rows read. Order: wa-sqlite 2.0.6, 1.0.0. */
export const IN_MEMORY: Readonly<Record<string, readonly [current: number, old: number]>> = {
  noindex: [897_971_077, 932_058_103],
  index: [225_207_642, 285_562_166],
  like: [897_581_590, 1_178_344_309],
  instr: [663_838_292, 805_290_885],
  autocommit: [31_773_826, 180_338_127],
  onetx: [20_993_381, 33_547_370],
  multirow: [8_819_114, 19_113_216],
  rowid: [72_165_421, 118_216_542],
  'without-rowid': [67_505_746, 111_643_139],
  'micro-1': [163_071_824, 198_371_697],
  'micro-2': [163_071_903, 198_371_782],
  'micro-3': [163_071_899, 198_371_795],
  ac60: [1_491_318, 7_611_740],
  mix: [75_164_869, 125_708_421],
};

/** On :memory:, wa-sqlite 2.0.6: loads and stores of the engine's memory. */
export const MEMORY: Readonly<Record<string, readonly [loads: number, stores: number]>> = {
  autocommit: [3_057_124, 1_415_209],
  multirow: [791_039, 415_087],
};

type OnVfs = readonly (readonly [Partial<Config>, ac60: number, mix: number])[];
/**
 * On a VFS, rows not read. The lower rows show Asyncify's overhead: 3.2 times on commits, 1.56
 * times in bulk.
 */
export const ON_MEMORY_VFS: OnVfs = [
  [{ vfs: 'MemoryVFS' }, 1_588_261, 74_995_327],
  [{ vfs: 'MemoryVFS', build: 'asyncify' }, 2_709_493, 116_495_584],
  [{ vfs: 'MemoryAsyncVFS', build: 'asyncify' }, 2_709_493, 116_495_584],
];
/** The same on a browser's storage. */
export const ON_STORAGE: OnVfs = [
  [{ vfs: 'AccessHandlePool' }, 1_588_702, 74_995_383],
  [{ vfs: 'IDBBatchAtomic', build: 'asyncify' }, 6_033_455, 117_149_481],
];
/** The same with JSPI. */
export const ON_STORAGE_JSPI: OnVfs = [
  [{ vfs: 'IDBBatchAtomic', build: 'jspi' }, 1_872_804, 75_215_086],
  [{ vfs: 'IDBMirror', build: 'jspi' }, 1_872_918, 75_215_089],
];

/** Instructions of ac60 on sqlite.org's build (SQLITE_ORG): in Node those in memory, in browsers all. */
export const ON_SQLITE_ORG: readonly (readonly [vfs: VfsName, ac60: number])[] = [
  ['memory', 1_744_456],
  ['MemoryVFS', 1_635_431],
  ['opfs-sahpool', 1_635_851],
];
/** Those that need a cross-origin isolated page: Chromium's pages of an extension are. */
export const ON_SQLITE_ORG_ISOLATED: typeof ON_SQLITE_ORG = [
  ['opfs', 1_693_069],
  ['opfs-wl', 1_693_069],
];

/** Patterns of findings below the VFS: only a browser has the storage that they need. */
export const PATTERNS_OF_BROWSERS: readonly string[] = [
  'block-writes',
  'idb-transactions',
  'idb-durability',
  'writable-streams',
  'writers-and-readers',
];
