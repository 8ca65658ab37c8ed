/** A plan as text: what each line took, and what all runs took. */
import { countOf, formatCount } from '../text/numbers.ts';
import type { PlanLine, PlanRuns, PlanSource, StatementPlan } from './types.ts';

/**
 * What a line read: `922 pages, 19,999 scan steps for 10 rows`, or for an alias `922 pages of
 * notes`; '' = not known, or nothing itself.
 */
export function lineFacts({ detail, pages, scanSteps }: PlanLine, { rows }: PlanRuns): string {
  const facts: string[] = [];
  if (pages) {
    const read = pages.reduce((sum, { reads }) => sum + reads, 0);
    const [first] = pages;
    const isNamed = detail.toLowerCase().includes(` ${first!.name.toLowerCase()}`);
    facts.push(countOf(read, 'page') + (isNamed ? '' : ` of ${first!.name}`));
  }
  if (scanSteps !== null)
    facts.push(
      countOf(scanSteps, 'scan step') + (rows === null ? '' : ` for ${countOf(rows, 'row')}`),
    );
  return facts.join(', ');
}

/** A plan's lines with what each took, indented by depth, or why there is none. */
export function planLines({
  lines,
  cause,
  runs,
}: Pick<StatementPlan, 'lines' | 'cause' | 'runs'>): string[] {
  if (!lines) return [`n/a: ${cause}`];
  if (lines.length === 0) return ['It reads no table.'];
  return lines.map((line) => {
    const took = lineFacts(line, runs);
    return `${'  '.repeat(line.depth)}${line.detail}${took && `  (${took})`}`;
  });
}

/** The same as one sentence on all runs, without its full stop. */
export const planText = (plan: StatementPlan): string =>
  planLines(plan)
    .map((line) => line.trim())
    .join('; ');

/** Of several statements. */
export const textsOf = (plans: ReadonlyMap<string, StatementPlan>): ReadonlyMap<string, string> =>
  new Map([...plans].map(([statement, plan]) => [statement, planText(plan)]));

/** Pages by table and index if a line reads both; otherwise ''. */
export const pagesByName = ({ pages }: PlanLine): string =>
  pages && pages.length > 1
    ? pages.map(({ name, reads }) => `${name}: ${countOf(reads, 'page')}`).join(', ')
    : '';

/** `3 runs: 10 rows, 19,999 scan steps, 80,123 VM steps`. */
export function runFacts({ runs, rows, steps }: PlanRuns): string {
  const counted =
    steps === null
      ? 'steps n/a: no counters of this engine were recorded'
      : `${countOf(steps.scan, 'scan step')}, ${countOf(steps.vm, 'VM step')}${steps.runs === runs ? '' : ` in the ${formatCount(steps.runs)} runs that SQLite counted`}`;
  return `${countOf(runs, 'run')}: ${rows === null ? '' : `${countOf(rows, 'row')}, `}${counted}`;
}

/** Where the schema comes from. @returns a sentence without its full stop */
export function sourceText(source: PlanSource): string {
  const tables = countOf(source.tables, 'table');
  const of = source.database === null ? '' : ` of ${source.database}`;
  return {
    page: `Schema${of}, read from the page (${tables})`,
    file: `Schema${of}, read from the file (${tables})`,
    recording: `Schema${of}, from the recorded CREATE statements (${tables})`,
  }[source.from];
}
