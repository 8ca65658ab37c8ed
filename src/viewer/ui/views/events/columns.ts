/** The columns of the Events view: which there are, which are shown, and a row as text. */
import { tsvLines } from '../../parts/tsv.ts';
import type { EventLine } from '../../../../protocol/session.ts';
import { eventColumns } from '../../../../analysis/events/table.ts';
import { cellText, isNumeric } from '../../../../analysis/table.ts';
import { formatCount, formatMeasured } from '../../../../text/numbers.ts';
import type { Column } from '../../parts/columns.ts';

export interface EventColumn extends Omit<Column<EventLine>, 'text'> {
  /** CSS grid track; and where the panel is narrow. */
  width: string;
  narrow?: string;
  /** Shown where nobody has chosen; `wide`: only where there is room. */
  shown: 'always' | 'wide' | 'several threads' | 'chosen';
  text(line: EventLine, threadTitle: string): string;
  /** For copies: raw numbers instead of words. */
  raw?(line: EventLine): string;
}
type Own = Pick<EventColumn, 'key' | 'width' | 'narrow' | 'shown' | 'value'> &
  Partial<Pick<EventColumn, 'text' | 'raw'>>;

const resultOf = (line: EventLine): string =>
  line.resultText.replace('SQLITE_', '') ||
  (line.result && line.layer === 'web' ? formatCount(line.result) : '');

const durationText = ({ open, instant, dur, clockStepUs }: EventLine): string =>
  open ? 'open' : instant ? '' : formatMeasured(dur, clockStepUs);

/** A column of the catalogue, read from a line. */
function column(name: keyof typeof eventColumns, own: Own): EventColumn {
  const { unit, title, help } = eventColumns[name];
  const numeric = isNumeric(unit);
  return {
    title,
    definition: help,
    numeric,
    text: (line) => (own.value(line) === null ? '' : cellText(unit, own.value(line))),
    ...(numeric && { raw: (line: EventLine) => String(own.value(line) ?? '') }),
    ...own,
  };
}

export const EVENT_VIEW_COLUMNS: readonly EventColumn[] = [
  {
    ...column('ts', {
      key: 'time',
      narrow: '88px',
      width: '96px',
      shown: 'always',
      value: (l) => l.t0,
    }),
    numeric: false,
  },
  column('dur', {
    key: 'duration',
    narrow: '74px',
    width: '82px',
    shown: 'always',
    value: (l) => l.dur,
    text: durationText,
    raw: (l) => (l.open ? 'open' : String(l.dur)),
  }),
  {
    ...column('thread', {
      key: 'thread',
      width: 'minmax(110px, 0.8fr)',
      shown: 'several threads',
      value: (l) => l.thread,
      text: (_, title) => title,
    }),
    numeric: false,
    raw: undefined,
  },
  column('op', {
    key: 'call',
    narrow: 'minmax(80px, 1fr)',
    width: 'minmax(112px, 1fr)',
    shown: 'always',
    value: (l) => l.name,
  }),
  column('object', {
    key: 'object',
    narrow: 'minmax(60px, 1.2fr)',
    width: 'minmax(70px, 1.3fr)',
    shown: 'always',
    value: (l) => (l.layer === 'sql' ? null : l.object),
  }),
  column('offset', { key: 'offset', width: '100px', shown: 'wide', value: (l) => l.offset }),
  column('length', {
    key: 'length',
    width: '70px',
    shown: 'wide',
    value: (l) => l.length,
    text: (l) => (l.length ? formatCount(l.length) : ''),
  }),
  column('result_name', {
    key: 'result',
    narrow: 'minmax(40px, 0.8fr)',
    width: 'minmax(84px, 0.7fr)',
    shown: 'always',
    value: resultOf,
    raw: (l) => l.resultText || String(l.result),
  }),
  column('detail', {
    key: 'detail',
    width: 'minmax(90px, 0.8fr)',
    shown: 'chosen',
    value: (l) => l.detail,
  }),
  column('connection', {
    key: 'connection',
    width: '84px',
    shown: 'chosen',
    value: (l) => l.connection,
  }),
  column('layer', { key: 'layer', width: '56px', shown: 'chosen', value: (l) => l.layer }),
  column('row', { key: 'row', width: '70px', shown: 'chosen', value: (l) => l.row }),
  column('statement', {
    key: 'statement',
    width: 'minmax(80px, 3fr)',
    shown: 'wide',
    value: (l) => l.statement,
  }),
];

/** @param chosen keys, null = nobody has chosen; unknown keys are ignored, and at least one column is left */
export function shownColumns(
  chosen: readonly string[] | null,
  several: boolean,
  narrow: boolean,
): EventColumn[] {
  const picked = chosen && EVENT_VIEW_COLUMNS.filter(({ key }) => chosen.includes(key));
  if (picked?.length) return picked;
  return EVENT_VIEW_COLUMNS.filter(
    ({ shown }) =>
      shown === 'always' ||
      (!narrow && (shown === 'wide' || (shown === 'several threads' && several))),
  );
}

/** The grid's tracks, and the width below which it scrolls, px. */
export function tracksOf(
  columns: readonly EventColumn[],
  narrow: boolean,
): { template: string; least: number } {
  const tracks = columns.map((column) => (narrow && column.narrow) || column.width);
  return {
    template: tracks.join(' '),
    least: tracks.reduce((sum, track) => sum + Number(/\d+/.exec(track)![0]), 0),
  };
}

/** Lines with a heading, as a spreadsheet takes them from the clipboard. @param titles of threads, by place */
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
