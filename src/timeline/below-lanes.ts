/**
 * Lanes of the storage work that the browser itself reports, by its own clock:
 *
 *   calls of a thread       [= put =============]  until the answer      [== opfs.write ==]
 *   the browser's process         [put][ put ][= commit [fileWrite] =]
 *
 * The browser doesn't say which work is whose. So its process has one lane, on the first thread
 * that asked it.
 */
import { ACTIVITIES, OPS, opName, type Activity } from '../event/operations.ts';
import {
  BROWSER,
  BROWSER_WORK,
  type BelowStorage,
  type BrowserWork,
} from '../trace/below-storage.ts';
import type { IntervalIndex } from '../trace/lanes/interval-index.ts';
import { toNs } from '../trace/lanes/sweep.ts';
import { innermost } from './innermost.ts';

const WORK_ACTIVITY: Record<BrowserWork, Activity> = {
  get: 'read',
  getAll: 'read',
  count: 'read',
  openCursor: 'read',
  moveCursor: 'read',
  put: 'write',
  delete: 'write',
  clear: 'write',
  commit: 'sync',
  fileRead: 'read',
  fileWrite: 'write',
  fileFlush: 'sync',
};

/** One lane. Its rows are places in BelowStorage, not events of a thread. */
export interface BelowLane {
  intervals: IntervalIndex;
  /** Events in it. */
  count: number;
  /** The process that worked, where it isn't the thread itself; '' = the thread's own calls. */
  of: string;
}

export class BelowLanes {
  private readonly byThread = new Map<number, BelowLane[]>();

  constructor(private readonly below: BelowStorage) {
    const { threads } = below;
    const places = new Map<number, number[]>();
    threads.forEach((thread, i) => {
      const known = places.get(thread);
      if (known) known.push(i);
      else places.set(thread, [i]);
    });
    for (const [thread, calls] of places)
      if (thread >= 0) this.byThread.set(thread, [this.lane(calls, '')]);
    const work = places.get(BROWSER);
    const asking = threads.find((thread, i) => thread >= 0 && isIdb(below.kinds[i]!));
    if (work && asking !== undefined)
      this.byThread.get(asking)!.push(this.lane(work, "browser's process"));
  }

  /** Lanes of a thread, by its index. */
  of(thread: number): readonly BelowLane[] {
    return this.byThread.get(thread) ?? [];
  }

  label(place: number): string {
    const { threads, kinds } = this.below;
    return threads[place] === BROWSER ? BROWSER_WORK[kinds[place]!]! : opName(kinds[place]!);
  }

  private lane(places: readonly number[], of: string): BelowLane {
    const { threads, kinds, us, durUs } = this.below;
    const ranges = places.map((place) => {
      const [kind, from] = [kinds[place]!, toNs(us[place]!)];
      const activity =
        threads[place] === BROWSER ? WORK_ACTIVITY[BROWSER_WORK[kind]!] : OPS[kind]!.activity;
      return {
        ...{ row: place, kind: ACTIVITIES.indexOf(activity), from },
        to: from + toNs(Math.max(0, durUs[place]!)),
      };
    });
    const intervals = innermost(ranges.sort((a, b) => a.from - b.from || b.to - a.to));
    return { intervals, count: places.length, of };
  }
}

const isIdb = (op: number): boolean => OPS[op]!.api === 'idb';
