/**
 * How a statement uses columns, from its text and the schema: compared, joined, ordered, and
 * grouped ones, by table. Names resolve through aliases, subqueries, common table expressions, and
 * views to the columns of tables. What it doesn't follow (expressions, functions, an OR over
 * several columns) counts as no use: a candidate is missed, never a wrong one built. What a change
 * fires counts, too: triggers, and the columns by which SQLite looks for rows that refer to a
 * changed one.
 */
import type { KeyColumn, Schema } from './schema.ts';
import {
  columnOf,
  outputsOf,
  renamed,
  resolve,
  type Outputs,
  type Ref,
  type Scope,
  type TableUse,
} from './scopes.ts';
import {
  isLeaf,
  isSign,
  isWord,
  leavesOf,
  listOf,
  splitAt,
  sqlTree,
  type Leaf,
  type SqlNode,
} from './sql-tree.ts';

/** The other side of a parameter's comparison. */
export interface ParameterUse {
  readonly leaf: Leaf;
  /** The column on the other side; null = none. */
  beside: { use: TableUse; column: string } | null;
  role: 'equal' | 'from' | 'to' | 'pattern' | 'limit' | 'offset' | 'unknown';
}
export interface StatementUse {
  readonly verb: 'select' | 'insert' | 'update' | 'delete';
  /** The table that it changes, in lower case; '' = none. */
  readonly target: string;
  readonly tables: readonly TableUse[];
  /** The parameters of the text, in order. */
  readonly parameters: readonly ParameterUse[];
}

type Ctes = ReadonlyMap<string, () => Outputs>;
/** A plain column in an expression. */
interface Column {
  refs: readonly Ref[];
  collation: string | null;
}

const JOINS = ['join', 'left', 'right', 'full', 'inner', 'outer', 'cross', 'natural'];
const CLAUSES = new Set(
  'select from where group having window order limit set returning values'.split(' '),
);
const NO_ALIAS = new Set([...JOINS, ...CLAUSES, 'on', 'using', 'indexed', 'not', 'as']);
const COMPARE = ['=', '==', '<', '>', '<=', '>=', '<>', '!='];
const NOT_NAMES = new Set(
  'null true false case when then else end and or not current_timestamp current_date current_time'.split(
    ' ',
  ),
);
/**
 * Limit for the queries in one statement, including views and subqueries. A statement with more
 * isn't analyzed.
 */
const MOST_QUERIES = 300;
const MOST_DEPTH = 40;

/**
 * @param foreignKeys whether they are checked
 * @returns null where it isn't a SELECT, INSERT, UPDATE, or DELETE
 * @throws Error where the text can't be parsed
 */
export function usesOf(sql: string, schema: Schema, foreignKeys = false): StatementUse | null {
  return new Reading(schema, foreignKeys).statement(sqlTree(sql));
}

class Reading {
  private readonly tables: TableUse[] = [];
  private readonly parameters = new Map<Leaf, ParameterUse>();
  private queries = 0;
  private depth = 0;
  private target = '';
  /** Reads happen inside a trigger or foreign key of the change. */
  private fires = false;
  /** Triggers and foreign keys analyzed so far. */
  private readonly fired = new Set<object>();

  constructor(
    private readonly schema: Schema,
    private readonly foreignKeys: boolean,
  ) {}

  statement(all: readonly SqlNode[]): StatementUse | null {
    const parts = splitAt(all, (node) => isSign(node, ';')).filter((part) => part.length);
    if (parts.length !== 1) throw new Error('several statements');
    for (const leaf of leavesOf(parts[0]!))
      if (leaf.kind === 'parameter')
        this.parameters.set(leaf, { leaf, beside: null, role: 'unknown' });
    const verb = this.one(parts[0]!);
    const parameters = [...this.parameters.values()];
    return verb && { verb, target: this.target, tables: this.tables, parameters };
  }

  /** One statement of the text or of a trigger. */
  private one(nodes: readonly SqlNode[]): StatementUse['verb'] | null {
    const { ctes, rest } = this.withClause(nodes, new Map(), null);
    const verb = isLeaf(rest[0]) ? rest[0].name : '';
    switch (verb) {
      case 'select':
      case 'values':
        this.compound(rest, ctes, null);
        return 'select';
      case 'insert':
      case 'replace':
        this.insert(rest, ctes);
        return 'insert';
      case 'update':
      case 'delete':
        this.change(rest, ctes);
        return verb;
      default:
        return null;
    }
  }

  /** A query in parentheses, or the query of a view. */
  private query(nodes: readonly SqlNode[], outerCtes: Ctes, outer: Scope | null): Outputs {
    if (++this.queries > MOST_QUERIES || this.depth >= MOST_DEPTH)
      throw new Error('too many queries in it');
    this.depth++;
    const { ctes, rest } = this.withClause(nodes, outerCtes, outer);
    const outputs = this.compound(rest, ctes, outer);
    this.depth--;
    return outputs;
  }

  private withClause(
    nodes: readonly SqlNode[],
    outerCtes: Ctes,
    outer: Scope | null,
  ): { ctes: Ctes; rest: readonly SqlNode[] } {
    if (!isWord(nodes[0], 'with')) return { ctes: outerCtes, rest: nodes };
    const ctes = new Map(outerCtes);
    let i = isWord(nodes[1], 'recursive') ? 2 : 1;
    for (;;) {
      const name = nodes[i++];
      if (!isLeaf(name)) throw new Error('a common table expression without a name');
      const list = nodes[i]?.kind === 'group' ? columnNames(nodes[i++]!) : null;
      while (isWord(nodes[i], 'as', 'not', 'materialized')) i++;
      const body = nodes[i++];
      if (body?.kind !== 'group') throw new Error('a common table expression without a query');
      let known: Outputs | null = null;
      const before = new Map(ctes);
      ctes.set(name.name, () => {
        if (known) return known;
        known = new Map(); // while it is analyzed, it may refer to itself
        return (known = renamed(
          this.query(
            body.nodes,
            before.set(name.name, () => known!),
            outer,
          ),
          list,
        ));
      });
      if (!isSign(nodes[i], ',')) break;
      i++;
    }
    return { ctes, rest: nodes.slice(i) };
  }

  private compound(nodes: readonly SqlNode[], ctes: Ctes, outer: Scope | null): Outputs {
    const cores = splitAt(
      nodes,
      (node, i) =>
        isWord(node, 'union', 'intersect', 'except') ||
        (isWord(node, 'all') && isWord(nodes[i - 1], 'union')),
    ).filter((core) => core.length);
    const outputs = cores.map((core) => this.core(core, ctes, outer, cores.length === 1));
    const [first = new Map<string, readonly Ref[]>(), ...others] = outputs;
    const columns = others.map((other) => [...other.values()]);
    return new Map(
      [...first].map(([name, refs], i) => [
        name,
        [...refs, ...columns.flatMap((column) => column[i] ?? [])],
      ]),
    );
  }

  /** @param alone the ORDER BY belongs to this query, not to a compound */
  private core(
    nodes: readonly SqlNode[],
    ctes: Ctes,
    outer: Scope | null,
    alone: boolean,
  ): Outputs {
    const clauses = clausesOf(nodes);
    const scope: Scope = { sources: [], outer };
    const conditions = this.sources(clauses.get('from') ?? [], scope, ctes);
    for (const condition of [...conditions, clauses.get('where') ?? []])
      this.terms(condition, scope, ctes);
    const distinct = isWord(clauses.get('select')?.[0], 'distinct', 'all') ? 1 : 0;
    const list = (clauses.get('select') ?? []).slice(distinct);
    const outputs = this.results(list, scope);
    this.extremes(list, scope);
    if (distinct && isWord(clauses.get('select')![0], 'distinct'))
      this.order(listOf(list), scope, outputs);
    this.order(listOf(clauses.get('group') ?? []), scope, outputs);
    if (alone) this.order(listOf(clauses.get('order') ?? []), scope, outputs);
    this.limit(clauses.get('limit') ?? []);
    for (const clause of ['select', 'group', 'having', 'order', 'limit', 'values'])
      this.subqueries(clauses.get(clause) ?? [], scope, ctes);
    return outputs;
  }

  private change(nodes: readonly SqlNode[], ctes: Ctes): void {
    const clauses = clausesOf(nodes);
    const isUpdate = isWord(nodes[0], 'update');
    // `UPDATE OR IGNORE t AS a`, `DELETE FROM t`
    const head = isUpdate
      ? (clauses.get('') ?? []).slice(isWord(nodes[1], 'or') ? 3 : 1)
      : (clauses.get('from') ?? []);
    const scope: Scope = { sources: [], outer: null };
    this.sources(head, scope, ctes);
    const conditions = isUpdate ? this.sources(clauses.get('from') ?? [], scope, ctes) : [];
    for (const setting of listOf(clauses.get('set') ?? [])) {
      const at = setting.findIndex((node) => isSign(node, '='));
      const column = this.column(setting.slice(0, at), scope);
      if (at > 0 && column) this.beside(setting.slice(at + 1), column, 'equal');
      this.subqueries(setting, scope, ctes);
    }
    for (const condition of [...conditions, clauses.get('where') ?? []])
      this.terms(condition, scope, ctes);
    this.limit(clauses.get('limit') ?? []);
    const settings = listOf(clauses.get('set') ?? []).flatMap((setting) =>
      [
        ...leavesOf(
          setting.slice(
            0,
            setting.findIndex((node) => isSign(node, '=')),
          ),
        ),
      ].map(({ name }) => name),
    );
    this.fire(targetOf(head), isUpdate ? 'update' : 'delete', settings);
  }

  private insert(nodes: readonly SqlNode[], ctes: Ctes): void {
    const into = nodes.findIndex((node) => isWord(node, 'into')) + 1;
    const query = nodes.findIndex((node) => isWord(node, 'select', 'with'));
    const conflict = nodes.findIndex(
      (node, i) => isWord(node, 'on') && isWord(nodes[i + 1], 'conflict'),
    );
    if (query > 0) this.query(nodes.slice(query, conflict < 0 ? undefined : conflict), ctes, null);
    this.fire(targetOf(nodes.slice(into)), 'insert', []);
  }

  /**
   * The other effects of changing rows in SQLite.
   * @param table in lower case
   * @param columns that are set
   */
  private fire(
    table: string,
    event: 'insert' | 'update' | 'delete',
    columns: readonly string[],
  ): void {
    const before = this.fires;
    if (!before) this.target = table;
    this.fires = true;
    for (const trigger of this.schema.triggers)
      if (trigger.table === table && !this.fired.has(trigger)) {
        const statements = statementsOf(trigger.sql, event, columns);
        if (statements.length) this.fired.add(trigger);
        for (const statement of statements) this.one(statement);
      }
    if (this.foreignKeys && event !== 'insert')
      for (const child of this.schema.tables.values())
        for (const reference of child.references) {
          const { parent, key: parentKey, cascades } = reference;
          if (parent !== table || this.fired.has(reference)) continue;
          if (event === 'update' && !parentKey.some((column) => columns.includes(column))) continue;
          this.fired.add(reference);
          const equal = reference.columns.map((column) => key(column));
          this.tables.push({
            table: child,
            fired: true,
            equal,
            joined: [],
            ranges: [],
            orders: [],
          });
          if (event === 'delete' && cascades) this.fire(child.name.toLowerCase(), 'delete', []);
        }
    this.fires = before;
  }

  /** Adds the tables of a FROM clause to the scope. @returns the conditions of its joins */
  private sources(nodes: readonly SqlNode[], scope: Scope, ctes: Ctes): SqlNode[][] {
    const conditions: SqlNode[][] = [];
    for (let i = 0; i < nodes.length;) {
      const node = nodes[i]!;
      if (isWord(node, ...JOINS) || isSign(node, ',')) i++;
      else if (isWord(node, 'on')) {
        let end = ++i;
        while (end < nodes.length && !isWord(nodes[end], ...JOINS) && !isSign(nodes[end], ','))
          end++;
        conditions.push(nodes.slice(i, end));
        i = end;
      } else if (isWord(node, 'using') && nodes[i + 1]?.kind === 'group') {
        this.using(columnNames(nodes[i + 1]!), scope);
        i += 2;
      } else if (isWord(node, 'indexed')) i += 3;
      else if (isWord(node, 'not')) i += 2;
      else i = this.source(nodes, i, scope, ctes, conditions);
    }
    return conditions;
  }

  /** @returns the position after it */
  private source(
    nodes: readonly SqlNode[],
    at: number,
    scope: Scope,
    ctes: Ctes,
    conditions: SqlNode[][],
  ): number {
    let i = at + 1;
    const node = nodes[at]!;
    let alias = '';
    let use: TableUse | null = null;
    let outputs: Outputs = new Map();
    if (node.kind === 'group') {
      if (isWord(node.nodes[0], 'select', 'with', 'values'))
        outputs = this.query(node.nodes, ctes, scope.outer);
      else conditions.push(...this.sources(node.nodes, scope, ctes));
    } else {
      let { name } = node;
      const qualified = isSign(nodes[i], '.');
      if (qualified) {
        const next = nodes[i + 1];
        name = isLeaf(next) ? next.name : '';
        i += 2;
      }
      alias = name;
      const table = this.schema.tables.get(name);
      const cte = qualified ? undefined : ctes.get(name);
      const view = this.schema.views.get(name);
      if (nodes[i]?.kind === 'group')
        i++; // a table-valued function
      else if (cte) outputs = cte();
      else if (table) {
        use = { table, fired: this.fires, equal: [], joined: [], ranges: [], orders: [] };
        this.tables.push(use);
      } else if (view) outputs = this.view(view);
    }
    if (isWord(nodes[i], 'as')) i++;
    const next = nodes[i];
    if (
      isLeaf(next) &&
      (next.kind === 'quoted' || (next.kind === 'word' && !NO_ALIAS.has(next.name)))
    ) {
      alias = next.name;
      i++;
    }
    scope.sources.push({ alias, use, outputs });
    return i;
  }

  private view(sql: string): Outputs {
    const nodes = sqlTree(sql);
    const as = nodes.findIndex((node) => isWord(node, 'as'));
    const before = nodes[as - 1];
    const list = before?.kind === 'group' ? columnNames(before) : null;
    const body = splitAt(nodes.slice(as + 1), (node) => isSign(node, ';'))[0]!;
    return renamed(this.query(body, new Map(), null), list);
  }

  private using(names: readonly string[], { sources }: Scope): void {
    const last = sources.at(-1);
    for (const name of names) {
      const right = last ? columnOf(last, name) : [];
      const left = sources.slice(0, -1).flatMap((source) => columnOf(source, name));
      if (!left.length || !right.length) continue;
      for (const { use, column } of [...left, ...right]) add(use.joined, key(column));
    }
  }

  /** A condition, as terms joined by AND. */
  private terms(nodes: readonly SqlNode[], scope: Scope, ctes: Ctes): void {
    let between = 0;
    const parts = splitAt(nodes, (node) => {
      if (isWord(node, 'between')) between++;
      return isWord(node, 'and') && (between === 0 || between-- === 0);
    });
    for (const part of parts) this.term(part, scope, ctes);
  }

  private term(nodes: readonly SqlNode[], scope: Scope, ctes: Ctes): void {
    const [only] = nodes;
    if (nodes.length === 1 && only?.kind === 'group' && !isQuery(only.nodes))
      return this.terms(only.nodes, scope, ctes);
    this.subqueries(nodes, scope, ctes);
    if (nodes.some((node) => isWord(node, 'or'))) return this.either(nodes, scope);
    this.comparison(nodes, scope, true);
  }

  /** Terms joined by OR: SQLite treats equalities of one column as IN. */
  private either(nodes: readonly SqlNode[], scope: Scope): void {
    const branches = splitAt(nodes, (node) => isWord(node, 'or'));
    const columns = branches.map((branch) => this.comparison(branch, scope, false));
    const [first] = columns;
    if (first && columns.every((c) => c && sameColumn(c, first)))
      for (const { use, column } of first.refs) add(use.equal, key(column, first.collation));
  }

  /**
   * @param counts whether its columns count as used, or only parameters are collected
   * @returns the column of an equality with a non-column
   */
  private comparison(nodes: readonly SqlNode[], scope: Scope, counts: boolean): Column | null {
    const at = nodes.findIndex(
      (node) =>
        (node.kind === 'sign' && COMPARE.includes(node.text)) ||
        isWord(node, 'is', 'in', 'between', 'like', 'glob', 'isnull', 'not'),
    );
    if (at <= 0) return null;
    const [operator, left] = [(nodes[at] as Leaf).name, nodes.slice(0, at)];
    const right = nodes.slice(at + 1);
    const [a, b] = [this.column(left, scope), this.column(right, scope)];
    const role: ParameterUse['role'] = ROLES[operator] ?? 'equal';
    const near = a ?? this.singleColumn(left, scope);
    if (operator === 'between') {
      const [low = [], high = []] = splitAt(right, (node) => isWord(node, 'and'));
      this.beside(low, near, 'from');
      this.beside(high, near, 'to');
    } else this.beside(right, near, role);
    this.beside(left, b ?? this.singleColumn(right, scope), MIRRORED[role] ?? role);
    if (operator === 'not' || operator === '!=' || operator === '<>') return null;
    if (operator === 'is' && isWord(right[0], 'not')) return null;
    if (operator === 'like' || operator === 'glob') {
      if (counts && a) this.range(a, operator === 'like' ? (a.collation ?? 'NOCASE') : a.collation);
      return null;
    }
    if (RANGES.has(operator)) {
      const [first] = left;
      // in (a, b) > (?, ?), the first column decides
      const row = left.length === 1 && first?.kind === 'group' ? listOf(first.nodes)[0]! : null;
      const column = a ?? (row && this.column(row, scope));
      if (counts && column && !this.mentions(right, scope, column)) this.range(column);
      if (counts && b && !this.mentions(left, scope, b)) this.range(b);
      return null;
    }
    const sides: [Column | null, readonly SqlNode[]][] = [
      [a, right],
      [b, operator === 'in' ? [] : left],
    ];
    let equality: Column | null = null;
    for (const [column, other] of sides) {
      if (!column || this.mentions(other, scope, column)) continue;
      const others = this.refsIn(other, scope).length > 0;
      if (!others) equality = column;
      if (counts)
        for (const ref of column.refs)
          add(others ? ref.use.joined : ref.use.equal, key(ref.column, column.collation));
    }
    return equality;
  }

  private range({ refs, collation }: Column, as = collation): void {
    for (const { use, column } of refs) add(use.ranges, key(column, as));
  }

  /** Parameters of an expression compared with this column. */
  private beside(
    nodes: readonly SqlNode[],
    column: Column | null,
    role: ParameterUse['role'],
  ): void {
    const [ref] = column?.refs ?? [];
    for (const node of nodes)
      if (node.kind === 'group') {
        if (!isQuery(node.nodes)) this.beside(node.nodes, column, role);
      } else {
        const parameter = this.parameters.get(node);
        if (parameter && ref) Object.assign(parameter, { beside: ref, role });
      }
  }

  private limit(nodes: readonly SqlNode[]): void {
    const comma = nodes.some((node) => isSign(node, ','));
    let offset = comma; // LIMIT offset, n
    for (const node of nodes) {
      if (isWord(node, 'offset')) offset = true;
      else if (isSign(node, ',')) offset = false;
      const parameter = isLeaf(node) && this.parameters.get(node);
      if (parameter) parameter.role = offset ? 'offset' : 'limit';
    }
  }

  /** The columns of a result list, by name. */
  private results(nodes: readonly SqlNode[], scope: Scope): Outputs {
    const outputs: Outputs = new Map();
    listOf(nodes).forEach((item, i) => {
      const last = item.at(-1);
      if (isSign(last, '*') && item.length !== 2) {
        const [of] = item;
        for (const source of scope.sources)
          if (item.length === 1 || (isLeaf(of) && of.name === source.alias))
            for (const [name, refs] of outputsOf(source)) outputs.set(name, refs);
        return;
      }
      const as =
        item.length > 1 && isLeaf(last) && (last.kind === 'word' || last.kind === 'quoted');
      const before = item[item.length - 2];
      const named = as && !isSign(before, '.') && !isWord(last, 'end');
      const expression = named ? item.slice(0, isWord(before, 'as') ? -2 : -1) : item;
      const column = this.column(expression, scope);
      const name = (named || column) && isLeaf(last) ? last.name : `:${i}`;
      outputs.set(name, column?.refs ?? []);
    });
    return outputs;
  }

  /** min(column) and max(column) of a result list. */
  private extremes(nodes: readonly SqlNode[], scope: Scope): void {
    nodes.forEach((node, i) => {
      const next = nodes[i + 1];
      if (!isWord(node, 'min', 'max') || next?.kind !== 'group') return;
      const column = this.column(next.nodes, scope);
      for (const { use, column: name } of column?.refs ?? []) use.orders.push([key(name)]);
    });
  }

  /**
   * ORDER BY, GROUP BY, or DISTINCT. Counts only where all columns belong to one mention of a
   * table.
   */
  private order(items: readonly SqlNode[][], scope: Scope, outputs: Outputs): void {
    const keys: { ref: Ref; key: KeyColumn }[] = [];
    for (const item of items) {
      const nulls = item.findIndex((node) => isWord(node, 'nulls'));
      const whole = nulls < 0 ? item : item.slice(0, nulls);
      const last = whole.at(-1);
      const directed = isWord(last, 'asc', 'desc');
      const column = this.orderColumn(directed ? whole.slice(0, -1) : whole, scope, outputs);
      const [ref] = column?.refs ?? [];
      if (!column || !ref || column.refs.length !== 1) return;
      keys.push({
        ref,
        key: { ...key(ref.column, column.collation), descending: isWord(last, 'desc') },
      });
    }
    const [first] = keys;
    if (first && keys.every(({ ref }) => ref.use === first.ref.use))
      first.ref.use.orders.push(keys.map((one) => one.key));
  }

  private orderColumn(nodes: readonly SqlNode[], scope: Scope, outputs: Outputs): Column | null {
    const [only] = nodes;
    if (nodes.length === 1 && isLeaf(only)) {
      if (only.kind === 'value') {
        const refs = [...outputs.values()][Number(only.text) - 1];
        return refs ? { refs, collation: null } : null;
      }
      const named = outputs.get(only.name);
      if (named && only.kind !== 'parameter') return { refs: named, collation: null };
    }
    return this.column(nodes, scope);
  }

  /** A plain column, with or without a qualifier, parentheses, or a COLLATE. */
  private column(nodes: readonly SqlNode[], scope: Scope): Column | null {
    const [first, second] = nodes;
    if (nodes.length === 1 && first?.kind === 'group') return this.column(first.nodes, scope);
    const collate = nodes.at(-2);
    if (nodes.length > 2 && isWord(collate, 'collate')) {
      const column = this.column(nodes.slice(0, -2), scope);
      const name = nodes.at(-1);
      return column && isLeaf(name) ? { ...column, collation: name.name.toUpperCase() } : null;
    }
    if (!isName(first)) return null;
    const last = nodes.at(-1);
    if (nodes.length === 1) return found(resolve(scope, null, first.name));
    if ((nodes.length !== 3 && nodes.length !== 5) || !isSign(second, '.') || !isName(last))
      return null;
    const qualifier = nodes[nodes.length - 3];
    return isName(qualifier) ? found(resolve(scope, qualifier.name, last.name)) : null;
  }

  /**
   * The only column in an expression: a value for the expression is close to the column's values.
   */
  private singleColumn(nodes: readonly SqlNode[], scope: Scope): Column | null {
    const refs = this.refsIn(nodes, scope);
    return refs.length === 1 ? { refs, collation: null } : null;
  }

  private mentions(nodes: readonly SqlNode[], scope: Scope, { refs }: Column): boolean {
    return this.refsIn(nodes, scope).some(({ use }) => refs.some((ref) => ref.use === use));
  }

  /** Columns in an expression, without subqueries. */
  private refsIn(nodes: readonly SqlNode[], scope: Scope): Ref[] {
    return nodes.flatMap((node, i): readonly Ref[] => {
      if (node.kind === 'group') return isQuery(node.nodes) ? [] : this.refsIn(node.nodes, scope);
      if (!isName(node) || isSign(nodes[i + 1], '.') || nodes[i + 1]?.kind === 'group') return [];
      const before = isSign(nodes[i - 1], '.') ? nodes[i - 2] : undefined;
      return resolve(scope, isLeaf(before) ? before.name : null, node.name);
    });
  }

  /** Queries in parentheses, anywhere in an expression. */
  private subqueries(nodes: readonly SqlNode[], scope: Scope, ctes: Ctes): void {
    for (const node of nodes)
      if (node.kind === 'group') {
        if (isQuery(node.nodes)) this.query(node.nodes, ctes, scope);
        else this.subqueries(node.nodes, scope, ctes);
      }
  }
}

const ROLES: Readonly<Record<string, ParameterUse['role']>> = {
  '>': 'from',
  '>=': 'from',
  '<': 'to',
  '<=': 'to',
  like: 'pattern',
  glob: 'pattern',
};
const MIRRORED: Readonly<Partial<Record<ParameterUse['role'], ParameterUse['role']>>> = {
  from: 'to',
  to: 'from',
};
const RANGES = new Set(['<', '>', '<=', '>=', 'between']);

const isQuery = (nodes: readonly SqlNode[]): boolean =>
  isWord(nodes[0], 'select', 'with', 'values');
const isName = (node: SqlNode | undefined): node is Leaf =>
  node?.kind === 'quoted' || (node?.kind === 'word' && !NOT_NAMES.has(node.name));
const found = (refs: readonly Ref[]): Column | null =>
  refs.length ? { refs, collation: null } : null;
const key = (column: string, collation: string | null = null): KeyColumn => ({
  column,
  collation,
  descending: false,
});
const sameColumn = (a: Column, b: Column): boolean =>
  a.collation === b.collation &&
  a.refs.length === b.refs.length &&
  a.refs.every(({ use, column }, i) => b.refs[i]!.use === use && b.refs[i]!.column === column);

function add(keys: KeyColumn[], one: KeyColumn): void {
  if (!keys.some(({ column, collation }) => column === one.column && collation === one.collation))
    keys.push(one);
}

/** The table that a statement changes, from the nodes starting at its name. */
function targetOf(nodes: readonly SqlNode[]): string {
  const name = nodes[isSign(nodes[1], '.') ? 2 : 0];
  return isLeaf(name) ? name.name : '';
}

/** Statements of a trigger that a change fires; none for other triggers. */
function statementsOf(sql: string, event: string, columns: readonly string[]): SqlNode[][] {
  const nodes = sqlTree(sql);
  const begin = nodes.findIndex((node) => isWord(node, 'begin'));
  const on = nodes.findIndex((node) => isWord(node, 'on'));
  const at = nodes.findIndex((node, i) => i < on && isWord(node, event));
  if (at < 0 || begin < 0) return [];
  // UPDATE OF a, b
  const of = isWord(nodes[at + 1], 'of') ? [...leavesOf(nodes.slice(at + 2, on))] : [];
  if (of.length && !of.some(({ name }) => columns.includes(name))) return [];
  return splitAt(nodes.slice(begin + 1), (node) => isSign(node, ';')).filter(
    (part) => part.length && !isWord(part[0], 'end'),
  );
}

const columnNames = (group: SqlNode): string[] =>
  group.kind === 'group'
    ? listOf(group.nodes).flatMap(([name]) => (isLeaf(name) ? [name.name] : []))
    : [];

/** Its clauses by keyword; '' = the part before the first. */
function clausesOf(nodes: readonly SqlNode[]): Map<string, SqlNode[]> {
  const clauses = new Map<string, SqlNode[]>();
  let current: SqlNode[] = [];
  clauses.set('', current);
  nodes.forEach((node, i) => {
    // `IS [NOT] DISTINCT FROM` is an operator
    const operator = isWord(node, 'from') && isWord(nodes[i - 1], 'distinct');
    if (node.kind === 'word' && CLAUSES.has(node.name) && !operator)
      clauses.set(node.name, (current = []));
    else if (!(isWord(node, 'by') && current.length === 0)) current.push(node);
  });
  return clauses;
}
