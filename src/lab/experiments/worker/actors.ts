/** All actors of a contention workload: one worker each, opened one after the other, started together; their reports become counters. */
import { whyNotShared } from '../sharing.ts';
import type { Actor, Counters, Run } from '../types.ts';
import type { ActorReport, FromActor, ToActor } from './actor.ts';

/** A worker that will serve an actor over the other end of the port. */
export type ActorStarter = (name: string) => {
  readonly port: MessagePort;
  readonly worker: Worker;
};
interface Named {
  /** `writer-1` */
  readonly name: string;
  readonly role: string;
  readonly report: ActorReport;
}

/** @throws Error in words: VFSs that cannot be shared, and what an actor failed with */
export async function runActors(
  actors: readonly Actor[],
  run: Run,
  start: ActorStarter,
  after: () => Promise<Counters>,
): Promise<Counters> {
  const cast = actors.flatMap((actor) =>
    Array.from({ length: actor.count }, (_, i) => ({ actor, name: `${actor.role}-${i + 1}` })),
  );
  const why = whyNotShared(run.config);
  if (why) throw new Error(why);
  const workers: Worker[] = [];
  try {
    const ready: { name: string; actor: Actor; ask: Ask }[] = [];
    for (const { actor, name } of cast) {
      const { port, worker } = start(name);
      workers.push(worker);
      const ask = askOver(port, worker, name);
      await ask({ k: 'prepare', config: run.config, web: run.mode === 'count' });
      ready.push({ name, actor, ask });
    }
    const begin = performance.now();
    const named = await Promise.all(
      ready.map(async ({ name, actor, ask }): Promise<Named> => {
        const answer = await ask({ k: 'go', sql: actor.sql, iterations: actor.iterations });
        if (answer.k !== 'done') throw new Error(`${name} answered something else`);
        return { name, role: actor.role, report: answer.report };
      }),
    );
    const ms = performance.now() - begin;
    return { ...countersOf(named), ...(run.mode === 'time' ? { ms } : {}), ...(await after()) };
  } finally {
    for (const worker of workers) worker.terminate();
  }
}

type Ask = (message: ToActor) => Promise<Exclude<FromActor, { k: 'failed' }>>;
function askOver(port: MessagePort, worker: Worker, name: string): Ask {
  return (message) =>
    new Promise((resolve, reject) => {
      const failed = (words: string): void => reject(new Error(`${name}: ${words}`));
      worker.onerror = (event) => failed(event.message || 'its worker failed');
      port.onmessage = ({ data }: MessageEvent<FromActor>) =>
        data.k === 'failed' ? failed(data.message) : resolve(data);
      port.postMessage(message);
    });
}

/**
 * Sums over the actors: VFS and web calls, `busy.retries`, by role `<role>.transactions`, `.retries` and `.waited`: iterations within
 * which a transaction of another writer ended; `<name>.waitedFor.<other>` says whose.
 */
export function countersOf(named: readonly Named[]): Counters {
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

/** Which iterations of `mine` have an end of `theirs` inside. Both ascend: begin, end, begin, end. */
export function waitsFor(mine: Float64Array, theirs: Float64Array): number[] {
  const found: number[] = [];
  let t = 1;
  for (let i = 0; i < mine.length; i += 2) {
    while (t < theirs.length && theirs[t]! <= mine[i]!) t += 2;
    if (t < theirs.length && theirs[t]! < mine[i + 1]!) found.push(i / 2);
  }
  return found;
}
