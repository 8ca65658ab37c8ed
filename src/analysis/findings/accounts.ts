/**
 * Plain descriptions of large costs that no finding explains: which calls, which statements, and
 * what would avoid them. They don't promise a saving, because no known mistake was found.
 */
import { cut, oneLine } from '../../text/clean.ts';
import { formatDuration, formatShare } from '../../text/numbers.ts';
import { PART, type Part } from '../core/time-parts.ts';
import { fact, type Known } from '../core/graph.ts';
import { statementTable, type StatementRow } from '../statements/statement-table.ts';
import { totalTimeInSql } from '../time/summary-time.ts';
import { coverage } from './explanation.ts';
import { KIND_NEEDS, timeKinds, timeSaid, type TimeKind } from './time-kinds.ts';
import { numberSaid } from '../numbers/headline-numbers.ts';
import { say, saidList, saidText, type Said, type SaidNumber } from '../numbers/said.ts';

/** Share of the time while SQL runs. A smaller cost needs no description. */
const LARGE = 0.3;
/** Statements that a description names. */
const NAMED = 2;

export interface Account {
  /** The part that takes most of the time. */
  part: Part;
  /** Sentences with the numbers, the last one without its full stop. */
  title: string;
  /** The same, its numbers with what they count. */
  said: Said;
  advice: string;
}

const NEEDS = { coverage, totalTimeInSql, statementTable };

/** Their heading. */
export const ACCOUNTS = 'Other large costs';

/** The largest first; [] if findings explain the large costs. */
export const accounts = fact(
  'accounts',
  'what costs most',
  NEEDS,
  (_, known, facts): readonly Account[] => {
    const counted = facts.onDemand(KIND_NEEDS);
    const { all, explained } = known.coverage;
    const inSql = 1000 * (known.totalTimeInSql ?? 0);
    const sumOf = (ns: Float64Array, { parts }: TimeKind): number =>
      parts.reduce((sum, part) => sum + ns[PART[part]]!, 0);
    return timeKinds((part) => all[PART[part]]!)
      .map((kind) => {
        const [ns, told] = [sumOf(all, kind), sumOf(explained, kind)];
        return { kind, ns, told, left: ns - told };
      })
      .filter(({ left }) => left > LARGE * inSql)
      .sort((a, b) => b.left - a.left)
      .map(({ kind, ns, told }): Account => {
        const calls = kind.calls(counted, ns / 1000, numberSaid(facts));
        const once = kind.once !== undefined && mostOnce(known, kind);
        const who = statementsSaid(known, kind, ns, once);
        const number = (text: string): SaidNumber =>
          timeSaid(kind, (part) => all[PART[part]]! / 1000, text);
        const rest =
          told > 0 ? say`, ${number(formatDuration(told / 1000))} of it in the actions` : '';
        const share = say`${kind.what} takes ${number(formatShare(ns / inSql))} of the time in SQL (${number(formatDuration(ns / 1000))}${rest})`;
        const advice = once ? kind.once! : kind.advice;
        const [part] = kind.parts.toSorted((a, b) => all[PART[b]]! - all[PART[a]]!);
        const said = saidList([share, calls, who], '. ');
        return { part: part!, title: saidText(said), said, advice };
      });
  },
);

/** What a statement has of these parts, microseconds. */
const timeOf = ({ parts }: TimeKind, { time }: Pick<StatementRow, 'time'>): number =>
  parts.reduce((sum, part) => sum + time[`${part}Us`], 0);

/** More than half of it is in calls that no statement repeats. */
function mostOnce({ statementTable: table }: Known<typeof NEEDS>, kind: TimeKind): boolean {
  const sum = (rows: readonly StatementRow[]): number =>
    rows.reduce((us, row) => us + timeOf(kind, row), 0);
  const rows = table?.rows ?? [];
  return 2 * sum(rows.filter(({ executions }) => executions <= 1)) > sum(rows);
}

/** The statements that have most of it. @param once only those that ran once: the advice is about them */
const statementsSaid = (
  { statementTable: table }: Known<typeof NEEDS>,
  kind: TimeKind,
  allNs: number,
  once: boolean,
): Said =>
  saidList(
    (table?.rows ?? [])
      .flatMap(({ sql, ...row }) =>
        sql === null || (once && row.executions > 1) ? [] : [{ sql, row, us: timeOf(kind, row) }],
      )
      .sort((a, b) => b.us - a.us)
      .slice(0, NAMED)
      .filter(({ us }) => us * 1000 > 0.1 * allNs)
      .map(({ sql, row, us }) => {
        const share: SaidNumber = {
          text: formatShare((us * 1000) / allNs),
          definition: 'The share of this time that the statement has.',
          list: 'statements',
          about: { statement: row.text },
        };
        return say`${share} in "${cut(oneLine(sql), 60)}"`;
      }),
  );
