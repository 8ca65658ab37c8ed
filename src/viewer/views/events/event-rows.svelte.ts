/** The rows of the Events view: how many there are, those on screen, and which are selected. Holds only the rows on screen. */
import { get, fromStore } from 'svelte/store';
import type { ViewerModel } from '../../model.ts';
import type { EventFilter, EventLine } from '../../session-api.ts';
import { rowsOnScreen, scrollTopOf } from '../../virtual-rows.ts';

export const ROW_PX = 20;

interface EventAt {
  thread: number;
  row: number;
}

export class EventRows {
  /** The filter lets so many through. */
  total = $state(0);
  scrollTop = $state(0);
  viewport = $state(400);
  readonly rows = $derived(rowsOnScreen(this.total, ROW_PX, this.scrollTop, this.viewport));
  private lines = $state.raw<{ first: number; rows: EventLine[] }>({ first: 0, rows: [] });
  /** Where a selection of several rows began. */
  private anchor: EventAt | null = null;
  /** The lines that the selection spans. */
  chosen = $state.raw<{ from: number; to: number } | null>(null);
  /** The same where they are several. */
  readonly range = $derived(
    this.chosen && this.chosen.to > this.chosen.from ? { from: this.chosen.from, count: this.chosen.to - this.chosen.from + 1 } : null,
  );
  readonly visible = $derived.by(() => {
    const { rows, lines } = this;
    const from = Math.max(rows.first, lines.first);
    const to = Math.min(rows.first + rows.count, lines.first + lines.rows.length);
    const shown = lines.rows.slice(from - lines.first, Math.max(from, to) - lines.first);
    return { from, top: rows.top + (from - rows.first) * ROW_PX, lines: shown };
  });
  private readonly version;
  private asked: { filter: EventFilter; version: number } | null = null;
  private asking = false;

  /** Call it in a component's script. @param filter read reactively */
  constructor(
    private readonly model: ViewerModel,
    private readonly filter: () => EventFilter,
  ) {
    this.version = fromStore(model.version);
    $effect(() => {
      void [this.filter(), this.rows, this.version.current];
      void model.attempt(() => this.refresh());
    });
  }

  /** One question at a time; what has changed meanwhile is asked next. */
  async refresh(): Promise<void> {
    if (this.asking) return;
    this.asking = true;
    const { session } = this.model;
    try {
      let stale = false;
      for (;;) {
        const wish = { filter: this.filter(), version: this.version.current };
        if (!this.asked || !sameWish(this.asked, wish)) {
          this.total = await session.filterEvents(wish.filter);
          this.asked = wish;
          stale = true; // what is on screen stays until its successor is there
          await this.findChosen();
        }
        const { first, count } = this.rows;
        if (stale || first < this.lines.first || first + count > this.lines.first + this.lines.rows.length) {
          this.lines = { first, rows: await session.eventLines(first, count) };
          stale = false;
        }
        const { rows } = this;
        const now = { filter: this.filter(), version: this.version.current };
        if (sameWish(this.asked, now) && rows.first === first && rows.count === count) return;
      }
    } finally {
      this.asking = false;
    }
  }

  /** Lines move while a trace grows: the rows at both ends of the selection are found again. */
  async findChosen(): Promise<void> {
    const { session, selected } = this.model;
    const end = get(selected);
    if (!this.anchor || !end) return void (this.chosen = null);
    const ends = [await session.lineOf(this.anchor.thread, this.anchor.row), await session.lineOf(end.thread, end.row)];
    this.chosen = ends.includes(-1) ? null : { from: Math.min(...ends), to: Math.max(...ends) };
  }
  /** @param extend from where the selection began to this row */
  async choose({ thread, row }: EventAt, extend: boolean): Promise<void> {
    const now = get(this.model.selected);
    if (!extend) this.anchor = { thread, row };
    else this.anchor ??= now ? { thread: now.thread, row: now.row } : { thread, row };
    await this.model.select(thread, row);
    await this.findChosen();
  }
  /** Select the row before or after the selected one. @returns whether there is one */
  async step(by: 1 | -1, extend: boolean): Promise<boolean> {
    const { session, selected } = this.model;
    const now = get(selected);
    const [next] = now ? await session.eventLines((await session.lineOf(now.thread, now.row)) + by, 1) : [];
    if (next) await this.choose(next, extend);
    return next !== undefined;
  }
  /** Where to scroll so that the selected event is on screen; null where it is not among the rows. */
  async scrollTopOfSelected(): Promise<number | null> {
    const event = get(this.model.selected);
    const line = event ? await this.model.session.lineOf(event.thread, event.row) : -1;
    return line < 0 ? null : scrollTopOf(line, this.total, ROW_PX, this.viewport);
  }
}

/** Filters are compared by what they say: they are made anew whenever something that they read has moved. */
const sameWish = (a: { filter: EventFilter; version: number }, b: { filter: EventFilter; version: number }): boolean =>
  a.version === b.version && JSON.stringify(a.filter) === JSON.stringify(b.filter);
