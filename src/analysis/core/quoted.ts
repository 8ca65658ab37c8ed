/** How rules name statements, and tell which are one. */
import { getOrMake } from './maps.ts';
import { fingerprint } from '../../sqlite/sql-text.ts';
import { cut, oneLine } from '../../text/clean.ts';
import { objectName } from '../../trace/describe.ts';
import type { ThreadStore } from '../../trace/store.ts';

const SQL_LENGTH = 80;
/** A statement within a sentence. */
export const quoted = (sql: string): string => `"${cut(oneLine(sql), SQL_LENGTH)}"`;

/** Fingerprints of a thread's texts by their ids, computed once each; '' = not known. */
export function fingerprints(thread: ThreadStore): (text: number) => string {
  const known = new Map<number, string>();
  return (text) => getOrMake(known, text, () => fingerprint(objectName(thread, text)));
}
