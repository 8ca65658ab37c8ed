/**
 * Fault profiles: a device that flushes slowly, a browser that refuses an access handle, storage
 * that is full. They are settings of a run like all others, so experiments, grids, the command, and
 * the page support them. worker/ causes them.
 */
import type { Config, Mode } from './types.ts';
import { labelOf } from './knobs.ts';
import { whyNoSharedMemory } from './shared-memory.ts';
import { keepsData } from './vfs-facts.ts';

export const FAULT_KEYS = ['slowFlush', 'refusedHandle', 'quota'] as const;
export type FaultSettings = Pick<Config, (typeof FAULT_KEYS)[number]>;

export const isFaultKey = (name: string): boolean => FAULT_KEYS.some((key) => key === name);

const asked = (settings: FaultSettings): (typeof FAULT_KEYS)[number][] =>
  FAULT_KEYS.filter((key) => (settings[key] ?? null) !== null);
/** Whether a run has a fault profile. */
export const hasFaults = (settings: FaultSettings): boolean => asked(settings).length > 0;
/** `flush +20 ms, quota 1 MiB`; '' without a profile. */
export const faultsText = (settings: FaultSettings): string =>
  asked(settings)
    .map((key) => labelOf(key, settings[key]!))
    .join(', ');

/** A slow flush only shows in times. @param mode of an experiment */
export const modeWith = (mode: Mode, { slowFlush }: FaultSettings): Mode =>
  slowFlush ? 'time' : mode;

/**
 * Connections in several workers share a fault profile through memory.
 * @param several whether the workload has such connections
 * @returns why a run can't have its fault profile here; null where it can, or has none
 */
export function whyNoFaults(config: Config, several: boolean): string | null {
  if (!hasFaults(config)) return null;
  if (!keepsData(config.vfs))
    return `a fault profile needs storage: ${config.vfs} has no flush, no access handle, and no quota`;
  return several ? whyNoSharedMemory('a fault profile for several connections') : null;
}

/** What a fault profile did in a pass, and the state of the database. */
export interface FaultReport {
  /** Flushes that were slowed down. */
  readonly flushes: number;
  /** Access handles requested while the workload ran. */
  readonly handles: number;
  /** How many of them were refused. */
  readonly refused: number;
  /** Writes that failed because of the quota. */
  readonly overQuota: number;
  /** What ended the workload; null: it ran to its end. */
  readonly answer: FaultAnswer | null;
  /**
   * PRAGMA integrity_check on a new connection, without the faults. null: it couldn't run; `damage`
   * has the reason.
   */
  readonly whole: boolean | null;
  /** '' where the database is undamaged. */
  readonly damage: string;
}
export interface FaultAnswer {
  /** The workload's step; `open` before its first one. */
  readonly step: string;
  /** `SQLITE_FULL`; null where an exception passed through SQLite, or came before SQLite. */
  readonly code: string | null;
  readonly message: string;
}

/** A connection in another worker failed. Only that worker knows its result code. */
export class FaultFailure extends Error {
  constructor(readonly answer: FaultAnswer) {
    super(answer.message);
  }
}
