// Helpers for stories of findings: synthetic traces, each with the same work done right.
import { CAPTURE_DEFAULTS } from '../../../src/event/capture.ts';
import { Flag } from '../../../src/event/event.ts';
import type { ThreadEnvironment } from '../../../src/event/definitions.ts';
import type { ThreadInfo, TraceStore } from '../../../src/trace/store.ts';
import { newStore, ThreadBuilder } from '../builder.ts';

export const MS = 1000;

export const S = 1_000_000;

export const PAGE = 4096;

export const REFUSED = { result: 1, flags: Flag.threw | Flag.async };

export const times = (n: number, each: (i: number) => void): void => {
  for (let i = 0; i < n; i++) each(i);
};

export const environment = (of: Partial<ThreadEnvironment> = {}): { kind: 'environment'; id: 0 } & ThreadEnvironment => ({
  ...{ kind: 'environment', id: 0, url: 'https://app.example/', threadKind: 'worker', crossOriginIsolated: false, clockStepUs: 0.1 },
  ...{ userAgent: 'Chrome/150.0', hidden: false, capture: CAPTURE_DEFAULTS },
  ...of,
});

export interface Stage {
  store: TraceStore;
  thread(info?: Partial<ThreadInfo>): ThreadBuilder;
}

export type Story = (stage: Stage) => void;

export function play(story: Story): TraceStore {
  const store = newStore();
  const builders: ThreadBuilder[] = [];
  story({
    store,
    thread(info) {
      const b = new ThreadBuilder(store, info);
      builders.push(b);
      return b;
    },
  });
  for (const b of builders) b.send();
  return store;
}

/** SQLite's lock around some calls. */
export function locked(b: ThreadBuilder, object: number, level: number, inside: () => void, context = 0): void {
  b.call('xLock', { object, context, aux: 1 });
  if (level > 1) b.call('xLock', { object, context, aux: level });
  inside();
  b.call('xUnlock', { object, context, aux: 0 });
}

export interface Case {
  rule: string;
  name: string;
  wrong: Story;
  right: Story;
  says: RegExp;
}

export const idbStory =
  (of: { unused?: boolean; single?: boolean; durability?: number; mixed?: boolean }): Story =>
  ({ thread }) => {
    const b = thread();
    const db = b.file('/app.db');
    const store = b.define({ kind: 'idb-store', db: 'vfs', store: 'blocks' });
    let id = 0;
    times(30, (i) => {
      locked(b, db, of.unused ? 1 : 2, () => {
        const strict = of.durability === 1 && !(of.mixed && i % 2);
        const aux = 1 | ((strict ? 1 : 2) << 2);
        const request = (): void => {
          if (of.unused) b.call('idbGet', { object: store, offset: NaN, length: PAGE, context: id, dur: 200, flags: Flag.async });
          else b.call('idbPut', { object: store, offset: i * PAGE, length: PAGE, context: id, dur: 200, flags: Flag.async });
        };
        const page = { object: db, offset: i * PAGE, length: PAGE };
        times(of.single ? 4 : 1, () => {
          id++;
          b.call(of.unused ? 'xRead' : 'xWrite', page, () =>
            b.call('idbTransaction', { object: store, aux, context: id, dur: strict ? 8000 : 500, flags: Flag.async }, () =>
              times(of.single ? 1 : 4, request),
            ),
          );
        });
      });
      b.idle(200 * MS);
    });
  };
