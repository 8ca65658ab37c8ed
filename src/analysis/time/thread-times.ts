/**
 * Where the time of a thread's whole life went: by part, by statement, and moment by moment. Each takes a sweep over the thread's calls,
 * and a sweep that says more says the rest as well: who asks for less gets it from there.
 */
import type { ThreadStore } from '../../trace/store.ts';
import type { ByThread } from '../core/graph.ts';
import { threadFact } from '../core/graph.ts';
import { owners, type Owners } from '../core/owners.ts';
import {
  partitionThread,
  timesOfThread,
  type ThreadTimes,
  type TimePartition,
} from './time-partition.ts';
import { timePieces, type TimePieces } from './time-pieces.ts';

class Sweeps {
  private times: ThreadTimes | null = null;
  private made: TimePieces | null = null;

  constructor(
    private readonly thread: ThreadStore,
    private readonly owners: ByThread<Owners>,
  ) {}

  get partition(): TimePartition {
    return (this.made ?? this.times)?.partition ?? partitionThread(this.thread);
  }
  get byStatement(): ThreadTimes['byStatement'] {
    const { thread, owners } = this;
    this.times ??= this.made ?? timesOfThread(thread, owners.of(thread));
    return this.times.byStatement;
  }
  get pieces(): TimePieces {
    const { thread, owners } = this;
    return (this.made ??= timePieces(thread, owners.of(thread)));
  }
}

const sweeps = threadFact(
  'sweeps',
  'time with SQL in flight',
  { owners },
  (thread, { owners }) => new Sweeps(thread, owners),
);

/** The time with SQL in flight moment by moment, as the timeline draws it. */
export const pieces = threadFact(
  'pieces',
  'time with SQL in flight',
  { sweeps },
  (thread, { sweeps }) => sweeps.of(thread).pieces,
);
/** The same by statement. */
export const byStatement = threadFact(
  'byStatement',
  'time of each statement',
  { sweeps },
  (thread, { sweeps }) => sweeps.of(thread).byStatement,
);
export const partition = threadFact(
  'partition',
  'where the time went',
  { sweeps },
  (thread, { sweeps }) => sweeps.of(thread).partition,
);
