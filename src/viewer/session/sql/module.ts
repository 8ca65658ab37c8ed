/**
 * A table as SQLite's virtual-table module (sqlite.org/vtab.html): read-only and eponymous, so it
 * can be selected from without CREATE. The methods have wa-sqlite's signatures, which find the
 * module by vtab and by cursor.
 */
import type { Sink } from './sink.ts';
import {
  Compare,
  type BoundTerm,
  type Cursor,
  type Order,
  type SqlTable,
  type Term,
} from './table.ts';

const [OK, ERROR] = [0, 1];

/** What wa-sqlite passes to xBestIndex. */
interface IndexInfo {
  nConstraint: number;
  aConstraint: { iColumn: number; op: number; usable: boolean }[];
  aConstraintUsage: { argvIndex: number; omit: boolean }[];
  /**
   * Of ORDER BY, GROUP BY, or DISTINCT, if all their terms are columns of this table in its own
   * collation.
   */
  aOrderBy: { iColumn: number; desc: boolean }[];
  orderByConsumed: boolean;
  idxNum: number;
  estimatedCost: number;
  estimatedRows: number;
}
interface ModuleApi {
  declare_vtab(db: number, sql: string): number;
  value(pointer: number): unknown;
}

const USABLE: ReadonlySet<number> = new Set(Object.values(Compare));
/** Cost of starting a scan, in rows: keeps a join from starting many scans if one is enough. */
const START_COST = 20;

/** How a scan is to be made. */
interface Plan {
  terms: Term[];
  order: Order | null;
}

/**
 * @param onError receives what a method threw, because an exception must not cross SQLite's frames
 */
export function moduleOf(
  table: SqlTable,
  api: ModuleApi,
  sink: Sink,
  onError: (error: unknown) => void,
): object {
  const plans: Plan[] = [];
  const cursors = new Map<number, Cursor>();
  let lastAt = -1;
  let last: Cursor = table.open();
  const cursorAt = (at: number): Cursor => {
    if (at !== lastAt) {
      last = cursors.get(at)!;
      lastAt = at;
    }
    return last;
  };
  const safely = (act: () => void): number => {
    try {
      act();
      return OK;
    } catch (error) {
      onError(error);
      return ERROR;
    }
  };
  const bound = (value: unknown): BoundTerm['value'] => {
    if (typeof value === 'bigint') return Number(value);
    return typeof value === 'number' || typeof value === 'string' ? value : null;
  };
  return {
    xConnect(db: number): number {
      const columns = table.columns.map(({ name, type }) => `"${name}" ${type}`).join(', ');
      return safely(() => void api.declare_vtab(db, `CREATE TABLE x(${columns})`));
    },
    xBestIndex(_: number, info: IndexInfo): number {
      return safely(() => {
        const terms: Term[] = [];
        let share = 1;
        for (let i = 0; i < info.nConstraint; i++) {
          const { iColumn: column, op, usable } = info.aConstraint[i]!;
          if (!usable || column < 0 || !USABLE.has(op)) continue;
          const left = table.selectivity({ column, op });
          if (left === null) continue;
          terms.push({ column, op });
          info.aConstraintUsage[i]!.argvIndex = terms.length;
          share *= left;
        }
        const [by, more] = info.aOrderBy;
        const wanted = by && !more ? { column: by.iColumn, desc: by.desc } : null;
        const order = wanted && table.sorts(wanted) ? wanted : null;
        info.orderByConsumed = order !== null;
        info.idxNum = plans.push({ terms, order }) - 1;
        info.estimatedRows = Math.max(1, Math.ceil(table.rows() * share));
        info.estimatedCost = START_COST + info.estimatedRows;
      });
    },
    xDisconnect: () => OK,
    xDestroy: () => OK,
    xOpen(_: number, at: number): number {
      return safely(() => {
        cursors.set(at, table.open());
        lastAt = -1;
      });
    },
    xClose(at: number): number {
      cursors.delete(at);
      lastAt = -1;
      return OK;
    },
    xFilter(at: number, plan: number, _: string | null, values: Uint32Array): number {
      return safely(() => {
        const { terms, order } = plans[plan]!;
        const bounds = terms.map((term, i) => ({ ...term, value: bound(api.value(values[i]!)) }));
        cursorAt(at).start(bounds, order);
      });
    },
    xNext(at: number): number {
      cursorAt(at).next();
      return OK;
    },
    xEof: (at: number): boolean => cursorAt(at).done,
    xColumn(at: number, context: number, column: number): number {
      try {
        cursorAt(at).column(sink, context, column);
        return OK;
      } catch (error) {
        onError(error);
        return ERROR;
      }
    },
    xRowid(at: number, rowid: DataView): number {
      rowid.setBigInt64(0, BigInt(cursorAt(at).rowid()), true);
      return OK;
    },
  };
}
