/**
 * The index advisor: finds indexes that make a recording's statements cheaper on a copy of the
 * database. For every candidate, it builds the index and runs the statements whose plan uses it and
 * those that change its table. The best index stays, and the others are tried on top of it.
 */
import type { Surroundings } from '../experiments/run.ts';
import type {
  Advice,
  AdvisedIndex,
  AdviceProgress,
  Effect,
  ExactCounts,
  InsertCost,
  TriedStatement,
} from './advice.ts';
import { candidatesOf, type Candidate } from './candidates.ts';
import { Copy, MOST_VM_STEPS, type RoughCounts } from './copy.ts';
import { instructionsOf } from './exact.ts';
import { insertsLike, type InsertProbe } from './insert-probe.ts';
import { Left, type Recorded, type RecordedStatement } from './recorded.ts';
import { opened } from '../../sqlite/folded-lists.ts';
import { formatCount } from '../../text/numbers.ts';
import { SampleValues } from './sample-values.ts';
import { readSchema, type Schema, type TableInfo } from './schema.ts';
import { quotedName } from './sql-tree.ts';
import { usesOf, type StatementUse } from './uses.ts';

const MOST_INDEXES = 5;
/** An index helps a statement that needs at most this share of its instructions with it. */
const CLEAR_PART = 0.8;
/** An index is in the answer if it saves at least this share of all instructions. */
const CLEAR_SHARE = 0.01;
/** Gains closer than this count as equal. Then the shorter index is better. */
const SAME_GAIN = 0.01;
/** How many statements of an index are counted exactly. */
const MOST_EXACT = 12;
const FOREIGN_KEYS = 'PRAGMA foreign_keys=ON';
/** SQLITE_INTERRUPT (sqlite3.h). */
const INTERRUPT = 9;

/** A statement that ran on the copy, with the indexes so far. */
interface Tried {
  readonly recorded: RecordedStatement;
  readonly use: StatementUse;
  readonly sql: string;
  readonly values: TriedStatement['values'];
  counts: RoughCounts;
  plan: readonly string[];
}
interface Change {
  readonly tried: Tried;
  readonly before: RoughCounts;
  readonly counts: RoughCounts;
  readonly plan: readonly string[];
}
interface Trial {
  readonly candidate: Candidate;
  readonly changes: readonly Change[];
  /** Instructions of all runs, without INSERTs. */
  readonly gain: number;
}
/** The environment for statements. */
type Place = Pick<Surroundings, 'engines' | 'environment'>;
interface Around {
  readonly onProgress?: (progress: AdviceProgress) => void;
  /**
   * Receives the answer so far, repeatedly: once all statements ran, and after each candidate and
   * each exact count.
   */
  readonly onSoFar?: (soFar: Advice) => void;
  /** Called between two statements or candidates: true = stop and answer with what is known. */
  readonly stop?: () => Promise<boolean>;
}

/**
 * @param file the database, with its WAL merged
 * @throws Error with a message for the user; SQLite's errors about the copy
 */
export async function advise(
  place: Place,
  file: Blob,
  recorded: Recorded,
  around: Around = {},
): Promise<Advice> {
  const copy = await Copy.open(place.engines, file);
  try {
    const clean = await Copy.open(place.engines, file);
    try {
      return await new Advisor(place, copy, clean, recorded, around).advise();
    } finally {
      await clean.close();
    }
  } finally {
    await copy.close();
  }
}

const words = (error: unknown): string => (error instanceof Error ? error.message : String(error));
const OF_ATTACHED = /^no such table: (?!(?:main|temp)\.)\w+\./i;
/** @param error of a statement that didn't run on the copy */
function whyLeft(error: unknown): string {
  if (isInterrupt(error)) return `It was stopped after ${formatCount(MOST_VM_STEPS)} steps`;
  const why = words(error);
  if (OF_ATTACHED.test(why)) return 'It names an attached database, which the copy lacks';
  return `SQLite refuses it on this copy: ${why}`;
}
const changes = ({ use }: Tried): boolean => use.verb !== 'select';
const usesIndex = (plan: readonly string[], name: string): boolean =>
  plan.some((line) => ` ${line} `.includes(` INDEX ${name} `));

class Advisor {
  private readonly left = new Left();
  private interruptedAt: AdviceProgress | null = null;
  /** What ran without new indexes; null until all of it ran. */
  private base: Pick<Advice, 'settings' | 'statements' | 'candidatesLeft'> | null = null;
  /** Candidates of the first round that were built, and those that a plan used. */
  private built = 0;
  private used = 0;
  private leading: string | null = null;
  private readonly indexes: AdvisedIndex[] = [];

  /** @param clean a second copy, where only the chosen indexes are built */
  constructor(
    private readonly place: Place,
    private readonly copy: Copy,
    private readonly clean: Copy,
    private readonly recorded: Recorded,
    private readonly around: Around,
  ) {}

  /** Reports the progress. @returns whether it was interrupted, now or before */
  private async stopsAt(progress: AdviceProgress): Promise<boolean> {
    const { onProgress, onSoFar, stop } = this.around;
    onProgress?.(progress);
    if (this.base) onSoFar?.(this.answer(this.base, progress));
    if (!this.interruptedAt && (await stop?.())) this.interruptedAt = progress;
    return this.interruptedAt !== null;
  }

  async advise(): Promise<Advice> {
    if (this.recorded.foreignKeys)
      for (const copy of [this.copy, this.clean]) await copy.exec(FOREIGN_KEYS);
    const schema = await readSchema((sql) => this.copy.ask(sql));
    const all = await this.baseRuns(schema);
    // taken before indexes change the counts
    const statements = all.map(triedStatement);
    const { candidates, left } = candidatesOf(
      schema,
      all.map(({ use, recorded, counts }) => ({
        tables: use.tables,
        weight: recorded.runs * counts.instructions,
      })),
    );
    this.base = { statements, settings: await this.copy.settings(), candidatesLeft: left };
    await this.search(candidates, all);
    return this.answer(this.base, this.interruptedAt);
  }
  private answer(
    base: NonNullable<Advisor['base']>,
    interruptedAt: Advice['interruptedAt'],
  ): Advice {
    return {
      engine: this.copy.engine,
      environment: this.place.environment,
      ...base,
      leftOut: [...this.recorded.leftOut, ...this.left.list()],
      candidates: this.built,
      used: this.used,
      indexes: [...this.indexes],
      leading: this.leading,
      interruptedAt,
    };
  }

  /** Runs every statement once, without new indexes. */
  private async baseRuns(schema: Schema): Promise<Tried[]> {
    const sample = new SampleValues((sql) => this.copy.ask(sql));
    const all: Tried[] = [];
    const statements = [...this.recorded.statements, ...this.recorded.inserting];
    for (const [i, recorded] of statements.entries()) {
      const what = 'Running the statements';
      if (await this.stopsAt({ what, done: i, all: statements.length })) break;
      const text = opened(recorded.text);
      const use = this.understood(text, recorded, schema);
      if (!use || (use.verb === 'insert' && use.tables.length === 0)) continue;
      try {
        const { sql, values } = await this.filled(sample, schema, text, use, recorded);
        const plan = await this.copy.plan(sql);
        const counts = await this.copy.run(sql, use.verb !== 'select');
        all.push({ recorded, use, sql, values, counts, plan });
      } catch (e) {
        this.left.add(whyLeft(e), recorded.fingerprint);
      }
    }
    return all;
  }

  /**
   * An INSERT of values can read tables in its triggers only. It runs as a copy of a stored row,
   * because triggers look for related rows.
   */
  private async filled(
    sample: SampleValues,
    schema: Schema,
    text: string,
    use: StatementUse,
    recorded: RecordedStatement,
  ): Promise<Pick<Tried, 'sql' | 'values'>> {
    const table = schema.tables.get(use.target);
    if (use.verb !== 'insert' || !table || !use.tables.every(({ fired }) => fired))
      return sample.fill(text, use, recorded);
    const inserts = await insertsLike((query) => this.copy.ask(query), table);
    if (!inserts) throw new Error(`table ${table.name} is empty`);
    return { sql: inserts.counted[0]!, values: 'copy' };
  }

  private understood(
    text: string,
    { fingerprint }: RecordedStatement,
    schema: Schema,
  ): StatementUse | null {
    try {
      const use = usesOf(text, schema, this.recorded.foreignKeys);
      if (!use) this.left.add('It reads no table', fingerprint);
      return use;
    } catch (e) {
      this.left.add(`The advisor can't read it: ${words(e)}`, fingerprint);
      return null;
    }
  }

  /** Greedy. Each chosen index is counted exactly before the next one is searched. */
  private async search(candidates: readonly Candidate[], all: readonly Tried[]): Promise<void> {
    const work = all.reduce(
      (sum, { recorded, counts }) => sum + recorded.runs * counts.instructions,
      0,
    );
    const isClear = ({ gain, changes: all }: Trial): boolean =>
      gain >= CLEAR_SHARE * work && all.some(isHelped);
    let pool = candidates;
    for (let chosen = 0; chosen < MOST_INDEXES && pool.length && !this.interruptedAt; chosen++) {
      const trials: Trial[] = [];
      let best: Trial | null = null;
      for (const [i, candidate] of pool.entries()) {
        const what = chosen ? `Trying indexes beside ${chosen}` : 'Trying indexes';
        if (await this.stopsAt({ what, done: i, all: pool.length })) break;
        const trial = await this.trial(candidate, all);
        if (chosen === 0) this.built++;
        if (!trial) continue;
        if (chosen === 0) this.used++;
        trials.push(trial);
        best = better(best, trial);
        this.leading = isClear(best) ? best.candidate.sql : null;
      }
      if (!best || !isClear(best)) break;
      await this.copy.exec(best.candidate.sql);
      for (const { tried, counts, plan } of best.changes) Object.assign(tried, { counts, plan });
      // what an interrupt left is counted, because it is the answer
      await this.stopsAt({ what: 'Counting exactly', done: chosen, all: chosen + 1 });
      await this.measure(best);
      pool = trials.filter((one) => one !== best).map(({ candidate }) => candidate);
    }
  }

  /**
   * Builds a candidate, runs the statements that it changes, and drops it.
   * @returns null where no plan uses it
   */
  private async trial(candidate: Candidate, all: readonly Tried[]): Promise<Trial | null> {
    const { copy } = this;
    const { name, sql, table } = candidate;
    const recorded = this.recorded.inserts.get(table.name.toLowerCase()) ?? 0;
    const inserts = recorded ? await insertsLike((query) => copy.ask(query), table) : null;
    const before = await insertCost(copy, inserts);
    await copy.exec(sql);
    try {
      const plans = new Map<Tried, string[]>();
      let fires = false;
      for (const tried of all) {
        const uses = tried.use.tables.filter((use) => use.table === table);
        fires ||= uses.some(({ fired }) => fired);
        if (uses.length) plans.set(tried, await copy.plan(tried.sql));
      }
      const planned = [...plans.values()].some((plan) => usesIndex(plan, name));
      if (!planned && !fires) return null;
      const changed: Change[] = [];
      for (const [tried, plan] of plans) {
        if (!usesIndex(plan, name) && !changes(tried)) continue;
        const counts = await this.again(tried);
        if (counts.rows === tried.counts.rows)
          changed.push({ tried, plan, counts, before: tried.counts });
        else
          this.left.add(
            'It returned another number of rows when it ran again',
            tried.recorded.fingerprint,
          );
      }
      // the use of an index inside a trigger shows only in the count
      if (!planned && !changed.some(isHelped)) return null;
      const more = extra(before, await insertCost(copy, inserts));
      const untried =
        recorded -
        triedInserts(
          table,
          changed.map(({ tried }) => tried),
        );
      const lost = 'why' in more ? 0 : untried * more.instructions;
      return {
        candidate,
        changes: changed,
        gain: changed.reduce((sum, c) => sum + gainOf(c), -lost),
      };
    } finally {
      await copy.exec(`DROP INDEX ${quotedName(name)}`);
    }
  }

  /** A statement that never ends with an index gets slower by its whole limit. */
  private async again(tried: Tried): Promise<RoughCounts> {
    try {
      return await this.copy.run(tried.sql, changes(tried));
    } catch (e) {
      if (!isInterrupt(e)) throw e;
      return { ...tried.counts, vmSteps: MOST_VM_STEPS, instructions: Infinity };
    }
  }

  /** Counts a chosen index exactly, on a copy where nothing else was tried. */
  private async measure(trial: Trial): Promise<void> {
    const index = await this.exact(trial);
    this.leading = null;
    if (index.saved > 0) this.indexes.push(index);
    else await this.clean.exec(`DROP INDEX ${quotedName(index.name)}`);
  }

  /** Keeps the index. */
  private async exact({ candidate, changes: all }: Trial): Promise<AdvisedIndex> {
    const { clean } = this;
    const { name, sql, table } = candidate;
    const largest = [...all].sort((a, b) => Math.abs(gainOf(b)) - Math.abs(gainOf(a)));
    const counted = largest.slice(0, MOST_EXACT).map(({ tried }) => tried);
    const inserts = await insertsLike((query) => clean.ask(query), table);
    const look = async (): Promise<Look> => ({
      bytes: await clean.usedBytes(),
      insert: await insertCost(clean, inserts),
      runs: await this.exactRuns(counted),
    });
    const before = await look();
    await clean.exec(sql);
    const after = await look();
    const effects = counted.map(({ sql: text, recorded }, i): Effect => ({
      sql: text,
      fingerprint: recorded.fingerprint,
      runs: recorded.runs,
      before: before.runs[i]!.counts,
      after: after.runs[i]!.counts,
      planBefore: before.runs[i]!.plan,
      planAfter: after.runs[i]!.plan,
    }));
    const insert = extra(before.insert, after.insert);
    const recordedInserts = this.recorded.inserts.get(table.name.toLowerCase()) ?? 0;
    return {
      name,
      table: table.name,
      sql,
      sizeBytes: after.bytes - before.bytes,
      insert,
      recordedInserts,
      saved: effects.reduce(
        (sum, effect) => sum + savedBy(effect),
        'why' in insert
          ? 0
          : -(recordedInserts - triedInserts(table, counted)) * insert.instructions,
      ),
      effects: effects.sort((a, b) => savedBy(b) - savedBy(a)),
      more: all.length - counted.length,
    };
  }

  private async exactRuns(
    statements: readonly Tried[],
  ): Promise<{ counts: ExactCounts; plan: string[] }[]> {
    const { clean } = this;
    const file = clean.bytes();
    const runs: { counts: ExactCounts; plan: string[] }[] = [];
    for (const tried of statements) {
      const counts = await clean.run(tried.sql, changes(tried));
      const instructions = await instructionsOf(
        this.place.engines,
        file,
        tried.sql,
        this.recorded.foreignKeys && changes(tried),
      );
      runs.push({ counts: { ...counts, instructions }, plan: await clean.plan(tried.sql) });
    }
    return runs;
  }
}

/** A table's counts without an index, or with it. */
interface Look {
  /** All pages in use. */
  readonly bytes: number;
  readonly insert: InsertCost;
  readonly runs: readonly { counts: ExactCounts; plan: string[] }[];
}

const isInterrupt = (error: unknown): boolean => (error as { code?: unknown }).code === INTERRUPT;
const gainOf = ({ tried, before, counts }: Change): number =>
  tried.recorded.runs * (before.instructions - counts.instructions);
const isHelped = ({ before, counts }: Change): boolean =>
  counts.instructions <= CLEAR_PART * before.instructions;
const savedBy = ({ runs, before, after }: Effect): number =>
  runs * (before.instructions - after.instructions);

/** Recorded INSERTs into a table that ran themselves: their counts include an index's cost. */
const triedInserts = ({ name }: TableInfo, all: readonly Tried[]): number =>
  all.reduce(
    (sum, { use, recorded }) =>
      use.verb === 'insert' && use.target === name.toLowerCase() ? sum + recorded.runs : sum,
    0,
  );

/** The one with the larger gain, or if both gain the same, the shorter one. */
function better(best: Trial | null, one: Trial): Trial {
  if (!best) return one;
  const near = Math.abs(best.gain - one.gain) <= SAME_GAIN * Math.max(best.gain, one.gain);
  if (near && best.candidate.columns.length !== one.candidate.columns.length)
    return best.candidate.columns.length < one.candidate.columns.length ? best : one;
  return one.gain > best.gain ? one : best;
}

/** The current cost of one INSERT. */
async function insertCost(copy: Copy, inserts: InsertProbe | null): Promise<InsertCost> {
  if (!inserts) return { why: 'The table is empty' };
  try {
    return await copy.inserts(inserts);
  } catch (e) {
    return { why: `SQLite refuses a copy of a row: ${words(e)}` };
  }
}
const extra = (before: InsertCost, after: InsertCost): InsertCost =>
  'why' in before
    ? before
    : 'why' in after
      ? after
      : {
          bytes: after.bytes - before.bytes,
          instructions: after.instructions - before.instructions,
        };

const triedStatement = ({ recorded, sql, values, plan, counts }: Tried): TriedStatement => ({
  sql,
  fingerprint: recorded.fingerprint,
  runs: recorded.runs,
  recordedRows: recorded.recordedRows,
  recordedPages: recorded.recordedPages,
  values,
  plan,
  counts,
});
