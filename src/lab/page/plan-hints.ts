/** What a line of a query plan says of the cost: scans of a whole table or index. */

const WHOLE_TABLE = 'full scan: every row is read';
const WHOLE_INDEX = 'full scan: every entry of an index is read';

/** @param detail of EXPLAIN QUERY PLAN @returns '' where it is no scan of stored rows, or a virtual table's own affair */
export function scanHint(detail: string): string {
  const scan = /^SCAN (?!CONSTANT|\d+-ROW VALUES|\(|SUBQUERY)(?:TABLE )?\S+(.*)$/.exec(detail);
  if (!scan || / VIRTUAL TABLE /.test(detail)) return '';
  return / USING (?:COVERING )?INDEX /.test(scan[1]!) ? WHOLE_INDEX : WHOLE_TABLE;
}
