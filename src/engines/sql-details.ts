/**
 * Optional details of statements: bound values, once a run, and stacks, once for each text and
 * connection.
 */
import type { PromiseWatch } from '../record/promise-watch.ts';
import { NOTHING, Recorder, type Token } from '../record/recorder.ts';
import { callStack, type OwnScript } from './call-stacks.ts';
import type { SqlTexts } from './sql-texts.ts';

/** Shared by all engines of a thread. */
export interface SharedParts {
  readonly texts: SqlTexts;
  /** Record the stack when each statement is first seen. */
  readonly stacks: { own: OwnScript | null } | null;
  /** Record bound values. */
  readonly values: boolean;
  /** Watch the functions that bind values. */
  readonly binds: boolean;
  /** Record names of tables and indexes, and which pages belong to them. */
  readonly structure: boolean;
  /** Read what the engine counts in each run of a statement. */
  readonly query: boolean;
  /** Reports how the promises of suspended calls settle. */
  readonly watch: PromiseWatch;
}

/** Maximum runs whose values are recorded, and statements whose stacks are. */
const [MOST_RUNS, MOST_STACKS] = [100_000, 10_000];
/** Larger than all ids, so that two of them make one exact number. */
const ID_ROOM = 2 ** 26;

/** The part of a statement that its values need. */
interface Run {
  readonly values: string[] | null;
  fresh: boolean;
}

export class SqlDetails {
  /** Texts and connections whose stack was recorded. */
  private readonly stacked = new Set<number>();
  private runsSaid = 0;

  constructor(
    private readonly recorder: Recorder,
    private readonly shared: SharedParts,
  ) {}

  /** @param token of the step that begins the run */
  sayValues(s: Run, token: Token): void {
    s.fresh = false;
    if (!s.values?.length || token === NOTHING || this.runsSaid > MOST_RUNS) return;
    if (++this.runsSaid > MOST_RUNS) {
      this.recorder.note('engine', `Only the values of the first ${MOST_RUNS} runs are recorded.`);
      return;
    }
    this.recorder.define({ kind: 'values', of: Recorder.seqOf(token), values: s.values.slice() });
  }

  /** @param text its id; 0 = none @param connection its id */
  sayStack(text: number, connection: number): void {
    const { stacks } = this.shared;
    if (stacks === null || text === 0) return;
    const key = text * ID_ROOM + connection;
    if (this.stacked.has(key) || this.stacked.size >= MOST_STACKS) return;
    this.stacked.add(key);
    const stack = callStack(stacks.own);
    if (stack) this.recorder.define({ kind: 'stack', of: text, connection, text: stack });
  }
}
