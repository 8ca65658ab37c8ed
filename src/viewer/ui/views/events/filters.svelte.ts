/** The filters of the Events view: those of the bar and those by column, stored with the view. */
import { fromStore } from 'svelte/store';
import type { Layer } from '../../../../event/operations.ts';
import {
  sortSetting,
  viewSetting,
  switchSetting,
  textSetting,
  type SortOrder,
  type ViewSetting,
} from '../../view-setting.svelte.ts';
import type { EventFilter, EventWhere } from '../../../../protocol/session.ts';
import { LAYERS } from '../../layers.ts';
import { panelFilter } from '../../panel-filter.svelte.ts';
import { viewerModel } from '../../viewer-context.ts';
import { bytesOf, durationOf, pageOf } from './amounts.ts';

/** As typed; '' filters nothing. */
const WISHES = ['thread', 'op', 'object', 'result', 'duration', 'bytes', 'page'] as const;
export type ColumnWish = (typeof WISHES)[number];

export interface EventFilters {
  readonly text: ViewSetting<string>;
  readonly layers: ViewSetting<readonly Layer[]>;
  /** Also show rows about the recording itself. */
  readonly own: ViewSetting<boolean>;
  readonly errorsOnly: ViewSetting<boolean>;
  readonly inView: ViewSetting<boolean>;
  /** The filters by column are visible and active. */
  readonly more: ViewSetting<boolean>;
  readonly wishes: Readonly<Record<ColumnWish, ViewSetting<string>>>;
  /** At least one of them is set. */
  readonly anyWish: boolean;
  readonly order: SortOrder;
  /** All filters, as sent to the session. */
  readonly filter: EventFilter;
  /** Reset all filters. */
  clear(): void;
}

/** Call it in a component's script. */
export function eventFilters(): EventFilters {
  const view = fromStore(viewerModel().navigation.view);
  const panel = panelFilter();
  const text = textSetting('events.filter');
  const layers = viewSetting<readonly Layer[]>('events.layers', LAYERS, {
    parse: (said) => LAYERS.filter((layer) => said.split(',').includes(layer)),
    format: (some) => some.join(','),
  });
  const own = switchSetting('events.own');
  const order = sortSetting('events', 'time');
  const errorsOnly = switchSetting('events.errors');
  const inView = panel.range;
  const more = switchSetting('events.more');
  const wishes = Object.fromEntries(
    WISHES.map((name) => [name, textSetting(`events.${name}`)]),
  ) as EventFilters['wishes'];
  const anyWish = $derived(Object.values(wishes).some(({ value }) => value.trim() !== ''));
  const where = $derived<EventWhere | null>(more.value && anyWish ? whereOf(wishes) : null);
  const filter = $derived<EventFilter>({
    text: text.value,
    errorsOnly: errorsOnly.value,
    layers: layers.value.length === LAYERS.length ? null : [...layers.value],
    fromUs: inView.value ? view.current.from : null,
    toUs: inView.value ? view.current.to : null,
    ...(where && { where }),
    ...(!own.value && { withoutOwn: true }),
    order: { key: order.key === 'duration' ? 'duration' : 'time', descending: order.descending },
    ...panel.scope(['thread', 'statement', 'table']),
  });
  return {
    text,
    layers,
    own,
    order,
    errorsOnly,
    inView,
    more,
    wishes,
    get anyWish() {
      return anyWish;
    },
    get filter() {
      return filter;
    },
    clear() {
      text.value = '';
      layers.value = LAYERS;
      own.value = true;
      errorsOnly.value = inView.value = false;
      for (const wish of Object.values(wishes)) wish.value = '';
    },
  };
}

function whereOf({
  thread,
  op,
  object,
  result,
  duration,
  bytes,
  page,
}: EventFilters['wishes']): EventWhere {
  const place = Number(thread.value);
  return {
    thread: thread.value === '' || !Number.isInteger(place) ? null : place,
    op: op.value || null,
    object: object.value,
    result: result.value,
    leastUs: durationOf(duration.value) ?? null,
    leastBytes: bytesOf(bytes.value) ?? null,
    page: pageOf(page.value) ?? null,
  };
}
