/**
 * Doctor's result as a report: displayed by the panel, printed in a terminal, or copied into an
 * issue as Markdown. Contains no rows of a database.
 */
import type { Block, Report, ReportTable } from '../analysis/report/blocks.ts';
import { moreLines } from '../analysis/report/blocks.ts';
import { cut, oneLine } from '../text/clean.ts';
import {
  countOf,
  formatBytes,
  formatCount,
  formatDuration,
  formatShare,
  UNKNOWN,
} from '../text/numbers.ts';
import type { Doctor, FileLine, LockLine } from './doctor.ts';

/** Maximum rows of a table in a bug report. */
const MOST_ROWS = 50;
/**
 * Maximum characters of a name in a cell. Long names keep both ends, which identify them better
 * than the middle.
 */
const LONGEST = 60;

const name = (text: string): string => cut(oneLine(text), LONGEST, 'both') || '(no name)';
const yes = (value: boolean | null): string => (value === null ? UNKNOWN : value ? 'yes' : 'no');

/**
 * `seen at 12 looks over 12 s`, in whole seconds, because looks are that far apart. After the first
 * look, no time is known.
 */
export function lockAge({ seenMs, looks }: Pick<LockLine, 'seenMs' | 'looks'>): string {
  if (looks < 2) return UNKNOWN;
  const seconds = Math.floor(seenMs / 1000);
  const over = seconds === 0 ? 'less than 1 s' : formatDuration(seconds * 1e6);
  return `seen at ${countOf(looks, 'look')} over ${over}`;
}

function tableBlock<Row>(
  heading: string,
  rows: readonly Row[],
  columns: readonly (readonly [title: string, cell: (row: Row) => string, number?: 'number'])[],
  none: string,
): Block {
  if (rows.length === 0) return { heading, lines: [none] };
  const table: ReportTable = {
    head: columns.map(([title]) => title),
    rows: rows.slice(0, MOST_ROWS).map((row) => columns.map(([, cell]) => cell(row))),
    texts: columns.flatMap(([, , number], i) => (number ? [] : [i])),
  };
  return { heading, table, lines: moreLines(rows.length - MOST_ROWS) };
}

export function lockBlock({ locks }: Doctor): Block {
  const heading = 'Web Locks';
  if (locks === null)
    return { heading, lines: [`${UNKNOWN}: the browser doesn't report them to this page.`] };
  const state = ({ state: now, heldBy }: LockLine): string =>
    now === 'held'
      ? 'held'
      : `waits${heldBy.length ? ` for ${heldBy.slice(0, 3).join(', ')}` : ''}`;
  const block = tableBlock(
    heading,
    locks,
    [
      ['Name', (lock) => name(lock.name)],
      ['State', state],
      ['Mode', ({ mode }) => mode],
      ['Client', ({ client }) => client],
      ['Age', lockAge],
    ],
    'No lock is held. No client waits for one.',
  );
  if (locks.length === 0) return block;
  const about =
    'A lock is at least as old as the time since it was first seen, unless it was released and taken again between two checks. That counts as one lock.';
  const others = 'Other clients are workers, or other tabs of this origin.';
  return { ...block, lines: [...block.lines!, about, others] };
}

/** Unused slots of a pool in one line. */
function fileRows(files: readonly FileLine[]): FileLine[] {
  const rows: FileLine[] = [];
  const free = new Map<string, FileLine[]>();
  for (const file of files)
    if (file.poolName !== '') rows.push(file);
    else {
      const folder = file.path.slice(0, file.path.lastIndexOf('/') + 1);
      free.set(folder, [...(free.get(folder) ?? []), file]);
    }
  for (const [path, places] of free)
    rows.push({
      ...{ path, poolName: null, cause: '' },
      kind: places[0]!.kind.replace(/^free place/, countOf(places.length, 'free place')),
      bytes: places.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0),
    });
  return rows;
}

/** Usage, quota, and what the page can use. */
export function factBlocks({ browser, storage, page }: Doctor): Block[] {
  const { usage, quota, usageBy, persisted } = storage;
  const share = usage === null || !quota ? '' : ` (${formatShare(usage / quota)} of the quota)`;
  return [
    {
      heading: 'Page',
      facts: [
        ['Browser', browser],
        [
          'Cross-origin isolated',
          `${yes(page.crossOriginIsolated)}; SharedArrayBuffer: ${yes(page.sharedMemory)}`,
        ],
        ['Secure context', yes(page.secureContext)],
        ['OPFS', yes(page.opfs)],
        ['JSPI', yes(page.jspi)],
      ],
    },
    {
      heading: 'Quota',
      facts: [
        ['Used', formatBytes(usage) + share],
        ['Quota', formatBytes(quota)],
        ...usageBy.map(({ kind, bytes }) => [`Used by ${kind}`, formatBytes(bytes)] as const),
        [
          'Persistent',
          persisted === false
            ? 'no: the browser may delete it when the disk is full'
            : yes(persisted),
        ],
      ],
    },
  ];
}

export const databaseBlock = ({ databases }: Doctor): Block =>
  tableBlock(
    'SQLite databases',
    databases,
    [
      ['Name', (one) => name(one.name)],
      ['Stored by', ({ kind }) => kind],
      ['Place', ({ at }) => name(at)],
      ['Written by', ({ writtenBy }) => (writtenBy === null ? UNKNOWN : `SQLite ${writtenBy}`)],
      ['Size', ({ bytes }) => formatBytes(bytes), 'number'],
    ],
    'No SQLite database was found.',
  );

/** The sections after the databases. */
export function otherBlocks(doctor: Doctor): Block[] {
  const { files, indexedDb, leftovers, gaps } = doctor;
  const blocks: Block[] = [
    {
      heading: 'Leftovers',
      lines: leftovers.length
        ? [
            ...leftovers.slice(0, MOST_ROWS).map(({ what, why }) => `${name(what)}: ${why}`),
            ...moreLines(leftovers.length - MOST_ROWS),
          ]
        : ['None found.'],
    },
    tableBlock(
      'Files in OPFS',
      fileRows(files),
      [
        ['Path', ({ path }) => name(path)],
        ['Name in the pool', ({ poolName }) => (poolName === null ? '' : name(poolName))],
        ['Kind', ({ kind }) => kind],
        ['Size', ({ bytes }) => formatBytes(bytes), 'number'],
      ],
      'No file.',
    ),
    tableBlock(
      'IndexedDB',
      indexedDb,
      [
        ['Name', (one) => name(one.name)],
        ['Kind', ({ kind }) => kind ?? UNKNOWN],
        ['Stores', ({ stores }) => (stores === null ? UNKNOWN : name(stores.join(', ')))],
        ['Version', ({ version }) => formatCount(version), 'number'],
      ],
      'No database.',
    ),
  ];
  if (gaps.length)
    blocks.push({
      heading: 'Not read',
      lines: [...gaps.slice(0, MOST_ROWS).map(oneLine), ...moreLines(gaps.length - MOST_ROWS)],
    });
  return blocks;
}

/** One sentence: what to look at. */
export function doctorSentence({ locks, databases, leftovers }: Doctor): string {
  const waiting = locks?.filter(({ state }) => state === 'waiting').length ?? null;
  return [
    countOf(databases.length, 'SQLite database'),
    locks === null
      ? `locks ${UNKNOWN}`
      : `${countOf(locks.length - waiting!, 'lock')} held, ${formatCount(waiting)} waiting`,
    countOf(leftovers.length, 'leftover'),
  ].join(', ');
}

/** The whole report, the most urgent part first. */
export function doctorReport(doctor: Doctor): Report {
  return {
    title: `Storage of ${doctor.origin}`,
    blocks: [
      { heading: 'Now', lines: [`${doctorSentence(doctor)}.`] },
      lockBlock(doctor),
      databaseBlock(doctor),
      ...otherBlocks(doctor),
      ...factBlocks(doctor),
    ],
  };
}
