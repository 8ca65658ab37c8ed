/**
 * The shown text of a statement: as the app wrote it in its first run, with literals folded. Its
 * fingerprint, which several spellings share, is the key for counts, filters, links, and exports.
 */
import { objectName } from '../../trace/describe.ts';
import { executions } from './executions.ts';
import { fingerprintsOf } from './fingerprints.ts';
import { fact } from './graph.ts';

/** Recorded text by fingerprint. */
export type RecordedTexts = ReadonlyMap<string, string>;

export const recordedTexts = fact(
  'recordedTexts',
  'statements',
  { executions },
  ({ threads }, known): RecordedTexts => {
    const texts = new Map<string, string>();
    const since = new Map<string, number>();
    for (const thread of threads) {
      const printOf = fingerprintsOf(thread);
      const seen = new Set<number>();
      const take = (id: number, us: number): void => {
        seen.add(id);
        const print = printOf(id);
        if (print === null || us >= (since.get(print) ?? Infinity)) return;
        since.set(print, us);
        texts.set(print, objectName(thread, id).trim());
      };
      const { count, text, firstRow } = known.executions.of(thread);
      for (let i = 0; i < count; i++)
        if (!seen.has(text[i]!)) take(text[i]!, thread.events.t0[firstRow[i]!]!);
      // prepared, but never run
      for (const id of thread.definitions.keys()) if (!seen.has(id)) take(id, Number.MAX_VALUE);
    }
    return texts;
  },
);
