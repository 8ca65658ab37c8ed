/**
 * Lines of EXPLAIN QUERY PLAN: how deep each is, what it scans, and what that means for the cost.
 */

/** A row as SQLite returns it. */
export interface PlanStep {
  readonly id: number;
  /** 0 = at the top. */
  readonly parent: number;
  readonly detail: string;
}

/** How deep each line is, from 0. */
export function depthsOf(steps: readonly PlanStep[]): number[] {
  const depth = new Map<number, number>();
  return steps.map(({ id, parent }) => {
    const at = parent ? (depth.get(parent) ?? -1) + 1 : 0;
    depth.set(id, at);
    return at;
  });
}

const WHOLE_TABLE = 'full scan: every row is read';
const WHOLE_INDEX = 'full scan: every entry of an index is read';

/**
 * @param detail of EXPLAIN QUERY PLAN
 * @returns '' if it isn't a scan of stored rows, or if a virtual table does the scan
 */
export function scanHint(detail: string): string {
  const scan = /^SCAN (?!CONSTANT|\d+-ROW VALUES|\(|SUBQUERY)(?:TABLE )?\S+(.*)$/.exec(detail);
  if (!scan || / VIRTUAL TABLE /.test(detail)) return '';
  return / USING (?:COVERING )?INDEX /.test(scan[1]!) ? WHOLE_INDEX : WHOLE_TABLE;
}

/** A line's table, or its alias, and its index, in lower case; null = none. */
interface LineNames {
  readonly table: string | null;
  /** null, too, if SQLite builds the index for one run. */
  readonly index: string | null;
  /** The index has everything that is read, so the table isn't read. */
  readonly covering: boolean;
}
const NONE: LineNames = { table: null, index: null, covering: false };
const USES_INDEX = /^ using (covering )?index (.*?)(?: \([^()]*\))?(?: (?:left|right)-join)?$/;

/**
 * @param known names that a table may have in this statement, in lower case: a name may contain
 * spaces
 */
export function namesIn(detail: string, known: Iterable<string>): LineNames {
  const rest = /^(?:scan|search) (?:table )?(.*)$/.exec(detail.toLowerCase())?.[1];
  if (rest === undefined) return NONE;
  let table: string | null = null;
  for (const name of known)
    if ((rest === name || rest.startsWith(`${name} `)) && name.length > (table?.length ?? 0))
      table = name;
  if (table === null) return NONE;
  const [, covering, index = null] = USES_INDEX.exec(rest.slice(table.length)) ?? [];
  return { table, index, covering: covering !== undefined };
}
