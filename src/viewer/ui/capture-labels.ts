/**
 * What the levels and layers of a recording are called, in the panel's settings and on the options
 * page.
 */
import type { CapturedLayer, CaptureLevel } from '../../event/capture.ts';

export const CAPTURE_LEVEL_LABELS: readonly (readonly [
  level: CaptureLevel,
  title: string,
  help: string,
])[] = [
  [0, 'Calls only', 'Operations, offsets, sizes, times, lock levels. No SQL text.'],
  [
    1,
    'SQL without values',
    'SQL text with literals folded to ? (numbers that a PRAGMA sets, like cache_size, stay), and names of tables and indexes. Bound values are not recorded.',
  ],
  [2, 'SQL with literals', 'SQL text as the app wrote it. It may hold what users typed.'],
  [
    3,
    'SQL with bound values',
    "The recording may hold everything that your app gives to SQLite. Don't share it.",
  ],
];

export const CAPTURED_LAYER_LABELS: Readonly<Record<CapturedLayer, string>> = {
  sql: 'SQL: statements of SQLite builds that are known',
  vfs: 'VFS: reads, writes, syncs, and locks of SQLite',
  query:
    'Query counters: rows scanned and sorted by each run, whether its values are new, memory (needs SQL)',
  web: "Storage: IndexedDB, OPFS, Web Locks, localStorage, HTTP requests of SQLite's calls",
};

export const STACKS_LABEL = 'JavaScript stack at the first run of each statement';
export const MESSAGES_LABEL = 'Messages between threads: times and sizes, never their contents';
export const INSTRUCTIONS_LABEL =
  'Instructions that SQLite executes for each call: exact, but the app runs slower';
export const BUFFER_HELP =
  "If a thread produces events faster than vfscope can collect them, it drops those that don't fit. vfscope counts and shows them";
