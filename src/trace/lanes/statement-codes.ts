/** The kind of each statement text of a thread. */
import { statementCode } from '../../sqlite/statement-kind.ts';
import type { ThreadStore } from '../store.ts';

/**
 * @returns maps a text's id to the place of its kind in STATEMENT_KINDS; each text is examined once
 */
export function statementCodes({
  definitions,
}: Pick<ThreadStore, 'definitions'>): (id: number) => number {
  const codes = new Map<number, number>();
  return (id) => {
    let code = codes.get(id);
    if (code === undefined) {
      const text = definitions.get(id);
      codes.set(id, (code = statementCode(text?.kind === 'sql' ? text.text : '')));
    }
    return code;
  };
}
