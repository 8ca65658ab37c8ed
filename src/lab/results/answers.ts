/**
 * The answers to the questions on the Lab's first page: sentences, charts, and a table, from a
 * question's experiment.
 */
import type { Bar } from '../../formats/svg-bars.ts';
import { countOf, formatCount, formatExact, UNKNOWN } from '../../text/numbers.ts';
import { COMMIT_COST, WAL_WORTH, WHICH_VFS } from '../experiments/documents/questions.ts';
import { placed } from '../experiments/model/aggregate.ts';
import { isNoise, uncertainty } from '../experiments/model/assertions.ts';
import type { RunResult } from '../experiments/model/result-types.ts';
import type { VfsName } from '../experiments/model/types.ts';
import { keepsData, placeOf, vfsTitle, whyNotShared } from '../experiments/model/vfs-facts.ts';
import { listed, milliseconds, type ResultTable } from './table.ts';

/** `parts` of a bar sum to its value, in the order of the chart's key. */
export interface AnswerBar extends Bar {
  readonly parts?: readonly number[];
}
export interface AnswerChart {
  readonly id: string;
  readonly title: string;
  /** Names of a bar's parts. Absent: bars have no parts. */
  readonly key?: readonly string[];
  readonly bars: readonly AnswerBar[];
}
export interface Answer {
  /** The first one answers the question. */
  readonly sentences: readonly string[];
  readonly charts: readonly AnswerChart[];
  readonly table: ResultTable | null;
}

/** The result of one variant, by the variant's id without its VFS. */
interface Found {
  readonly variant: string;
  readonly vfs: VfsName;
  readonly result: RunResult;
}
/** A time per transaction, ms. */
interface Timed {
  readonly ms: number;
  readonly least: number;
  readonly most: number;
  /** Its uncertainty. */
  readonly uncertainty: number;
  /** The clock's resolution: shorter times aren't known. */
  readonly stepMs: number;
}
const STEP = 'run';

function timedOf(found: Found | undefined): Timed | null {
  const time = found && placed(found.result, { step: STEP, counter: 'ms' });
  const n = found?.result.run.parameters['transactions'];
  if (!time?.spread || !n) return null;
  const { median, least, most } = time.spread;
  return {
    ms: median / n,
    least: least / n,
    most: most / n,
    uncertainty: uncertainty(time) / n,
    stepMs: time.stepMs / n,
  };
}
/** A count per transaction. */
function perTransaction({ result }: Found, counter: string): number | undefined {
  const value = placed(result, { step: STEP, counter })?.value;
  return value === undefined ? undefined : value / result.run.parameters['transactions']!;
}
const countText = (n: number | undefined): string => (n === undefined ? UNKNOWN : formatExact(n));
const timeText = (timed: Timed | null): string => milliseconds(timed?.ms, timed?.stepMs) || UNKNOWN;
/** Whether they are closer than their scatter. */
const alike = (a: Timed, b: Timed): boolean => isNoise(a.ms - b.ms, [a.uncertainty, b.uncertainty]);

/** `3.2 times` as much. */
const factorText = (more: number, less: number): string => {
  const factor = more / less;
  return `${factor >= 100 ? formatCount(factor) : String(+factor.toPrecision(2))} times`;
};
const barOf = (label: string, timed: Timed | null): AnswerBar => ({
  label,
  value: timed?.ms ?? null,
  text: timeText(timed),
  ...(timed ? { range: [timed.least, timed.most] as const } : {}),
});

class Results {
  readonly all: readonly Found[];
  /** In the order in which they ran. */
  readonly vfss: readonly VfsName[];
  /** @param results by variant, as the experiment's result has them */
  constructor(results: Readonly<Record<string, RunResult>>) {
    this.all = Object.entries(results).map(([id, result]) => ({
      variant: id.split('@')[0]!,
      vfs: result.run.config.vfs,
      result,
    }));
    this.vfss = [...new Set(this.all.map(({ vfs }) => vfs))];
  }
  of(variant: string, vfs: VfsName): Found | undefined {
    return this.all.find((found) => found.variant === variant && found.vfs === vfs);
  }
}

/** Of runs that stored nothing: their times aren't those of an app. */
const inMemory = ({ vfss }: Results): string[] =>
  vfss.some(keepsData)
    ? []
    : ['Nothing was stored. Run it in a browser to see the cost on OPFS and IndexedDB.'];

/** Several connections, and so several tabs, can use it with its usual locking. */
const isShared = (vfs: VfsName): boolean => whyNotShared({ vfs, lockingMode: null }) === null;

interface Ranked {
  readonly vfs: VfsName;
  readonly timed: Timed;
}
const ranked = (results: Results, what: 'write' | 'read'): Ranked[] =>
  results.vfss
    .flatMap((vfs) => {
      const timed = timedOf(results.of(`${vfs}-${what}`, vfs));
      return timed ? [{ vfs, timed }] : [];
    })
    .sort((a, b) => a.timed.ms - b.timed.ms);
/**
 * The fastest, and the others that are equal within the noise. One that is slower than a VFS beyond
 * the noise isn't called equal: its own passes scatter.
 */
function fastest([first, ...others]: readonly Ranked[], verb: string): string[] {
  const isNear = ({ timed }: Ranked): boolean => alike(timed, first!.timed);
  const beyond = others.findIndex((one) => !isNear(one));
  const near = beyond < 0 ? others : others.slice(0, beyond);
  const scattered = others.slice(near.length).filter(isNear);
  const names = (of: readonly Ranked[]): string => listed(of.map(({ vfs }) => vfs));
  return [
    `${first!.vfs} ${verb}s fastest: ${timeText(first!.timed)} per transaction.`,
    ...(near.length ? [`Within the noise of the passes: ${names(near)}.`] : []),
    ...(scattered.length ? [`The passes of ${names(scattered)} scatter too much to tell.`] : []),
  ];
}

function whichVfs(results: Results): Answer | null {
  const writes = ranked(results, 'write');
  const reads = ranked(results, 'read');
  const [first] = writes;
  if (!first || !reads[0]) return null;
  const shared = writes.filter(({ vfs }) => isShared(vfs));
  const best = shared[0];
  const forSeveral =
    best === undefined
      ? 'No tested VFS can be shared by several tabs.'
      : best === first
        ? `Several tabs can share ${first.vfs}.`
        : `For several tabs, use ${best.vfs}: ${timeText(best.timed)} per transaction.`;
  return {
    sentences: [
      ...fastest(writes, 'commit'),
      ...(isShared(first.vfs) ? [] : [`Only one tab at a time can use ${first.vfs}.`]),
      forSeveral,
      ...fastest(reads, 'read'),
      'The crash test shows which of them can lose commits.',
    ],
    charts: [
      { id: 'writes', title: 'Time per transaction of 10 writes', of: writes },
      { id: 'reads', title: 'Time per transaction of 10 reads', of: reads },
    ].map(({ of, ...chart }) => ({
      ...chart,
      bars: of.map(({ vfs, timed }) => barOf(vfsTitle(vfs), timed)),
    })),
    table: {
      id: 'answer',
      title: 'By VFS',
      help: 'Per transaction of 10 rows.',
      head: ['VFS', 'stores in', 'several tabs', 'write', 'syncs', 'read'],
      texts: [1, 2],
      rows: writes.map(({ vfs, timed }) => [
        vfs,
        placeOf(vfs),
        isShared(vfs) ? 'yes' : 'no',
        timeText(timed),
        countText(perTransaction(results.of(`${vfs}-write`, vfs)!, 'vfs.xSync')),
        timeText(timedOf(results.of(`${vfs}-read`, vfs))),
      ]),
      more: 0,
    },
  };
}

const PARTS = [
  ['begin', 'begin'],
  ['body', 'work'],
  ['commit', 'commit'],
] as const;
/** Begin, work, and commit, ms per transaction. */
function partsOf({ result }: Found): number[] | null {
  const transactions = result.run.parameters['transactions']!;
  const parts = PARTS.map(([part]) => placed(result, { step: STEP, counter: `${part}.ms` })?.value);
  return parts.some((ms) => ms === undefined) ? null : parts.map((ms) => ms! / transactions);
}

function commitCost(results: Results): Answer | null {
  const costs = results.vfss.flatMap((vfs) => {
    const [one, hundred] = [results.of('one', vfs), results.of('hundred', vfs)];
    const [single, many] = [timedOf(one), timedOf(hundred)];
    const commit = one && partsOf(one)?.[2];
    if (!single || !many || commit === undefined) return [];
    const row = many.ms / hundred!.result.run.parameters['items']!;
    return [{ vfs, commit, single, row, less: single.ms / row }];
  });
  if (costs.length === 0) return null;
  const commits = [...costs]
    .sort((a, b) => a.commit - b.commit)
    .map(({ vfs, commit, single }) => `${milliseconds(commit, single.stepMs)} on ${vfs}`);
  const less = costs.filter((each) => each.row < each.single.ms).sort((a, b) => a.less - b.less);
  const no = costs.filter((each) => each.row >= each.single.ms).map(({ vfs }) => vfs);
  const ran = results.all.filter((found) => timedOf(found));
  return {
    sentences: [
      `A commit takes ${listed(commits)}.`,
      ...less.slice(-1).map(({ single, row }) => {
        const most = factorText(single.ms, row);
        const least = factorText(less[0]!.single.ms, less[0]!.row);
        return `In transactions of 100 rows, a row costs ${least === most ? '' : `${least.replace(' times', '')} to `}${most} less.`;
      }),
      ...(no.length ? [`In transactions of 100 rows, a row costs no less on ${listed(no)}.`] : []),
      ...inMemory(results),
    ],
    charts: [
      {
        id: 'transactions',
        title: 'Time per transaction',
        key: PARTS.map(([, title]) => title),
        bars: ran.map((found) => {
          const parts = partsOf(found);
          return {
            ...barOf(
              `${vfsTitle(found.vfs)}, ${countOf(found.result.run.parameters['items']!, 'row')}`,
              timedOf(found),
            ),
            ...(parts ? { parts } : {}),
          };
        }),
      },
    ],
    table: {
      id: 'answer',
      title: 'Per transaction',
      help: 'Times are medians. Counts are exact.',
      head: ['VFS', 'rows', 'time', 'commit', 'time per row', 'writes', 'syncs'],
      rows: ran.map((found) => {
        const timed = timedOf(found)!;
        const items = found.result.run.parameters['items']!;
        return [
          found.vfs,
          formatCount(items),
          timeText(timed),
          milliseconds(partsOf(found)?.[2], timed.stepMs) || UNKNOWN,
          milliseconds(timed.ms / items, timed.stepMs / items),
          countText(perTransaction(found, 'vfs.xWrite')),
          countText(perTransaction(found, 'vfs.xSync')),
        ];
      }),
      more: 0,
    },
  };
}

const WAYS = [
  ['journal', 'rollback journal'],
  ['exclusive', 'rollback journal, exclusive'],
  ['wal', 'WAL, exclusive'],
] as const;

function walWorth(results: Results): Answer | null {
  const one = (vfs: VfsName): string[] => {
    const [journal, exclusive, wal] = WAYS.map(([id]) => timedOf(results.of(`${id}-write`, vfs)));
    if (!journal || !exclusive || !wal) return [];
    const [before, after] = [timeText(journal), timeText(wal)];
    const verdict = alike(journal, wal)
      ? `On ${vfs}, the passes scatter too much to tell: ${after} against ${before}.`
      : wal.ms < journal.ms
        ? `On ${vfs}, WAL writes ${factorText(journal.ms, wal.ms)} as fast: ${after} against ${before}.`
        : `On ${vfs}, WAL writes ${factorText(wal.ms, journal.ms)} slower: ${after} against ${before}.`;
    return [verdict, `Exclusive locking alone takes ${timeText(exclusive)}.`];
  };
  const syncsOf = (way: string, vfs: VfsName): number | undefined => {
    const found = results.of(`${way}-write`, vfs);
    return found && perTransaction(found, 'vfs.xSync');
  };
  const reads = (vfs: VfsName): string[] => {
    const [, exclusive, wal] = WAYS.map(([id]) => timedOf(results.of(`${id}-read`, vfs)));
    if (!exclusive || !wal) return [];
    return [
      alike(exclusive, wal)
        ? 'With the same locking, reads differ by less than the noise.'
        : `With the same locking, reads take ${timeText(wal)} against ${timeText(exclusive)}.`,
    ];
  };
  const [first, ...others] = results.vfss;
  if (first === undefined || one(first).length === 0) return null;
  const chart = (what: 'write' | 'read'): readonly AnswerBar[] =>
    results.vfss.flatMap((vfs) =>
      WAYS.flatMap(([id, title]) => {
        const found = results.of(`${id}-${what}`, vfs);
        return found ? [barOf(`${vfsTitle(vfs)}, ${title}`, timedOf(found))] : [];
      }),
    );
  return {
    sentences: [
      ...one(first),
      ...others.flatMap((vfs) => one(vfs).slice(0, 1)),
      ...reads(first),
      ...(results.vfss.some(keepsData) &&
      results.vfss.filter(keepsData).every((vfs) => syncsOf('wal', vfs) === 0)
        ? ["WAL didn't sync at commits here: power loss can undo them."]
        : []),
      'Here, WAL needs exclusive locking: one connection, one tab.',
      ...inMemory(results),
    ],
    charts: [
      { id: 'writes', title: 'Time per transaction of 10 writes', bars: chart('write') },
      { id: 'reads', title: 'Time per transaction of 10 reads', bars: chart('read') },
    ],
    table: {
      id: 'answer',
      title: 'Per transaction',
      help: 'Of 10 rows. Times are medians. Counts are exact.',
      head: ['VFS', 'commits by', 'write', 'writes', 'syncs', 'read'],
      texts: [1],
      rows: results.vfss.flatMap((vfs) =>
        WAYS.flatMap(([id, title]) => {
          const found = results.of(`${id}-write`, vfs);
          if (!found) return [];
          return [
            [
              vfs,
              title,
              timeText(timedOf(found)),
              countText(perTransaction(found, 'vfs.xWrite')),
              countText(perTransaction(found, 'vfs.xSync')),
              timeText(timedOf(results.of(`${id}-read`, vfs))),
            ],
          ];
        }),
      ),
      more: 0,
    },
  };
}

const ANSWERS: Readonly<Record<string, (results: Results) => Answer | null>> = {
  [WHICH_VFS.id]: whichVfs,
  [COMMIT_COST.id]: commitCost,
  [WAL_WORTH.id]: walWorth,
};

/** @param results by variant @returns null where too little ran to answer */
export const answerOf = (
  experiment: string,
  results: Readonly<Record<string, RunResult>>,
): Answer | null => ANSWERS[experiment]?.(new Results(results)) ?? null;
