/**
 * Definitions that the extension itself adds to a recording. In a file they are checked; from a
 * page they aren't accepted.
 */
import { isConditionsDefinition, type ConditionsDefinition } from './conditions.ts';
import { isStorageDefinition, type StorageDefinition } from './storage-health.ts';

export type OwnDefinition = ConditionsDefinition | StorageDefinition;

/**
 * @param v what a file holds
 * @returns the definition, with only its own fields; null if it isn't one of these
 */
export function checkedOwnDefinition(v: unknown): OwnDefinition | null {
  if (typeof v !== 'object' || v === null) return null;
  const d = v as Record<string, unknown>;
  if (d.id !== 0) return null;
  if (d.kind === 'conditions' && isConditionsDefinition(d)) {
    const { devtools, wasmFactor, awaitExtraNs } = d as unknown as ConditionsDefinition;
    return { kind: 'conditions', id: 0, devtools, wasmFactor, awaitExtraNs };
  }
  if (d.kind !== 'storage' || !isStorageDefinition(d)) return null;
  const { when, origin, quota, usage, persisted } = d as unknown as StorageDefinition;
  return { kind: 'storage', id: 0, when, origin, quota, usage, persisted };
}
