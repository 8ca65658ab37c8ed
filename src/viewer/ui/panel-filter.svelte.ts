/**
 * The panel's filters: set in any view, shown as chips next to the tabs, and applied by each view
 * that supports them.
 */
import { fromStore } from 'svelte/store';
import type { Scope } from '../../analysis/core/scope.ts';
import { PART_WORDS, SQL_PARTS, type Part } from '../../analysis/core/time-parts.ts';
import { cut, oneLine, plain, UNKNOWN_SQL } from '../../text/clean.ts';
import { formatDuration } from '../../text/numbers.ts';
import {
  choiceSetting,
  keySetting,
  switchSetting,
  textSetting,
  type ViewSetting,
} from './view-setting.svelte.ts';
import { viewerModel } from './viewer-context.ts';

export type FilterName = 'range' | 'part' | 'thread' | 'statement' | 'table';

export const FILTERS: readonly FilterName[] = ['range', 'part', 'thread', 'statement', 'table'];

/** A filter that is set. */
interface Chip {
  name: FilterName;
  text: string;
  /** The whole of it. */
  title: string;
  clear(): void;
}

export interface PanelFilter {
  /** Only events in the timeline's range. */
  readonly range: ViewSetting<boolean>;
  /** Only this part of the time; '' = all of it. */
  readonly part: ViewSetting<Part | ''>;
  /** Index in the trace's threads; null = all. */
  readonly thread: ViewSetting<number | null>;
  /** A fingerprint; null = text unknown; undefined = all. */
  readonly statement: ViewSetting<string | null | undefined>;
  /** A table's name; null = all. */
  readonly table: ViewSetting<string | null>;
  /** Those that are set. */
  readonly chips: readonly Chip[];
  /** Arguments for queries, by the filters that a view supports. */
  scope(follows: readonly FilterName[]): Scope;
}

/**
 * Settings of the filters that can hide a statement or what it did. A range is stored separately.
 */
export const NARROWING = [
  'filter.part',
  'filter.thread',
  'filter.statement',
  'filter.table',
] as const;

/** Stands for an unknown text, because '' means no filter. */
const UNKNOWN = '\0';
const CHIP_LENGTH = 32;

/**
 * Call it in a component's script. @param sqlOf a statement's text for its chip, by its fingerprint
 */
export function panelFilter(sqlOf: (print: string) => string = (print) => print): PanelFilter {
  const model = viewerModel();
  const view = fromStore(model.navigation.view);
  const extent = fromStore(model.navigation.extent);
  const threads = fromStore(model.threads);
  const range = switchSetting('filter.range');
  const part = choiceSetting<Part | ''>('filter.part', ['', ...SQL_PARTS]);
  const place = textSetting('filter.thread');
  const text = keySetting('filter.statement');
  const table = keySetting('filter.table');
  const threadOf = (): number | null =>
    /^\d{1,5}$/.test(place.value) ? Number(place.value) : null;
  const statementOf = (): string | null | undefined =>
    text.value === null ? undefined : text.value === UNKNOWN ? null : text.value;
  const titleOf = (thread: number): string =>
    threads.current.find(({ index }) => index === thread)?.title ?? `Thread ${thread + 1}`;
  const thread: ViewSetting<number | null> = {
    get value() {
      return threadOf();
    },
    set value(next) {
      place.value = next === null ? '' : String(next);
    },
  };
  const statement: ViewSetting<string | null | undefined> = {
    get value() {
      return statementOf();
    },
    set value(next) {
      text.value = next === undefined ? null : (next ?? UNKNOWN);
    },
  };
  const chips = $derived.by((): Chip[] => {
    const set: Chip[] = [];
    if (range.value)
      set.push({
        name: 'range',
        // the timeline may show more time than was recorded
        text: `${formatDuration(Math.max(view.current.from, extent.current.from))} – ${formatDuration(Math.min(view.current.to, extent.current.to))}`,
        title: 'The range on the timeline',
        clear: () => (range.value = false),
      });
    if (part.value) {
      const { title, meaning } = PART_WORDS[part.value];
      set.push({
        name: 'part',
        text: title,
        title: `Only this part of the time: ${meaning}`,
        clear: () => (part.value = ''),
      });
    }
    if (thread.value !== null) {
      const title = plain(titleOf(thread.value));
      set.push({
        name: 'thread',
        text: cut(title, CHIP_LENGTH),
        title: `Only this thread: ${title}`,
        clear: () => (thread.value = null),
      });
    }
    if (statement.value !== undefined) {
      const sql = statement.value === null ? UNKNOWN_SQL : oneLine(sqlOf(statement.value));
      set.push({
        name: 'statement',
        text: cut(sql, CHIP_LENGTH),
        title: `Only this statement: ${sql}`,
        clear: () => (statement.value = undefined),
      });
    }
    if (table.value !== null)
      set.push({
        name: 'table',
        text: cut(plain(table.value), CHIP_LENGTH),
        title: `Only statements that read or wrote the table ${plain(table.value)}, or its indexes`,
        clear: () => (table.value = null),
      });
    return set;
  });
  return {
    range,
    part,
    thread,
    statement,
    table,
    get chips() {
      return chips;
    },
    scope: (follows) => ({
      ...(follows.includes('range') &&
        range.value && { fromUs: view.current.from, toUs: view.current.to }),
      ...(follows.includes('part') && part.value && { part: part.value }),
      ...(follows.includes('thread') && thread.value !== null && { thread: thread.value }),
      ...(follows.includes('statement') &&
        statement.value !== undefined && { statement: statement.value }),
      ...(follows.includes('table') && table.value !== null && { table: table.value }),
    }),
  };
}
