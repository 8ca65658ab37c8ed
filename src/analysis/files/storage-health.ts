/**
 * Quota, usage, and persistence of a trace's origins. The extension asks the browser at the begin
 * and the end.
 */
import { grouped } from '../core/maps.ts';
import type { TraceStore } from '../../trace/store.ts';
import { fact } from '../core/graph.ts';
import type { StorageHealth } from '../../event/storage-health.ts';

export interface OriginStorage extends StorageHealth {
  /** Last answer minus the first, bytes; null if there is only one, or if one had no value. */
  grownBytes: number | null;
}

/**
 * By origin, in the order of the questions. Quota, usage, and persistence are from the last answer.
 */
export const storageHealth = fact('storageHealth', 'storage quota', {}, storageHealthOf);

function storageHealthOf({ threads }: TraceStore): OriginStorage[] {
  const byOrigin = grouped(
    threads.flatMap(({ storage }): readonly StorageHealth[] => storage),
    ({ origin }) => origin,
  );
  return [...byOrigin].map(([origin, said]) => {
    const [first, last] = [said[0]!, said.at(-1)!];
    const grown =
      said.length > 1 && first.usage !== null && last.usage !== null
        ? last.usage - first.usage
        : null;
    return {
      origin,
      quota: last.quota,
      usage: last.usage,
      persisted: last.persisted,
      grownBytes: grown,
    };
  });
}
