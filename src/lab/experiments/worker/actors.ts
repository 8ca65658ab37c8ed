/**
 * All actors of a contention workload: one worker each, opened one after the other, started
 * together. Their reports become counters.
 */
import { FaultFailure, type FaultAnswer } from '../model/faults.ts';
import { whyNotShared } from '../model/vfs-facts.ts';
import type { Actor, Counters, Run } from '../model/types.ts';
import type { ActorHere, ActorReport } from './actor.ts';
import type { SharedFaults } from './fault-state.ts';

/** Starts a worker that serves an actor. */
export type ActorStarter = (name: string) => {
  readonly actor: Pick<ActorHere, 'prepare' | 'go'>;
  end(): void;
};
interface Named {
  /** `writer-1` */
  readonly name: string;
  readonly role: string;
  readonly report: ActorReport;
}

/**
 * The first failing actor ends all.
 * @param faults of the run; null: none
 * @throws Error with a message for the user: for VFSs that can't be shared, and for an actor's
 * failure; FaultFailure where there are faults
 */
export async function runActors(
  actors: readonly Actor[],
  run: Run,
  start: ActorStarter,
  after: () => Promise<Counters>,
  faults: SharedFaults | null,
): Promise<Counters> {
  const cast = actors.flatMap((actor) =>
    Array.from({ length: actor.count }, (_, i) => ({ actor, name: `${actor.role}-${i + 1}` })),
  );
  const why = whyNotShared(run.config);
  if (why) throw new Error(why);
  const started: ReturnType<ActorStarter>[] = [];
  const named = <T>(name: string, answer: Promise<T>): Promise<T> =>
    answer.catch((error: Error) => Promise.reject(new Error(`${name}: ${error.message}`)));
  try {
    for (const { name } of cast) {
      const one = start(name);
      started.push(one);
      failed(name, await named(name, one.actor.prepare(run.config, run.mode === 'count', faults)));
    }
    const begin = performance.now();
    const done = await Promise.all(
      cast.map(async ({ actor, name }, i): Promise<Named> => {
        const report = await named(name, started[i]!.actor.go(actor.sql, actor.iterations));
        failed(name, report.failure);
        return { name, role: actor.role, report };
      }),
    );
    const ms = performance.now() - begin;
    return { ...countersOf(done), ...(run.mode === 'time' ? { ms } : {}), ...(await after()) };
  } finally {
    for (const { end } of started) end();
  }
}

function failed(name: string, failure: FaultAnswer | null): void {
  if (failure) throw new FaultFailure({ ...failure, message: `${name}: ${failure.message}` });
}

/**
 * Sums over the actors: VFS and web calls, `busy.retries`, and by role `<role>.transactions`,
 * `.retries`, and `.waited` (iterations within which another writer's transaction ended).
 * `<name>.waitedFor.<other>` counts them by writer.
 */
function countersOf(named: readonly Named[]): Counters {
  const out: Record<string, number> = { 'busy.retries': 0 };
  const add = (counter: string, n: number): void => void (out[counter] = (out[counter] ?? 0) + n);
  for (const { role, name, report } of named) {
    for (const [counter, n] of Object.entries(report.counters)) add(counter, n);
    add('busy.retries', report.retries);
    add(`${role}.retries`, report.retries);
    add(`${role}.transactions`, report.spans.length / 2);
    const waited = new Set<number>();
    for (const other of named) {
      if (other.name === name || other.role !== 'writer') continue;
      const during = waitsFor(report.spans, other.report.spans);
      during.forEach((i) => waited.add(i));
      add(`${name}.waitedFor.${other.name}`, during.length);
    }
    add(`${role}.waited`, waited.size);
  }
  return out;
}

/**
 * How many iterations of `mine` contain an end of `theirs`. Both are ascending: begin, end, begin,
 * end.
 */
function waitsFor(mine: Float64Array, theirs: Float64Array): number[] {
  const found: number[] = [];
  let t = 1;
  for (let i = 0; i < mine.length; i += 2) {
    while (t < theirs.length && theirs[t]! <= mine[i]!) t += 2;
    if (t < theirs.length && theirs[t]! < mine[i + 1]!) found.push(i / 2);
  }
  return found;
}
