/**
 * Finding about a query for each row of another one:
 *
 *   F54   SELECT parents  ->  SELECT children WHERE parent = ? | SELECT children WHERE parent = ? ...     one join
 */
import { objectName } from '../../trace/describe.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { countOf, formatCount } from '../../text/numbers.ts';
import { executions, type Executions } from '../core/executions.ts';
import { getOrMake } from '../core/maps.ts';
import { quoted } from '../core/quoted.ts';
import { Evidence, type FindingContext } from '../rules/context.ts';
import { noSaving } from '../rules/saving.ts';
import type { Rule } from '../rules/types.ts';
import { explicitTransactions, type ExplicitSpan } from '../transactions/explicit-transactions.ts';
import { byText, MOST, READS } from './by-text.ts';

const FEW_CHILDREN = 10;

/** Runs of one text that follow a run of another. */
interface Children {
  parent: string;
  parentRows: number;
  child: string;
  nested: boolean;
  runs: number;
  evidence: Evidence;
}

export const onePerRow: Rule = {
  id: 'F54',
  title: 'One query per row',
  needs: { executions, explicitTransactions },
  run(ctx) {
    const found = new Map<string, Children>();
    for (const thread of ctx.store.threads)
      for (const group of childrenOf(ctx, thread)) {
        const key = `${group.parent}\0${group.child}`;
        const known = found.get(key);
        if (!known) found.set(key, group);
        else {
          known.parentRows += group.parentRows;
          known.runs += group.runs;
          known.nested &&= group.nested;
          known.evidence.join(group.evidence);
        }
      }
    return [...found.values()]
      .sort((a, b) => b.evidence.us - a.evidence.us)
      .slice(0, MOST)
      .map(({ parent, parentRows, child, nested, runs, evidence }) => ({
        title: `${quoted(child)} ran ${formatCount(runs)} times, ${runs === parentRows ? 'once for each row' : 'between the rows'} of ${quoted(parent)}`,
        evidence: { ...evidence.result(ctx, false), count: runs },
        ...noSaving('a join reads the same rows in one statement; what that takes is not known'),
        confidence: nested ? 'likely' : 'possible',
        reason: nested
          ? `the runs lie between the steps of the other statement, which brought ${countOf(parentRows, 'row')}`
          : `the other statement brought ${countOf(parentRows, 'row')} in the same transaction, and as many runs followed`,
        advice: 'Join the two tables in one SELECT, or ask for all keys with IN.',
        link: 'https://www.sqlite.org/np1queryprob.html',
      }));
  },
};

/** Most of them have different values, as far as these are known. */
const isVaried = ({ values }: Executions, runs: readonly number[]): boolean =>
  runs.some((i) => !values[i]) || 2 * new Set(runs.map((i) => values[i])).size > runs.length;

/** Runs, by index among a thread's executions. */
interface Group {
  parent: number;
  children: number[];
  nested: boolean;
}
/** The current state of a connection. */
interface Walk {
  span: ExplicitSpan | null;
  /** Runs that read, since the span began, in the order of their first calls. */
  runs: number[];
}

function childrenOf(ctx: FindingContext, thread: ThreadStore): Children[] {
  const runs = ctx.get(executions).of(thread);
  const { context, seq } = thread.events;
  const places = new Map<string, number>();
  /** Texts with the same fingerprint have the same number; -1 = it doesn't read. */
  const placeOf = byText(thread, (print) =>
    READS.test(print) ? getOrMake(places, print, () => places.size) : -1,
  );
  const textOf = (i: number): number => placeOf(runs.text[i]!);
  const explicit = ctx.get(explicitTransactions).of(thread);
  const walks = new Map<number, Walk>();
  const nested: Group[] = [];
  const listed: Group[] = [];
  const close = ({ span, runs: list }: Walk): void => {
    if (list.length <= FEW_CHILDREN) return; // a parent, too
    nested.push(...nestedGroups(runs, list, textOf));
    if (span) listed.push(...listedGroups(runs, list, textOf));
  };
  for (let i = 0; i < runs.count; i++) {
    const at = runs.firstRow[i]!;
    const connection = context[at]!;
    const span = explicit.at(connection, seq[at]!);
    const walk = getOrMake(walks, connection, (): Walk => ({ span, runs: [] }));
    if (walk.span !== span) {
      close(walk);
      [walk.span, walk.runs] = [span, []];
    }
    if (textOf(i) >= 0) walk.runs.push(i);
  }
  for (const walk of walks.values()) close(walk);
  const inside = betweenSteps(runs, nested);
  const taken = new Set(inside.flatMap(({ children }) => children));
  const behind = listed.filter(({ children }) => !children.some((child) => taken.has(child)));
  const of = new Map<number, Children>();
  const result = [...inside, ...behind].map(({ parent, children, nested: isNested }): Children => {
    const group: Children = {
      parent: objectName(thread, runs.text[parent]!),
      parentRows: runs.rows[parent]!,
      child: objectName(thread, runs.text[children[0]!]!),
      nested: isNested,
      runs: children.length,
      evidence: new Evidence(),
    };
    for (const child of children) of.set(child, group);
    return group;
  });
  const { row, execution, count } = runs.calls;
  for (let c = 0; of.size > 0 && c < count; c++)
    of.get(execution[c]!)?.evidence.add(thread, row[c]!);
  return result;
}

/** Maximum open statements around one that are examined. */
const MOST_OPEN = 20;

/** Runs that began while another one was running. @param list runs of a connection */
function nestedGroups(
  runs: Executions,
  list: readonly number[],
  textOf: (run: number) => number,
): Group[] {
  /** The innermost last. */
  const open: number[] = [];
  const found = new Map<number, Map<number, Group>>();
  for (const i of list) {
    while (open.length && runs.lastRow[open.at(-1)!]! < runs.firstRow[i]!) open.pop();
    const text = textOf(i);
    let at = open.length - 1;
    const least = Math.max(0, open.length - MOST_OPEN);
    while (at >= least && textOf(open[at]!) === text) at--;
    if (at >= least) {
      const parent = open[at]!;
      getOrMake(
        getOrMake(found, parent, () => new Map<number, Group>()),
        text,
        (): Group => ({ parent, children: [], nested: true }),
      ).children.push(i);
    }
    open.push(i);
  }
  return [...found.values()].flatMap((byChild) =>
    [...byChild.values()].filter(
      ({ children }) => children.length >= FEW_CHILDREN && isVaried(runs, children),
    ),
  );
}

/**
 * Groups whose runs are between many steps of the other one: a list that is left open doesn't cause
 * the runs in that time.
 */
function betweenSteps(runs: Executions, groups: readonly Group[]): Group[] {
  if (groups.length === 0) return [];
  const parentOf = new Int32Array(runs.count).fill(-1);
  for (const { parent, children } of groups) for (const child of children) parentOf[child] = parent;
  /** Calls of a run so far, and those of its parent when it began. */
  const [calls, before] = [new Uint32Array(runs.count), new Uint32Array(runs.count)];
  const { row, execution, count } = runs.calls;
  for (let c = 0; c < count; c++) {
    const i = execution[c]!;
    calls[i]!++;
    if (parentOf[i]! >= 0 && row[c] === runs.firstRow[i]) before[i] = calls[parentOf[i]!]!;
  }
  return groups.filter(
    ({ children }) => new Set(children.map((child) => before[child])).size >= FEW_CHILDREN,
  );
}

/**
 * Runs of one text that are as many as the rows of another one, which ran before them in the same
 * transaction.
 */
function listedGroups(
  runs: Executions,
  list: readonly number[],
  textOf: (run: number) => number,
): Group[] {
  const found: Group[] = [];
  const add = (parent: number, children: number[]): boolean => {
    const is = runs.rows[parent] === children.length && isVaried(runs, children);
    if (is) found.push({ parent, children, nested: false });
    return is;
  };
  /** By text: its runs, and those after each list that is long enough. */
  const ofText = new Map<number, { all: number[]; behind: Map<number, number[]> }>();
  // the last such list, and the last one of another text
  let [last, other] = [-1, -1];
  for (const i of list) {
    const text = textOf(i);
    const of = getOrMake(ofText, text, () => ({ all: [], behind: new Map<number, number[]>() }));
    of.all.push(i);
    const before = last >= 0 && textOf(last) !== text ? last : other;
    if (before >= 0) getOrMake(of.behind, before, () => [] as number[]).push(i);
    if (runs.rows[i]! < FEW_CHILDREN) continue;
    if (last >= 0 && textOf(last) !== text) other = last;
    last = i;
  }
  for (const [text, { all, behind }] of ofText) {
    if (all.length < FEW_CHILDREN) continue;
    const lists = [...behind].filter(([parent, children]) => add(parent, children));
    if (lists.length) continue;
    const first = runs.firstRow[all[0]!]!;
    for (const p of list) {
      if (runs.firstRow[p]! >= first) break;
      if (textOf(p) !== text && add(p, all)) break;
    }
  }
  return found;
}
