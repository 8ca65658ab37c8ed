/**
 * A native SQLite as a reference for times: the system's sqlite3 shell, or node:sqlite where this
 * Node has it. It runs the same SQL in memory, step by step. Never for counts, because there is no
 * wasm to count in.
 */
import { spawn } from 'node:child_process';
import { pragmasOf } from '../experiments/engine/apply-config.ts';
import { sqlOf } from '../experiments/engine/as-text.ts';
import { measureEach, type NativeSampler, type Surroundings } from '../experiments/run.ts';
import type { Config, Run, Workload } from '../experiments/model/types.ts';
import type {
  NativeReference,
  RunResult,
  Sample,
  StepSample,
} from '../experiments/model/result-types.ts';
import { workloadOf } from '../experiments/workloads/index.ts';

/** A program that runs SQL. */
export interface NativeSqlite {
  /** `sqlite3 shell` or `node:sqlite`. */
  readonly program: string;
  /** Its version of SQLite. */
  readonly sqlite: string;
  /**
   * Runs scripts one after the other on a fresh database.
   * @returns milliseconds of each
   * @throws Error with SQLite's message
   */
  readonly times: (scripts: readonly string[]) => Promise<number[]>;
}

/** The output of a program. @throws Error with the first line of its error output */
function printed(program: string, args: readonly string[], input: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...args], { stdio: ['pipe', 'pipe', 'pipe'] });
    const [out, err]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on('data', (piece: Buffer) => out.push(piece));
    child.stderr.on('data', (piece: Buffer) => err.push(piece));
    child.on('error', reject);
    // a program that has ended doesn't read its input; its exit code is enough
    child.stdin.on('error', () => {});
    child.on('close', (code) => {
      const said = Buffer.concat(err).toString('utf8').trim();
      if (code === 0) resolve(Buffer.concat(out).toString('utf8'));
      else reject(new Error(said.split('\n')[0] || `${program} ended with exit code ${code}`));
    });
    child.stdin.end(input);
  });
}

const NOWHERE = process.platform === 'win32' ? 'NUL' : '/dev/null';
/** SQLite's clock has a resolution of one millisecond. */
const MARK = "SELECT 'vfscope', CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER);";

/**
 * The shell reads line by line and checks after each whether a statement is complete. Joining lines
 * where line breaks don't matter is cheaper.
 */
const onOneLine = (sql: string): string =>
  /['"`[]|--|\/\*/.test(sql.replace(/'[^'\n]*'/g, '')) ? sql : sql.replaceAll('\n', ' ');

/** The script, with statements that print a time before, between, and after the steps. */
function timedScript(scripts: readonly string[]): string {
  const mark = `.output stdout\n${MARK}\n.output ${NOWHERE}\n`;
  return [
    '.bail on\n.mode list\n',
    ...scripts.flatMap((sql) => [mark, onOneLine(sql), '\n']),
    mark,
  ].join('');
}

/** @param program its name or path @throws Error where it can't be started, or isn't the shell */
export async function shellSqlite(program: string): Promise<NativeSqlite> {
  const said = await printed(program, ['--version'], '');
  const version = /^(\d+\.\d+\.\d+)/.exec(said)?.[1];
  if (version === undefined) throw new Error(`${program} --version names no version of SQLite`);
  return {
    program: 'sqlite3 shell',
    sqlite: version,
    async times(scripts) {
      const out = await printed(program, ['-batch', ':memory:'], timedScript(scripts));
      const marks = [...out.matchAll(/^vfscope\|(\d+)$/gm)].map((m) => Number(m[1]));
      if (marks.length !== scripts.length + 1)
        throw new Error(
          `${program} printed ${marks.length} times instead of ${scripts.length + 1}`,
        );
      return scripts.map((_, i) => marks[i + 1]! - marks[i]!);
    },
  };
}

interface NodeDatabase {
  exec(sql: string): void;
  prepare(sql: string): { get(): Record<string, unknown> | undefined };
  close(): void;
}
export interface NodeSqlite {
  readonly DatabaseSync: new (path: string) => NodeDatabase;
}

/** @param module node:sqlite */
export function nodeSqlite({ DatabaseSync }: NodeSqlite): NativeSqlite {
  const probe = new DatabaseSync(':memory:');
  const version = String(probe.prepare('SELECT sqlite_version() AS version').get()?.version);
  probe.close();
  return {
    program: 'node:sqlite',
    sqlite: version,
    times(scripts) {
      const db = new DatabaseSync(':memory:');
      try {
        return Promise.resolve(
          scripts.map((sql) => {
            const start = performance.now();
            db.exec(sql);
            return performance.now() - start;
          }),
        );
      } finally {
        db.close();
      }
    },
  };
}

/** The first available one, else the reason why there is none. */
export async function findNative(program = 'sqlite3'): Promise<NativeSqlite | string> {
  let why: string;
  try {
    return await shellSqlite(program);
  } catch (e) {
    const { code, message } = e as NodeJS.ErrnoException;
    why = code === 'ENOENT' ? 'no sqlite3 program was found' : message;
  }
  const name = 'node:sqlite';
  try {
    return nodeSqlite((await import(name)) as NodeSqlite);
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code !== 'ERR_UNKNOWN_BUILTIN_MODULE') throw e;
    return `${why}, and Node ${process.versions.node} has no node:sqlite`;
  }
}

/** @returns why a workload has no native version; null where it has one */
export function notNative({ needs = [], actors }: Workload): string | null {
  if (actors) return 'it runs in workers';
  return needs.includes('database') ? 'it runs on a copy of your database' : null;
}

const pragmaText = (config: Config): string =>
  pragmasOf(config)
    .map(([name, value]) => `PRAGMA ${name}=${value};\n`)
    .join('');

/** One pass, without steps outside SQL. */
export const nativeSampler =
  (native: NativeSqlite): NativeSampler =>
  async (run: Run, workload: Workload): Promise<Sample> => {
    const { parameters, config } = run;
    const setup = [...workload.setup(parameters)].map((step) => sqlOf(step) ?? '').join('');
    const steps = [...workload.steps(parameters)].map((step) => ({ ...step, text: sqlOf(step) }));
    const timed = steps.filter(({ text }) => text !== null);
    const [, ...times] = await native.times([
      pragmaText(config) + setup,
      ...timed.map(({ text }) => text!),
    ]);
    return {
      steps: steps.map((step): StepSample => {
        const { id, title } = step;
        const at = timed.indexOf(step);
        return at < 0
          ? { id, title, counters: {}, skipped: 'no SQL' }
          : { id, title, counters: { ms: times[at]! } };
      }),
      digest: '',
      notes: [],
      settings: {},
    };
  };

/**
 * The parts of a run that matter to native: everything except the engine, its build, and its VFS.
 */
const nativeOf = (run: Run): Run => ({
  ...run,
  config: { ...run.config, engine: 'native', build: 'sync', vfs: 'memory' },
});

function referenceOf(
  { program, sqlite }: NativeSqlite,
  { steps, totalMs }: RunResult,
): NativeReference {
  return {
    program,
    sqlite,
    steps: Object.fromEntries(steps.flatMap(({ id, ms }) => (ms ? [[id, ms]] : []))),
    totalMs: totalMs!,
  };
}

const noted = (result: RunResult | Error, why: string): RunResult | Error =>
  result instanceof Error
    ? result
    : { ...result, notes: [...result.notes, `Times native: n/a, ${why}.`] };

/**
 * Timed runs and their native references, alternating pass by pass.
 * @param find returns the native SQLite; tests use another one
 */
export async function measureBesideNative(
  runs: readonly Run[],
  around: Surroundings,
  find: () => Promise<NativeSqlite | string> = findNative,
): Promise<(RunResult | Error)[]> {
  const native = await find();
  const lacks = runs.map((run) => notNative(workloadOf(run.workload, run.sql)));
  if (typeof native === 'string' || lacks.every((why) => why !== null)) {
    const done = await measureEach(runs, around);
    return done.map((result, i) => noted(result, lacks[i] ?? String(native)));
  }
  // runs that only differ in their engine share one
  const keys = runs.map((run) => JSON.stringify(nativeOf(run)));
  const distinct = [...new Set(keys)];
  const references = distinct.map((key) => nativeOf(runs[keys.indexOf(key)]!));
  const done = await measureEach([...runs, ...references], {
    ...around,
    native: nativeSampler(native),
  });
  return runs.map((_, i) => {
    const [result, reference] = [done[i]!, done[runs.length + distinct.indexOf(keys[i]!)]!];
    if (result instanceof Error) return result;
    if (reference instanceof Error) return noted(result, reference.message.replace(/\.$/, ''));
    return { ...result, native: referenceOf(native, reference) };
  });
}
