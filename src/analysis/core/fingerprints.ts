/** Fingerprints of a thread's statements. */
import { fingerprint } from '../../sqlite/sql-text.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { ById } from './by-id.ts';

/** @returns the fingerprint by id of an `sql` definition; null = the text is not known */
export function fingerprintsOf({ definitions }: ThreadStore): (text: number) => string | null {
  const known = new ById<string | null>();
  return (id) => {
    const found = known.get(id);
    if (found !== undefined) return found;
    const d = id ? definitions.get(id) : undefined;
    return known.set(id, d?.kind === 'sql' ? fingerprint(d.text) : null);
  };
}
