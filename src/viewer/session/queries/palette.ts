/**
 * What the command palette finds in the trace: statements and files by their text, the most used
 * first.
 */
import { getOrMake } from '../../../analysis/core/maps.ts';
import { executions, type Executions } from '../../../analysis/core/executions.ts';
import type { EventRef, TraceStore } from '../../../trace/store.ts';
import { isVfsOp, isWebOp } from '../../../event/operations.ts';
import type { Definition } from '../../../event/definitions.ts';
import { fact, type ByThread } from '../../../analysis/core/graph.ts';
import type { QueryContext } from './context.ts';
import type { PaletteItem } from '../../../protocol/answers/palette.ts';

const MAX_TEXT = 300;

const paletteItems = fact('paletteItems', 'statements and files', { executions }, paletteItemsOf);

function paletteItemsOf(
  store: TraceStore,
  { executions }: { executions: ByThread<Executions> },
): PaletteItem[] {
  const items = new Map<string, PaletteItem>();
  for (const thread of store.threads) {
    const { events, definitions } = thread;
    const uses = new Map<number, { count: number; row: number }>();
    const use = (row: number): void => {
      getOrMake(uses, events.object[row]!, () => ({ count: 0, row })).count++;
    };
    const runs = executions.of(thread);
    runs.firstRow.subarray(0, runs.count).forEach(use);
    for (let row = 0; row < events.count; row++)
      if (isVfsOp(events.op[row]!) || isWebOp(events.op[row]!)) use(row);
    for (const [id, { count, row }] of uses) {
      const named = nameOf(definitions.get(id));
      if (!named) continue;
      const [kind, text] = named;
      const item = getOrMake(items, named.join(' '), () => ({
        kind,
        text,
        count: 0,
        event: thread.ref(row),
      }));
      item.count += count;
    }
  }
  return [...items.values()].sort((a, b) => b.count - a.count);
}

export const paletteQueries = {
  /** @param words the text must contain all of them, ignoring case */
  paletteItems(
    { facts }: QueryContext,
    { words, limit }: { words: string[]; limit: number },
  ): PaletteItem[] {
    const all = facts.get(paletteItems);
    const low = words.map((word) => word.toLowerCase());
    const found: PaletteItem[] = [];
    for (const item of all) {
      if (found.length >= limit) break;
      if (low.every((word) => item.text.toLowerCase().includes(word)))
        found.push({ ...item, text: item.text.slice(0, MAX_TEXT) });
    }
    return found;
  },

  /** The first retained event of a thread; null if it has none. */
  firstEvent({ store }: QueryContext, args: { thread: number }): EventRef | null {
    const thread = store.threads[args.thread];
    return thread?.events.count ? thread.ref(0) : null;
  },
};

function nameOf(d: Definition | undefined): [PaletteItem['kind'], string] | null {
  if (d?.kind === 'sql') return d.text ? ['statement', d.text] : null;
  if (d?.kind === 'file' || d?.kind === 'opfs-file') return ['file', d.path];
  return d?.kind === 'idb-store' ? ['file', `${d.db} / ${d.store}`] : null;
}
