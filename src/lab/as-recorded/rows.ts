/**
 * Substitutes for rows and values that a recording doesn't contain. Each is made from a number that
 * no other row has.
 */
import type { Copy } from '../advisor/copy.ts';
import { quotedName } from '../advisor/sql-tree.ts';
import type { TableInfo } from '../advisor/schema.ts';

const NUMERIC = /INT|REAL|FLOA|DOUB|NUM|DEC|BOOL|DATE|TIME/i;
/** Characters of a generated text. */
const CHARACTERS = 100;
const FIRST_ROWS = 50;
const MOST_BATCHES = 12;
/** Maximum size to which a database in the Lab is filled. */
export const MOST_BYTES = 64 * 2 ** 20;

/** Values of a column for row number `n`, as an SQL expression. */
function valueOf(type: string, n: string): string {
  if (NUMERIC.test(type)) return n;
  const text = `printf('%-${CHARACTERS}d', ${n})`;
  return /BLOB/i.test(type) ? `CAST(${text} AS BLOB)` : text;
}

export class MadeUpRows {
  /** Higher than apps' own row numbers. */
  private next = 1_000_000_000;
  private readonly types = new Map<string, Map<string, string>>();

  constructor(private readonly copy: Copy) {}

  /** A value for a column of a new row, as an SQL literal. SQLite chooses rowids. */
  async literal(table: TableInfo, column: string): Promise<string> {
    const name = column.toLowerCase();
    if (name === table.rowid) return 'NULL';
    const type = (await this.typesOf(table)).get(name) ?? '';
    const n = String(this.next++);
    if (NUMERIC.test(type)) return n;
    const text = `'${n.padEnd(CHARACTERS)}'`;
    return /BLOB/i.test(type) ? `CAST(${text} AS BLOB)` : text;
  }

  /**
   * Adds rows until the database has this size, and at least a few.
   * @param bytes of the whole database
   * @returns the statements, which have run on the copy, and their number of rows
   * @throws SQLite's errors
   */
  async fill(table: TableInfo, bytes: number): Promise<{ sql: string[]; rows: number }> {
    const done: string[] = [];
    let rows = 0;
    let size = await this.size();
    const goal = Math.min(bytes, MOST_BYTES);
    for (let batch = FIRST_ROWS, i = 0; i === 0 || (i < MOST_BATCHES && size < goal); i++) {
      const sql = await this.insert(table, batch);
      await this.copy.exec(sql);
      done.push(sql);
      rows += batch;
      const now = await this.size();
      // too few rows to fill a page: double them
      batch = now > size ? Math.ceil(((goal - now) / (now - size)) * batch) : 2 * batch;
      size = now;
      if (batch < 1) break;
    }
    return { sql: done, rows };
  }

  /** Current database size in bytes. */
  async size(): Promise<number> {
    const [[bytes] = []] = await this.copy.ask(
      'SELECT page_count * page_size FROM pragma_page_count, pragma_page_size',
    );
    return Number(bytes);
  }

  private async insert(table: TableInfo, rows: number): Promise<string> {
    const types = await this.typesOf(table);
    const columns = table.stored.filter((column) => column.toLowerCase() !== table.rowid);
    const [first, last] = [this.next, this.next + rows - 1];
    this.next += rows;
    const named = columns.length ? columns : table.stored.slice(0, 1);
    const values = named.map((column) => valueOf(types.get(column.toLowerCase()) ?? '', 'i'));
    return `WITH RECURSIVE made_up(i) AS (VALUES(${first}) UNION ALL SELECT i + 1 FROM made_up WHERE i < ${last}) INSERT INTO ${quotedName(table.name)}(${named.map(quotedName).join(', ')}) SELECT ${values.join(', ')} FROM made_up`;
  }

  private async typesOf({ name }: TableInfo): Promise<Map<string, string>> {
    const known = this.types.get(name);
    if (known) return known;
    const rows = await this.copy.ask(
      `SELECT lower(name), type FROM pragma_table_xinfo('${name.replaceAll("'", "''")}')`,
    );
    const types = new Map(rows.map(([column, type]) => [String(column), String(type)]));
    this.types.set(name, types);
    return types;
  }
}
