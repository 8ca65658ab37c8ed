/**
 * What the browser reports on an origin's storage: its quota, its usage, and whether it may be
 * evicted.
 */

export interface StorageHealth {
  origin: string;
  /**
   * Approximate bytes, from navigator.storage.estimate(); null = not available, as in insecure
   * contexts.
   */
  quota: number | null;
  usage: number | null;
  /** false: the browser may remove everything when the disk gets full; null = not known. */
  persisted: boolean | null;
}

/** Emitted by the extension about the page at the begin and the end of a recording. */
export interface StorageDefinition extends StorageHealth {
  kind: 'storage';
  id: 0;
  when: 'start' | 'stop';
}

const isBytes = (v: unknown): boolean =>
  v === null || (typeof v === 'number' && Number.isFinite(v) && v >= 0);

export const isStorageHealth = (v: unknown): v is StorageHealth => {
  if (typeof v !== 'object' || v === null) return false;
  const { origin, quota, usage, persisted } = v as Record<keyof StorageHealth, unknown>;
  return (
    typeof origin === 'string' &&
    origin.length <= 2000 &&
    isBytes(quota) &&
    isBytes(usage) &&
    (persisted === null || typeof persisted === 'boolean')
  );
};

export const isStorageDefinition = (v: Record<string, unknown>): boolean =>
  (v.when === 'start' || v.when === 'stop') && isStorageHealth(v);
