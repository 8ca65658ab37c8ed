/** PRAGMAs that set something, as the statements that ran have them. */
import { Op } from '../../event/event.ts';
import type { TraceStore } from '../../trace/store.ts';
import { fact } from './graph.ts';

interface SetPragma {
  /** Place in TraceStore.threads, connection and row of the call. */
  thread: number;
  context: number;
  row: number;
  /** Lower case. */
  name: string;
  /** As written, without quotes; `?` where the recording folded it. */
  value: string;
}

const SETS = /\bpragma\s+(?:["'`]?\w+["'`]?\s*\.\s*)?(\w+)\s*[=(]\s*["'`[]?([-+]?[\w?]+)/gi;

/** Thread by thread, in the order in which they ran. */
export const pragmas = fact('pragmas', 'PRAGMAs', {}, pragmasOf);

function pragmasOf(store: TraceStore): SetPragma[] {
  const found: SetPragma[] = [];
  for (const { events, definitions, index } of store.threads) {
    const byText = new Map<number, { name: string; value: string }[]>();
    for (const [id, d] of definitions) {
      const sets = d.kind === 'sql' ? [...d.text.matchAll(SETS)] : [];
      if (sets.length === 0) continue;
      byText.set(
        id,
        sets.map(([, name, value]) => ({ name: name!.toLowerCase(), value: value! })),
      );
    }
    if (byText.size === 0) continue;
    for (let row = 0; row < events.count; row++) {
      const op = events.op[row];
      if (op !== Op.sqlStep && op !== Op.sqlExec) continue;
      for (const set of byText.get(events.object[row]!) ?? [])
        found.push({ thread: index, context: events.context[row]!, row, ...set });
    }
  }
  return found;
}
