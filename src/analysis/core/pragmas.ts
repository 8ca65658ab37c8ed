/** PRAGMAs that set something, from the statements that ran. */
import { Op } from '../../event/event.ts';
import { tokens } from '../../sqlite/sql-text.ts';
import type { TraceStore } from '../../trace/store.ts';
import { fact } from './graph.ts';

interface SetPragma {
  /** Place in TraceStore.threads, connection and row of the call. */
  thread: number;
  context: number;
  row: number;
  /** Lower case. */
  name: string;
  /** As written, without quotes; `?` if the recording folded it. */
  value: string;
}

/** A PRAGMA statement: words and signs, without quotes, separated by spaces. */
const PRAGMA = /^pragma (?:\S+ \. )?(\w+)(?: [=(] ([-+] )?([\w?.]+))?/i;

export interface PragmaStatement {
  /** Lower case, without the schema's name. */
  readonly name: string;
  /** As written, without quotes; `?` if the recording folded it; null: no value. */
  readonly value: string | null;
}

/** The PRAGMAs of a text's statements, without comments and literals. */
export function pragmasIn(sql: string): PragmaStatement[] {
  if (!/pragma/i.test(sql)) return [];
  const statements: string[][] = [[]];
  for (const { kind, text } of tokens(sql)) {
    if (kind === 'space' || kind === 'comment') continue;
    if (text === ';') statements.push([]);
    else statements.at(-1)!.push(QUOTED.test(text) ? text.slice(1, -1) : text);
  }
  return statements.flatMap((words) => {
    const [, name, sign = '', value] = PRAGMA.exec(words.join(' ')) ?? [];
    if (!name) return [];
    return [{ name: name.toLowerCase(), value: value === undefined ? null : sign.trim() + value }];
  });
}
const QUOTED = /^["'`[]/;
const setting = ({ name, value }: PragmaStatement): { name: string; value: string }[] =>
  value === null ? [] : [{ name, value }];

/** By thread, in the order of running. */
export const pragmas = fact('pragmas', 'PRAGMAs', {}, pragmasOf);

function pragmasOf(store: TraceStore): SetPragma[] {
  const found: SetPragma[] = [];
  for (const { events, definitions, index } of store.threads) {
    const byText = new Map<number, { name: string; value: string }[]>();
    for (const [id, d] of definitions) {
      const sets = d.kind === 'sql' ? pragmasIn(d.text).flatMap(setting) : [];
      if (sets.length) byText.set(id, sets);
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
