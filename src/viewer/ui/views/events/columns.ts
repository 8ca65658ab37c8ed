/** The columns of the Events view, which of them are shown, and a row as text. */
import { tsvLines } from '../../parts/tsv.ts';
import type { EventLine } from '../../../../protocol/session.ts';
import { eventColumns } from '../../../../analysis/events/table.ts';
import { cellText, isNumeric } from '../../../../analysis/core/table.ts';
import { formatCount, formatMeasured } from '../../../../text/numbers.ts';
import { LAYER_TITLES } from '../../layers.ts';
import type { Column } from '../../parts/columns.ts';

export interface EventColumn extends Omit<Column<EventLine>, 'text'> {
  /** CSS grid track; and its variant for a narrow panel. */
  width: string;
  narrow: string;
  /** Shown by default; `wide`: only in a wide panel; `wider`: only in a very wide one. */
  shown: 'always' | 'wide' | 'wider' | 'several threads' | 'chosen';
  text(line: EventLine, threadTitle: string): string;
  /** For copies: raw numbers instead of words. */
  raw: ((line: EventLine) => string) | undefined;
}
const resultOf = (line: EventLine): string =>
  line.resultText.replace('SQLITE_', '') ||
  (line.result && line.layer === 'web' ? formatCount(line.result) : '');

const durationText = ({ open, instant, dur, clockStepUs }: EventLine): string =>
  open ? 'open' : instant ? '' : formatMeasured(dur, clockStepUs);

type Name = keyof typeof eventColumns;
type Shown = EventColumn['shown'];
/**
 * Columns of the catalog: their titles in the view, when they are shown, their tracks, and their
 * values.
 */
const OWN: readonly [Name, string, Shown, string, string | null, EventColumn['value']][] = [
  ['ts', 'time', 'always', '96px', '88px', (l) => l.t0],
  ['dur', 'duration', 'always', '82px', '74px', (l) => l.dur],
  ['thread', 'thread', 'several threads', 'minmax(110px, 0.8fr)', null, (l) => l.thread],
  ['op', 'call', 'always', 'minmax(150px, 1fr)', 'minmax(112px, 1.6fr)', (l) => l.name],
  ['object', 'object', 'always', 'minmax(70px, 1.3fr)', 'minmax(50px, 1fr)', objectOf],
  ['detail', 'detail', 'wider', 'minmax(90px, 0.9fr)', null, (l) => l.detail],
  ['offset', 'offset', 'wide', '100px', null, (l) => l.offset],
  ['length', 'length', 'wide', '84px', null, (l) => l.length],
  ['result_name', 'result', 'always', 'minmax(84px, 1.2fr)', 'minmax(40px, 0.8fr)', resultOf],
  ['connection', 'connection', 'chosen', '84px', null, (l) => l.connection],
  ['layer', 'layer', 'chosen', '56px', null, (l) => l.layer],
  ['seq', 'seq', 'chosen', '70px', null, (l) => l.seq],
  ['statement', 'statement', 'wide', 'minmax(80px, 2.5fr)', null, (l) => l.statement],
];
/** Values that aren't formatted by their unit. */
const MORE: Readonly<Partial<Record<Name, Partial<EventColumn>>>> = {
  ts: { numeric: false, sorts: true },
  dur: {
    sorts: true,
    text: durationText,
    raw: (l) => (l.open ? 'open' : String(l.dur)),
  },
  thread: { numeric: false, text: (_, title) => title, raw: undefined },
  offset: { definition: 'Byte offset, or new size. Keys of IndexedDB are in Detail' },
  layer: { text: (l) => LAYER_TITLES[l.layer] },
  length: { text: (l) => (l.length ? formatCount(l.length) : '') },
  result_name: { raw: (l) => l.resultText || String(l.result) },
};

export const EVENT_VIEW_COLUMNS: readonly EventColumn[] = OWN.map(
  ([name, key, shown, width, narrow, value]) => {
    const { unit, title, help } = eventColumns[name];
    const numeric = isNumeric(unit);
    return {
      key,
      title,
      definition: help,
      numeric,
      mono: key === 'statement',
      shown,
      width,
      narrow: narrow ?? width,
      value,
      text: (line) => (value(line) === null ? '' : cellText(unit, value(line))),
      raw: numeric ? (line) => String(value(line) ?? '') : undefined,
      ...MORE[name],
    };
  },
);
function objectOf(line: EventLine): string {
  return line.layer === 'sql' ? '' : line.object;
}

/**
 * @param chosen keys, null = the default; unknown keys are ignored, and at least one column remains
 */
export function shownColumns(
  chosen: readonly string[] | null,
  several: boolean,
  narrow: boolean,
  wider = !narrow,
): EventColumn[] {
  const picked = chosen && EVENT_VIEW_COLUMNS.filter(({ key }) => chosen.includes(key));
  if (picked?.length) return picked;
  return EVENT_VIEW_COLUMNS.filter(
    ({ shown }) =>
      shown === 'always' ||
      (wider && shown === 'wider') ||
      (!narrow && (shown === 'wide' || (shown === 'several threads' && several))),
  );
}

/** Keys of columns that a wider panel would also show. @param shown those that this one shows */
export const lackingRoom = (
  chosen: readonly string[] | null,
  several: boolean,
  shown: readonly EventColumn[],
): readonly string[] =>
  shownColumns(chosen, several, false)
    .filter((column) => !shown.includes(column))
    .map(({ key }) => key);

/** Lines with a heading, tab-separated for spreadsheets. @param titles of threads, by index */
export function tsv(
  lines: readonly EventLine[],
  columns: readonly EventColumn[],
  titles: readonly string[],
): string {
  const rows = lines.map((line) =>
    columns.map((c) => c.raw?.(line) ?? c.text(line, titles[line.thread] ?? '')),
  );
  return tsvLines([columns.map(({ title }) => title), ...rows]);
}
