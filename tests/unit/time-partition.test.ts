// The time partition: exact sums, equal to a plain evaluation of every nanosecond, for any calls.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  PARTS,
  PART_OF_OP,
  Role,
  ROLE_OF_OP,
  WAIT,
  type Part,
} from '../../src/analysis/core/time-parts.ts';
import { CAPTURE_DEFAULTS } from '../../src/event/capture.ts';
import { Flag, Op, type OpName } from '../../src/event/event.ts';
import { OPS } from '../../src/event/operations.ts';
import type { ThreadStore } from '../../src/trace/store.ts';
import { environment } from '../traces/findings/stage.ts';
import { ns, partsOf, said, sumOf, threadOf, type Row } from '../traces/partition-rows.ts';
import { partitionThread, timesOfThread } from '../traces/analyses.ts';

const DRAWN: OpName[] = [
  ...([
    'sqlStep',
    'sqlPrepare',
    'sqlExec',
    'sqlOpen',
    'sqlCounters',
    'xRead',
    'xWrite',
    'xSync',
    'xLock',
    'xFileControl',
    'xOpen',
  ] as const),
  ...([
    'idbGet',
    'idbPut',
    'idbTransaction',
    'idbOpen',
    'opfsRead',
    'opfsFlush',
    'lockRequest',
    'lockHeld',
    'atomicsWait',
  ] as const),
  ...(['atomicsWaitAsync', 'tracer', 'mark', 'localStorageSet'] as const),
];
const rowsOf = (ops: readonly OpName[]): fc.Arbitrary<Row[]> => {
  const row = fc.record({
    gap: fc.nat(4),
    dur: fc.option(fc.nat(12), { freq: 8 }),
    op: fc.constantFrom(...ops),
    flags: fc.constantFrom(0, 0, Flag.async, Flag.async, Flag.untimed, Flag.memoryJournal),
    parent: fc.nat(4),
    object: fc.nat(3),
    context: fc.nat(2),
  });
  return fc.array(row, { maxLength: 14 }).map((drawn) => {
    let t = 5;
    return drawn.map((d, i): Row => {
      t += d.gap;
      return {
        ...d,
        t0: t,
        end: d.dur === null ? null : t + d.dur,
        parent: d.parent === 0 ? -1 : i - d.parent,
      };
    });
  });
};
const drawnRows = rowsOf(DRAWN);

/** A thread whose recording excluded storage calls. */
function withoutStorage(rows: readonly Row[]): ThreadStore {
  const thread = threadOf(rows);
  thread.environment = environment({
    capture: { ...CAPTURE_DEFAULTS, capture: 0, layers: ['sql', 'vfs'] },
  });
  return thread;
}

/**
 * Role, part, and end of every row by the rules in the header, and the part of one nanosecond: a
 * second implementation, one moment at a time.
 */
function oracle(
  { events }: ThreadStore,
  vfsIsStorage = false,
): (t: number) => { part: Part; row: number } {
  const rows = Array.from({ length: events.count }, (_, i) => events.row(i));
  const last = Math.max(0, ...rows.map((r) => ns(r.t0) + (r.endSeq ? ns(r.dur) : 0)));
  const asyncEnds = rows
    .filter((r) => ROLE_OF_OP[r.op] === Role.web && r.flags & Flag.async && r.endSeq)
    .map((r) => r.endSeq);
  const calls = rows.map((r, row) => {
    const role = ROLE_OF_OP[r.op]!;
    const open = r.endSeq === 0;
    const turned = role !== Role.web && asyncEnds.some((s) => s > r.seq && s < r.endSeq);
    let end = open ? last : ns(r.t0) + ns(r.dur);
    if (role === Role.tracer && open && rows[row + 1]) end = ns(rows[row + 1]!.t0);
    const part = PART_OF_OP[r.op]!;
    const parent = r.parent ? rows.findIndex((p) => p.seq === r.parent) : -1;
    return {
      row,
      role,
      part,
      start: ns(r.t0),
      end,
      parent,
      sync: !open && !(r.flags & Flag.async) && !turned,
      counts: !(r.flags & Flag.untimed),
    };
  });
  /** The innermost SQL or VFS call that a call was made for. */
  const serves = (c: (typeof calls)[number]): (typeof calls)[number] | undefined => {
    const parent = calls[c.parent];
    return !parent || parent.role === Role.vfs || parent.role === Role.sql
      ? parent
      : serves(parent);
  };
  for (const c of calls) {
    if (!c.counts || c.role !== Role.web || c.sync || (PARTS[c.part] !== 'lock' && c.part !== WAIT))
      continue;
    const caller = serves(c);
    if (caller) c.end = Math.min(c.end, caller.end);
    else c.counts = false;
  }
  const storage = (part: number): boolean =>
    ['read', 'write', 'sync', 'idbTransaction'].includes(PARTS[part]!);
  return (t) => {
    const open = calls.filter((c) => c.counts && c.role !== Role.none && c.start <= t && t < c.end);
    const latest = (
      keep: (c: (typeof calls)[number]) => boolean,
    ): (typeof calls)[number] | undefined => open.filter(keep).at(-1);
    const vfs = latest((c) => c.role === Role.vfs);
    const engine = latest((c) => c.role === Role.vfs || c.role === Role.sql);
    const web = (c: (typeof calls)[number]): Part =>
      c.part !== WAIT ? PARTS[c.part]! : vfs ? PARTS[vfs.part]! : 'other';
    const tracer = latest((c) => c.role === Role.tracer);
    if (tracer) return { part: 'tracer', row: tracer.row };
    if (!engine)
      return {
        part: latest((c) => c.role === Role.web && storage(c.part)) ? 'outside' : 'idle',
        row: -1,
      };
    const running = latest((c) => c.role !== Role.tracer && c.sync);
    const inMemory = running && rows[running.row]!.flags & Flag.memoryJournal;
    const stands =
      vfsIsStorage && running?.role === Role.vfs && !inMemory && PARTS[running.part] !== 'other';
    if (running)
      return {
        part: running.role === Role.web ? web(running) : stands ? PARTS[running.part]! : 'cpu',
        row: running.row,
      };
    const mine = (c: (typeof calls)[number]): boolean =>
      c.role === Role.web && (vfs !== undefined || serves(c)?.role === Role.sql);
    const request = latest((c) => mine(c) && PARTS[c.part] !== 'idbTransaction');
    if (request) return { part: web(request), row: request.row };
    const transaction = latest((c) => mine(c) && PARTS[c.part] === 'idbTransaction');
    if (transaction) return { part: 'idbTransaction', row: transaction.row };
    if (!vfs) return { part: 'cpu', row: engine.row };
    return {
      part: vfsIsStorage || PARTS[vfs.part] === 'lock' ? PARTS[vfs.part]! : 'other',
      row: vfs.row,
    };
  };
}

describe('any sequence of calls', () => {
  test('every nanosecond goes where a plain evaluation puts it, and the parts add up to the span', () => {
    fc.assert(
      fc.property(drawnRows, fc.nat(12), fc.nat(60), (rows, from, length) => {
        const thread = threadOf(rows);
        const partOf = oracle(thread);
        const all = partitionThread(thread);
        const lastNs = Math.max(0, ...rows.map((r) => Math.max(r.t0, r.end ?? 0)));
        expect(sumOf(all)).toBe(ns(all.spanUs));
        expect(ns(all.spanUs)).toBe(rows.length ? lastNs - rows[0]!.t0 : 0);
        const expected = Object.fromEntries(PARTS.map((k) => [k, 0])) as Record<Part, number>;
        for (let t = from; t < from + length; t++) expected[partOf(t).part]++;
        const range = partitionThread(thread, {
          fromUs: from / 1000,
          toUs: (from + length) / 1000,
        });
        expect(partsOf(range)).toEqual(expected);
        expect(ns(range.spanUs)).toBe(length);
      }),
      { numRuns: 2000 },
    );
  });

  test('the same if storage calls were excluded: VFS calls represent what is below them', () => {
    const ops = DRAWN.filter((name) => OPS[Op[name]]!.layer !== 'web');
    let unlike = 0;
    fc.assert(
      fc.property(rowsOf(ops), (rows) => {
        const thread = withoutStorage(rows);
        const partOf = oracle(thread, true);
        const expected = Object.fromEntries(PARTS.map((k) => [k, 0])) as Record<Part, number>;
        for (let t = 0; t < 100; t++) expected[partOf(t).part]++;
        const { partition, byStatement } = timesOfThread(thread, { fromUs: 0, toUs: 0.1 });
        expect(partsOf(partition)).toEqual(expected);
        expect([sumOf(partition), partition.vfsIsStorage]).toEqual([100, true]);
        for (const k of ['cpu', 'read', 'write', 'sync', 'lock', 'other'] as const)
          expect([...byStatement.values()].reduce((n, p) => n + partsOf(p)[k], 0)).toBe(
            expected[k],
          );
        if (partsOf(partitionThread(threadOf(rows))).cpu !== partsOf(partitionThread(thread)).cpu)
          unlike++;
      }),
      { numRuns: 1000 },
    );
    expect(unlike).toBeGreaterThan(100);
  });

  test('ranges add up', () => {
    fc.assert(
      fc.property(drawnRows, fc.array(fc.nat(90), { minLength: 2, maxLength: 5 }), (rows, cuts) => {
        const thread = threadOf(rows);
        const at = [...cuts].sort((a, b) => a - b).map((c) => c / 1000);
        const whole = partsOf(partitionThread(thread, { fromUs: at[0]!, toUs: at.at(-1)! }));
        const pieces = at
          .slice(1)
          .map((to, i) => partsOf(partitionThread(thread, { fromUs: at[i]!, toUs: to })));
        for (const k of PARTS) expect(pieces.reduce((n, p) => n + p[k], 0)).toBe(whole[k]);
      }),
      { numRuns: 1000 },
    );
  });

  test('statements share the time while SQL runs, and both come from one sweep', () => {
    fc.assert(
      fc.property(drawnRows, (rows) => {
        const thread = threadOf(rows);
        const whole = partsOf(partitionThread(thread));
        const partOf = oracle(thread);
        const engineAt = (t: number): boolean =>
          rows.some((r, i) => {
            const role = ROLE_OF_OP[Op[r.op]]!;
            const end = r.end ?? Math.max(0, ...rows.map((x) => Math.max(x.t0, x.end ?? 0)));
            return (
              (role === Role.sql || role === Role.vfs) &&
              thread.events.flags[i] !== Flag.untimed &&
              r.t0 <= t &&
              t < end
            );
          });
        let tracer = 0;
        for (let t = 0; t < 120; t++) if (partOf(t).part === 'tracer' && engineAt(t)) tracer++;
        const { partition, byStatement } = timesOfThread(thread);
        expect(partition).toEqual(partitionThread(thread));
        for (const k of PARTS) {
          const expected = k === 'idle' || k === 'outside' ? 0 : k === 'tracer' ? tracer : whole[k];
          expect([...byStatement.values()].reduce((n, p) => n + partsOf(p)[k], 0)).toBe(expected);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

/**
 * Rows from a drawing `name === ~~~` with one column per microsecond. Web calls serve the VFS call
 * that is open around them, and VFS calls the SQL call.
 */
function drawn(picture: string): Row[] {
  const names: Record<string, OpName> = {
    ...{
      sqlite3_step: 'sqlStep',
      'opfs.read': 'opfsRead',
      'opfs.write': 'opfsWrite',
      'opfs.flush': 'opfsFlush',
      'idb.get': 'idbGet',
    },
    ...{
      'idb.put': 'idbPut',
      'idb.transaction': 'idbTransaction',
      'lock.request': 'lockRequest',
      'atomics.wait': 'atomicsWait',
    },
  };
  const rows: Row[] = [];
  for (const line of picture.split('\n').filter((l) => /[=~]/.test(l))) {
    const [, name, body] = /^\s*(\S+)( .*)$/.exec(line)!;
    const column = line.length - body!.length;
    for (const m of body!.matchAll(/[=~]+/g)) {
      const t0 = column + m.index;
      rows.push({
        op: names[name!] ?? (name as OpName),
        t0: t0 * 1000,
        end: (t0 + m[0].length) * 1000,
        flags: m[0][0] === '~' ? Flag.async : 0,
      });
    }
  }
  const roleOf = (r: Row): number => ROLE_OF_OP[Op[r.op]]!;
  rows.sort((a, b) => a.t0 - b.t0 || roleOf(a) - roleOf(b));
  for (const r of rows) {
    const around = rows.filter(
      (p) =>
        p !== r &&
        roleOf(p) < roleOf(r) &&
        roleOf(p) !== Role.none &&
        p.t0 <= r.t0 &&
        r.t0 < p.end!,
    );
    r.parent = around.length ? rows.indexOf(around.at(-1)!) : -1;
  }
  return rows;
}
const LETTER: Record<Part, string> = {
  ...{
    cpu: 'c',
    read: 'r',
    write: 'w',
    sync: 's',
    idbTransaction: 't',
    lock: 'l',
    lockWait: 'L',
    tracer: 'T',
    other: 'o',
    idle: '.',
    outside: 'x',
  },
};
/** One letter per microsecond, from the first call on. */
function letters(thread: ThreadStore): string {
  const { events } = thread;
  const from = events.t0[0]!;
  const { spanUs } = partitionThread(thread);
  return Array.from({ length: spanUs }, (_, i) => {
    const [part, ...rest] = Object.keys(
      said(partitionThread(thread, { fromUs: from + i, toUs: from + i + 1 })),
    ) as Part[];
    expect(rest).toEqual([]);
    return LETTER[part!];
  }).join('');
}

describe('the rules', () => {
  test("the header's drawing is correct", () => {
    const source = readFileSync(
      new URL('../../src/analysis/time/time-partition.ts', import.meta.url),
      'utf8',
    );
    const picture = [
      ...source.matchAll(
        /^ \*( {3}(?:sqlite3_step|xRead|opfs\.read|idb\.\w+|tracer|part) +[=~a-zA-Z.].*)$/gm,
      ),
    ].map((m) => m[1]!);
    expect(picture).toHaveLength(7);
    const part = picture.pop()!.trim().split(/ +/)[1];
    expect(letters(threadOf(drawn(picture.join('\n'))))).toBe(part);
  });

  test.each([
    ['a VFS in memory', 'sqlite3_step ==========\nxRead           ===    ', 'cccccccccc'],
    [
      'OPFS in xWrite',
      'sqlite3_step ==========\nxWrite          =====\nopfs.write       ===',
      'ccccwwwccc',
    ],
    [
      'a wait inside xLock',
      'sqlite3_step ==========\nxLock           =====\natomics.wait     ===',
      'cccclllccc',
    ],
    [
      'a wait inside xSync',
      'sqlite3_step ==========\nxSync           =====\natomics.wait     ===',
      'ccccsssccc',
    ],
    [
      'a wait inside xFileControl',
      'sqlite3_step  ==========\nxFileControl     =====\natomics.wait      ===',
      'ccccoooccc',
    ],
    ['a wait with no VFS call', 'sqlite3_step ==========\natomics.wait     ===', 'ccccoooccc'],
    ['a wait outside SQL', 'sqlite3_step ==\natomics.wait   ===', 'cc...'],
    [
      'a lock asked for in xLock',
      'sqlite3_step ~~~~~~~~~~\nxLock           ~~~~~\nlock.request     ~~~',
      'ccclllllcc',
    ],
    [
      'writes left to run',
      'sqlite3_step ~~~~~~~~~~~~~~~\nxWrite          ==\nidb.put          ~~~~~~~~~\nxSync               ~~~~~~~',
      'cccccccwwwwwwoc',
    ],
    [
      'a commit waited for',
      'sqlite3_step    ~~~~~~~~~~\nxSync              ~~~~~\nidb.transaction     ~~~~',
      'cccottttcc',
    ],
    ['a VFS that is not traced', 'sqlite3_step ~~~~~~~~~~\nidb.get         ~~~', 'cccrrrcccc'],
    ['a VFS call without SQL layer', 'xRead   =====\nopfs.read ==', 'ccrrc'],
    ['storage outside SQL', 'sqlite3_step ===\nopfs.flush      ===', 'cccxxx'],
  ])('%s', (_name, picture, parts) => {
    expect(letters(threadOf(drawn(picture)))).toBe(parts);
  });

  test.each([
    [
      'a synchronous VFS',
      'sqlite3_step ==========\nxLock         =\nxRead           ===\nxFileControl         =',
      'clcrrrcccc',
    ],
    [
      'an asynchronous one',
      'sqlite3_step ~~~~~~~~~~\nxWrite         ~~\nxSync             ~~~\nxFileControl         ~',
      'ccwwcsssoc',
    ],
  ])('%s with its storage not looked at', (_name, picture, parts) => {
    expect(letters(withoutStorage(drawn(picture)))).toBe(parts);
  });

  test('a thread that excludes storage calls but has some counts them', () => {
    const rows = drawn('sqlite3_step ==========\nxRead          =====\nopfs.read        ==');
    expect(letters(withoutStorage(rows))).toBe('ccccrrcccc');
    expect(partitionThread(withoutStorage(rows)).vfsIsStorage).toBe(false);
  });

  test('JSPI: an unmarked VFS call during which a request ended was suspended', () => {
    const rows: Row[] = [
      { op: 'sqlStep', t0: 0, end: 10_000, flags: Flag.async },
      { op: 'xRead', t0: 1000, end: 9000, parent: 0 },
      { op: 'idbGet', t0: 2000, end: 7000, flags: Flag.async, parent: 1 },
    ];
    expect(letters(threadOf(rows))).toBe('corrrrrooc');
    rows[2]!.end = 9500; // continues after the call: no proof
    expect(letters(threadOf(rows))).toBe('cccccccccc');
  });

  test('a call without an end lasts to the last event and is counted', () => {
    const rows: Row[] = [
      { op: 'sqlStep', t0: 0, end: null },
      { op: 'xLock', t0: 2000, end: null, parent: 0 },
      { op: 'atomicsWait', t0: 3000, end: null, parent: 1 },
      { op: 'mark', t0: 9000, end: 9000 },
    ];
    const p = partitionThread(threadOf(rows));
    expect(said(p)).toEqual({ cpu: 2, lock: 7 });
    expect(p.openEnds).toBe(3);
    const tracer = partitionThread(
      threadOf([
        { op: 'sqlStep', t0: 0, end: 9000 },
        { op: 'tracer', t0: 1000, end: null },
        { op: 'xRead', t0: 2000, end: 3000 },
      ]),
    );
    expect(said(tracer)).toEqual({ cpu: 8, tracer: 1 });
  });

  test('every web call that can take time has its own part', () => {
    const web = OPS.filter((o) => o && ROLE_OF_OP[o.code] === Role.web);
    expect(web.length).toBeGreaterThan(45);
    expect(web.filter((o) => PARTS[PART_OF_OP[o!.code]!] === 'other').map((o) => o!.name)).toEqual(
      [],
    );
  });
});
