/** The columns of the Events view: which there are, which are shown, and a row as text. */
import { tsvLines } from '../../parts/tsv.ts';
import type { EventLine } from '../../../../protocol/session.ts';
import { formatCount, formatMeasured, formatMoment } from '../../../../text/numbers.ts';

export interface EventColumn {
  key: string;
  title: string;
  definition?: string;
  numeric?: boolean;
  /** CSS grid track; and where the panel is narrow. */
  width: string;
  narrow?: string;
  /** Shown where nobody has chosen; `wide`: only where there is room. */
  shown: 'always' | 'wide' | 'several threads' | 'chosen';
  text(line: EventLine, threadTitle: string): string;
  /** For copies: raw numbers instead of words. */
  raw?(line: EventLine): string;
}

const number = (n: number | null): string => (n === null ? '' : formatCount(n));
const raw = (n: number | null): string => (n === null ? '' : String(n));
const resultOf = (line: EventLine): string =>
  line.resultText.replace('SQLITE_', '') ||
  (line.result && line.layer === 'web' ? number(line.result) : '');

const durationText = ({ open, instant, dur, clockStepUs }: EventLine): string =>
  open ? 'open' : instant ? '' : formatMeasured(dur, clockStepUs);

export const EVENT_VIEW_COLUMNS: readonly EventColumn[] = [
  {
    key: 'time',
    narrow: '88px',
    title: 'Time',
    width: '96px',
    shown: 'always',
    text: (l) => formatMoment(l.t0),
    raw: (l) => raw(l.t0),
    definition: 'Since the trace began; copied in microseconds',
  },
  {
    key: 'duration',
    narrow: '74px',
    title: 'Duration',
    numeric: true,
    width: '82px',
    shown: 'always',
    definition: 'From the call to its end, across suspensions; copied in microseconds',
    text: durationText,
    raw: (l) => (l.open ? 'open' : raw(l.dur)),
  },
  {
    key: 'thread',
    title: 'Thread',
    width: 'minmax(110px, 0.8fr)',
    shown: 'several threads',
    text: (_, title) => title,
  },
  {
    key: 'call',
    narrow: 'minmax(80px, 1fr)',
    title: 'Call',
    width: 'minmax(112px, 1fr)',
    shown: 'always',
    text: (l) => l.name,
  },
  {
    key: 'object',
    narrow: 'minmax(60px, 1.2fr)',
    title: 'File or store',
    width: 'minmax(70px, 1.3fr)',
    shown: 'always',
    text: (l) => (l.layer === 'sql' ? '' : l.object),
  },
  {
    key: 'offset',
    title: 'Offset',
    numeric: true,
    width: '100px',
    shown: 'wide',
    text: (l) => number(l.offset),
    raw: (l) => raw(l.offset),
  },
  {
    key: 'length',
    title: 'Length',
    numeric: true,
    width: '70px',
    shown: 'wide',
    text: (l) => (l.length ? number(l.length) : ''),
    raw: (l) => raw(l.length),
  },
  {
    key: 'result',
    narrow: 'minmax(40px, 0.8fr)',
    title: 'Result',
    width: 'minmax(84px, 0.7fr)',
    shown: 'always',
    text: resultOf,
    raw: (l) => l.resultText || raw(l.result),
  },
  {
    key: 'detail',
    title: 'Detail',
    width: 'minmax(90px, 0.8fr)',
    shown: 'chosen',
    definition: 'Lock level, open flags, opcode, IndexedDB mode and durability',
    text: (l) => l.detail,
  },
  {
    key: 'connection',
    title: 'Connection',
    numeric: true,
    width: '84px',
    shown: 'chosen',
    definition: 'Database connection or IndexedDB transaction, by its number on the thread',
    text: (l) => raw(l.connection),
  },
  { key: 'layer', title: 'Layer', width: '56px', shown: 'chosen', text: (l) => l.layer },
  {
    key: 'seq',
    title: 'Event',
    numeric: true,
    width: '70px',
    shown: 'chosen',
    definition: 'The event’s sequence number on its thread',
    text: (l) => number(l.seq),
    raw: (l) => raw(l.seq),
  },
  {
    key: 'statement',
    title: 'Statement',
    width: 'minmax(80px, 3fr)',
    shown: 'wide',
    text: (l) => l.statement,
  },
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
