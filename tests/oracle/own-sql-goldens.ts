/**
 * The exact VFS calls of known SQL, which a tracer that loses or duplicates one call can't match.
 * The numbers are from @journeyapps/wa-sqlite 2.0.6 (SQLite 3.53.0), page size 4096, cache -2000,
 * one connection, an in-memory VFS; they are the same in Node and through the extension in a
 * browser.
 */

/** Exact counts of 1000 INSERTs (tests/apps/common/workload.js, `own-sql`), counted after the CREATE. */
export interface OwnSqlGolden {
  name: string;
  pragmas?: string;
  oneTransaction?: true;
  access: number;
  /** open, close, delete of the journal */
  journal: [number, number, number];
  truncate: number;
  lock: [number, number];
  /** database, journal, wal */
  read: [number, number, number];
  sync: [number, number, number];
  write: [number, number, number];
  kilobytes: [number, number, number];
}

const same = { access: 2000, truncate: 0, lock: [3000, 2000] as [number, number] };
const exclusive = 'PRAGMA locking_mode=exclusive;';
export const OWN_SQL_GOLDENS: readonly OwnSqlGolden[] = [
  {
    ...same,
    name: 'delete',
    journal: [1000, 1000, 1000],
    read: [1000, 1000, 0],
    sync: [1000, 2000, 0],
    write: [2007, 8000, 0],
    kilobytes: [8028, 8527, 0],
  },
  {
    ...same,
    name: 'truncate',
    pragmas: 'PRAGMA journal_mode=truncate;',
    truncate: 1000,
    journal: [2000, 2000, 0],
    read: [1000, 2000, 0],
    sync: [1000, 3000, 0],
    write: [2007, 8000, 0],
    kilobytes: [8028, 8527, 0],
  },
  {
    ...same,
    name: 'persist',
    pragmas: 'PRAGMA journal_mode=persist;',
    journal: [2000, 2000, 0],
    read: [1000, 2000, 0],
    sync: [1000, 3000, 0],
    write: [2007, 9000, 0],
    kilobytes: [8028, 8555, 0],
  },
  ...['memory', 'off'].map((mode): OwnSqlGolden => ({
    ...same,
    name: mode,
    pragmas: `PRAGMA journal_mode=${mode};`,
    journal: [0, 0, 0],
    read: [1000, 0, 0],
    sync: [1000, 0, 0],
    write: [2007, 0, 0],
    kilobytes: [8028, 0, 0],
  })),
  {
    ...same,
    name: 'delete, synchronous=normal',
    pragmas: 'PRAGMA synchronous=normal;',
    journal: [1000, 1000, 1000],
    read: [1000, 1000, 0],
    sync: [1000, 1000, 0],
    write: [2007, 8000, 0],
    kilobytes: [8028, 8527, 0],
  },
  {
    name: 'delete + exclusive',
    pragmas: exclusive,
    access: 0,
    journal: [0, 0, 0],
    truncate: 0,
    lock: [0, 0],
    read: [0, 1000, 0],
    sync: [1000, 3000, 0],
    write: [1013, 6018, 0],
    kilobytes: [4052, 4571, 0],
  },
  {
    name: 'one transaction, delete',
    oneTransaction: true,
    access: 2,
    journal: [1, 1, 1],
    truncate: 0,
    lock: [3, 2],
    read: [1, 1, 0],
    sync: [1, 2, 0],
    write: [9, 8, 0],
    kilobytes: [36, 9, 0],
  },
  {
    name: 'wal + exclusive',
    pragmas: `${exclusive}PRAGMA journal_mode=wal;`,
    access: 0,
    journal: [0, 0, 0],
    truncate: 1, // the checkpoint
    lock: [0, 0],
    read: [0, 0, 9],
    sync: [1, 0, 2],
    write: [9, 0, 2027],
    kilobytes: [36, 0, 4076],
  },
  {
    name: 'wal + exclusive, synchronous=full',
    pragmas: `${exclusive}PRAGMA journal_mode=wal;PRAGMA synchronous=full;`,
    access: 0,
    journal: [0, 0, 0],
    truncate: 2,
    lock: [0, 0],
    read: [0, 0, 12],
    sync: [2, 0, 1004],
    write: [12, 0, 4992],
    kilobytes: [48, 0, 8091],
  },
];

type OwnSqlCounts = Omit<OwnSqlGolden, 'name' | 'pragmas' | 'oneTransaction'>;

export function countsOnly({
  access,
  journal,
  truncate,
  lock,
  read,
  sync,
  write,
  kilobytes,
}: OwnSqlGolden): OwnSqlCounts {
  return { access, journal, truncate, lock, read, sync, write, kilobytes };
}

/** Calls and bytes by `method kind` (`xRead main-db`), in the form of a golden's counts. */
export function ownSqlCounts(
  tally: Readonly<Record<string, { calls: number; bytes: number }>>,
): OwnSqlCounts {
  const calls = (name: string): number => tally[name]?.calls ?? 0;
  const all = (method: string): number =>
    Object.entries(tally).reduce(
      (sum, [name, { calls: n }]) =>
        name.startsWith(`${method} `) && !name.endsWith('memory-journal') ? sum + n : sum,
      0,
    );
  const kinds = (method: string): [number, number, number] => [
    calls(`${method} main-db`),
    calls(`${method} journal`),
    calls(`${method} wal`),
  ];
  return {
    access: all('xAccess'),
    journal: [calls('xOpen journal'), calls('xClose journal'), calls('xDelete journal')],
    truncate: all('xTruncate'),
    lock: [all('xLock'), all('xUnlock')],
    read: kinds('xRead'),
    sync: kinds('xSync'),
    write: kinds('xWrite'),
    kilobytes: ['main-db', 'journal', 'wal'].map((k) =>
      Math.round((tally[`xWrite ${k}`]?.bytes ?? 0) / 1024),
    ) as [number, number, number],
  };
}
