/** Vertical layout of the timeline's threads and lanes. Pure; CSS pixels. */
import type { LaneInfo, LaneKind, ThreadRow } from '../../../protocol/session.ts';

export const AXIS_HEIGHT = 20;
export const GROUP_HEIGHT = 20;
const EVIDENCE_HEIGHT = 18;
const LANE_HEIGHT: Record<LaneKind, number> = {
  marks: 16,
  requests: 14,
  time: 32,
  sql: 16,
  txn: 14,
  vfs: 18,
  web: 18,
  sub: 8,
  below: 14,
  lock: 18,
  reads: 22,
  writes: 22,
  queue: 22,
  wal: 22,
  cache: 22,
  memory: 22,
  cacheMemory: 22,
  schemaMemory: 22,
  statementMemory: 22,
  fileMemory: 22,
};
/**
 * If there is room, lanes grow up to this multiple of their height, so that a lone thread fills a
 * tall panel.
 */
const MOST_GROWTH = 2.5;
/** Text lanes need no more than this. */
const GROWS: Partial<Record<LaneKind, number>> = {
  marks: 1,
  requests: 1.4,
  sql: 1.4,
  txn: 1.4,
  sub: 1.5,
  below: 1.4,
};
const LANE_GAP = 3;
/** Pinned lanes leave at least this share of the picture to the others. */
const MOST_PINNED = 0.6;

export const LANE_TITLE: Record<LaneKind, string> = {
  marks: 'App',
  requests: 'Requests',
  time: 'CPU and I/O',
  sql: 'SQL',
  txn: 'Transactions',
  vfs: 'VFS',
  web: 'Storage',
  sub: '',
  below: 'Below storage',
  lock: 'Lock',
  reads: 'Read B/s',
  writes: 'Written B/s',
  queue: 'In flight',
  wal: 'WAL',
  cache: 'Cache hits',
  memory: 'Wasm memory',
  cacheMemory: 'Page cache',
  schemaMemory: 'Schema',
  statementMemory: 'Prepared',
  fileMemory: 'VFS memory',
};
const BIN_HINT =
  'Each value is a mean over a fixed time, shown beside the maximum. It depends only on the zoom';
export const LANE_HINT: Record<LaneKind, string> = {
  marks:
    "Your app's performance.mark and measure calls, interactions from 16 ms, long tasks, navigations, visibility changes, and uncaught errors",
  requests:
    "Messages to another thread and their answers. In order: the thread's queue, its work, the answer's queue, the answer's listeners. SQL, storage, and locks have the legend's colors. Concurrent requests have separate lines",
  time: 'Impulses and gaps: how the time was spent while SQL ran: computing, reading, writing, syncing, waiting for a lock. Empty: no SQL was running',
  sql: 'Statements: prepare, step, exec ... Tinted by kind: other, SELECT, INSERT, UPDATE, DELETE, schema, transaction control',
  txn: 'Transactions: read (SHARED held), write (from RESERVED on), commit (until the last lock is released); gray if rolled back',
  vfs: 'Calls from SQLite to its VFS: xRead, xWrite, xSync, xLock ...',
  web: "Calls to the browser's storage: IndexedDB, OPFS, Web Locks, localStorage, and HTTP where SQLite waits for it; of those that overlap, the one that began last. Hatched: an IndexedDB transaction is open, and no request of it runs",
  sub: 'Storage calls that overlap, one by one',
  below:
    "Storage calls as Chromium reports them: a call of a file, and a request of IndexedDB until its answer. The browser's process: its work for IndexedDB, and the files that it reads, writes, and flushes for that. Of those that overlap, the one that began last",
  lock: "SQLite's lock level: SHARED, RESERVED, PENDING, EXCLUSIVE (held Web Locks where no VFS call was seen)",
  reads: `Bytes per second that the VFS read (storage calls, where no VFS call was seen), by the begin of the call. ${BIN_HINT}`,
  writes: `Bytes per second that the VFS wrote (storage calls, where no VFS call was seen), by the begin of the call. ${BIN_HINT}`,
  queue: `Reads and writes of the browser's storage that were in flight at the same time (up to 16). ${BIN_HINT}`,
  wal: 'Bytes of the write-ahead log in use: from its begin to the end of the last frame written',
  cache:
    "Hit rate of SQLite's page cache, from the engine's own counters. A value holds until the next reading",
  memory: 'WebAssembly memory of an engine, read up to four times a second. It never shrinks',
  cacheMemory: "Bytes that the page caches of an engine's open connections hold",
  schemaMemory: "Bytes that the schemas of an engine's open connections take",
  statementMemory: "Bytes that the prepared statements of an engine's open connections take",
  fileMemory:
    "Sizes of files that a VFS holds in JavaScript's memory, from its calls. Its arrays may be larger",
};

export interface LaneBox {
  key: string;
  thread: number;
  kind: LaneKind;
  title: string;
  /** Its engine, if the thread has several; otherwise ''. */
  of: string;
  y: number;
  height: number;
}
export interface GroupBox {
  thread: number;
  title: string;
  url: string;
  events: number;
  y: number;
  /** With its lanes. */
  height: number;
  collapsed: boolean;
  /** It did so little that it stays collapsed until the user opens it. */
  quiet: boolean;
  lanes: LaneBox[];
}
export interface TimelineLayout {
  groups: GroupBox[];
  /** Of the groups: the part that scrolls. */
  height: number;
  /** The track of the evidence, at the top; 0 = there is none. */
  evidenceHeight: number;
  /** Above the groups, always on screen; y counts from the axis. */
  pinned: LaneBox[];
  /** With the track of the evidence. */
  pinnedHeight: number;
}

/** What the user chose to see, and in which order. */
export interface LaneChoice {
  collapsed: ReadonlySet<number>;
  /** Quiet threads that stay expanded. */
  opened: ReadonlySet<number>;
  /**
   * Keys of lanes, kinds of lanes (`kind:wal`), and threads (`thread:3`) that are hidden; for kinds
   * in SELDOM, those that are shown.
   */
  hidden: ReadonlySet<string>;
  pinned: readonly string[];
  /**
   * Keys of lanes and `thread:<index>`, in the chosen order. Others follow in their default order.
   */
  order: readonly string[];
  /** Threads whose title or address holds it; '' = all. */
  filter: string;
}
export const EVERYTHING: LaneChoice = {
  collapsed: new Set(),
  opened: new Set(),
  hidden: new Set(),
  pinned: [],
  order: [],
  filter: '',
};
export const threadKey = (thread: number): string => `thread:${thread}`;
export const kindKey = (kind: LaneKind): string => `kind:${kind}`;
/** Rarely needed: hidden by default. */
const SELDOM: readonly LaneKind[] = [
  ...(['cacheMemory', 'schemaMemory', 'statementMemory', 'fileMemory'] as const),
];
export const showsKind = (hidden: LaneChoice['hidden'], kind: LaneKind): boolean =>
  hidden.has(kindKey(kind)) === SELDOM.includes(kind);

function ordered<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  order: readonly string[],
): T[] {
  if (!order.length) return [...items];
  const place = (item: T, i: number): number => {
    const wanted = order.indexOf(keyOf(item));
    return wanted < 0 ? order.length + i : wanted;
  };
  return items
    .map((item, i) => ({ item, at: place(item, i) }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

/** A lane's name, with the engine where the thread has several. */
export const laneTitle = ({ kind, of }: Pick<LaneInfo, 'kind' | 'of'>): string =>
  of ? `${LANE_TITLE[kind]} · ${of}` : LANE_TITLE[kind];

const boxOf = (lane: LaneInfo, y: number, height: number): LaneBox => ({
  key: lane.key,
  thread: lane.thread,
  kind: lane.kind,
  title: laneTitle(lane),
  of: lane.of ?? '',
  y,
  height,
});

/**
 * A thread with fewer events than this, and with less than this share of the busiest thread's, is
 * quiet.
 */
const [QUIET_EVENTS, QUIET_SHARE] = [50, 0.01];
/**
 * Threads without SQL come after those with SQL. Once a recording has ended, the busiest is first.
 */
function byActivity(threads: readonly ThreadRow[], growing: boolean): ThreadRow[] {
  const rank = ({ lanes }: ThreadRow): number =>
    lanes.some(({ kind }) => kind === 'time') ? 0 : 1;
  return [...threads].sort(
    (a, b) => rank(a) - rank(b) || (growing ? 0 : b.events - a.events) || a.index - b.index,
  );
}
/** Threads that did hardly anything, not counting their app's marks. */
function quietOf(threads: readonly ThreadRow[]): ReadonlySet<number> {
  const most = Math.max(0, ...threads.map(({ events }) => events));
  return new Set(
    threads
      .filter(
        ({ events, lanes }) =>
          events < Math.min(QUIET_EVENTS, QUIET_SHARE * most) &&
          !lanes.some(({ kind }) => kind === 'marks'),
      )
      .map(({ index }) => index),
  );
}

/**
 * Threads without a lane (nothing recorded on them) have no group.
 * @param room px that the lanes may fill; 0 = no spare room @param evidence there is a track for it
 * @param growing a recording runs: threads keep their position, and none is quiet yet
 */
export function layoutOf(
  threads: readonly ThreadRow[],
  choice: LaneChoice = EVERYTHING,
  room = 0,
  evidence = false,
  growing = false,
): TimelineLayout {
  const quiet = growing ? new Set<number>() : quietOf(threads);
  const closed = (thread: number): boolean =>
    choice.collapsed.has(thread) || (quiet.has(thread) && !choice.opened.has(thread));
  const words = choice.filter.trim().toLowerCase();
  const shown = ordered(
    byActivity(threads, growing),
    (t) => threadKey(t.index),
    choice.order,
  ).flatMap((thread) => {
    if (
      choice.hidden.has(threadKey(thread.index)) ||
      !`${thread.title} ${thread.url}`.toLowerCase().includes(words)
    )
      return [];
    const wanted = thread.lanes.filter(
      ({ key, kind }) => !choice.hidden.has(key) && showsKind(choice.hidden, kind),
    );
    return wanted.length
      ? [{ thread, lanes: ordered(wanted, ({ key }) => key, choice.order) }]
      : [];
  });
  const all = shown.flatMap(({ lanes }) => lanes);
  const pinnedLanes = choice.pinned.flatMap((key) => all.find((lane) => lane.key === key) ?? []);
  const below = shown.map(({ thread, lanes }) => ({
    thread,
    lanes: lanes.filter((lane) => !pinnedLanes.includes(lane)),
  }));
  const pinned: LaneBox[] = [];
  const evidenceHeight = evidence ? EVIDENCE_HEIGHT : 0;
  let y = evidenceHeight;
  for (const lane of pinnedLanes) {
    const height = LANE_HEIGHT[lane.kind];
    if (room > 0 && y + height > room * MOST_PINNED) break;
    pinned.push(boxOf(lane, y, height));
    y += height + LANE_GAP;
  }
  const pinnedHeight = y;
  const growth = growthFor(
    below.map(({ thread, lanes }) => (closed(thread.index) ? [] : lanes)),
    room - pinnedHeight,
  );
  const groups: GroupBox[] = [];
  y = 0;
  for (const { thread, lanes } of below) {
    const group: GroupBox = {
      thread: thread.index,
      title: thread.title,
      url: thread.url,
      events: thread.events,
      y,
      height: GROUP_HEIGHT,
      collapsed: closed(thread.index),
      quiet: quiet.has(thread.index),
      lanes: [],
    };
    if (!group.collapsed)
      for (const lane of lanes) {
        const height = Math.floor(
          LANE_HEIGHT[lane.kind] * Math.min(growth, GROWS[lane.kind] ?? MOST_GROWTH),
        );
        group.lanes.push(boxOf(lane, y + group.height, height));
        group.height += height + LANE_GAP;
      }
    y += group.height;
    groups.push(group);
  }
  return { groups, height: y, evidenceHeight, pinned, pinnedHeight };
}

function growthFor(groups: readonly (readonly LaneInfo[])[], room: number): number {
  let fixed = 0;
  let grows = 0;
  for (const lanes of groups) {
    fixed += GROUP_HEIGHT;
    for (const { kind } of lanes) {
      fixed += LANE_GAP + (GROWS[kind] ? LANE_HEIGHT[kind] : 0);
      grows += GROWS[kind] ? 0 : LANE_HEIGHT[kind];
    }
  }
  return grows ? Math.min(MOST_GROWTH, Math.max(1, (room - fixed) / grows)) : 1;
}

/** All lanes on the picture. */
export function lanesIn(layout: TimelineLayout): LaneBox[] {
  return [...layout.pinned, ...layout.groups.flatMap((group) => group.lanes)];
}

/** Top of a lane, from the axis. */
export function topOf(layout: TimelineLayout, lane: LaneBox, scrollTop: number): number {
  return layout.pinned.includes(lane) ? lane.y : layout.pinnedHeight + lane.y - scrollTop;
}

/** The lane at a height below the axis, or null. */
export function laneAt(layout: TimelineLayout, y: number, scrollTop = 0): LaneBox | null {
  const within = (lanes: readonly LaneBox[], at: number): LaneBox | null =>
    lanes.find((lane) => at >= lane.y && at < lane.y + lane.height) ?? null;
  if (y < layout.pinnedHeight) return within(layout.pinned, y);
  const at = y - layout.pinnedHeight + scrollTop;
  for (const group of layout.groups)
    if (at >= group.y && at < group.y + group.height) return within(group.lanes, at);
  return null;
}
