/**
 * The rows of the Events view: their number, those on screen, and the selection. Holds only the
 * rows on screen.
 */
import { tick } from 'svelte';
import { get, fromStore } from 'svelte/store';
import type { ViewerModel } from '../../model.ts';
import { pauseAfter } from '../../query.svelte.ts';
import type { EventFilter, EventLine } from '../../../../protocol/session.ts';

interface Wish {
  filter: EventFilter;
  version: number;
}
interface EventAt {
  thread: number;
  seq: number;
}

export class EventRows {
  /** Number of rows that match the filter. */
  total = $state(0);
  onScreen = $state.raw({ first: 0, count: 0 });
  /** `count` rows were requested. */
  lines = $state.raw<{ first: number; count: number; rows: EventLine[] }>({
    first: 0,
    count: 0,
    rows: [],
  });
  /** Where a multiple selection started. */
  private anchor: EventAt | null = null;
  /** The selected lines. */
  chosen = $state.raw<{ from: number; to: number } | null>(null);
  /** The same if there are several. */
  readonly range = $derived(
    this.chosen && this.chosen.to > this.chosen.from
      ? { from: this.chosen.from, count: this.chosen.to - this.chosen.from + 1 }
      : null,
  );
  private readonly version;
  private readonly paused;
  private asked: (Wish & { at: number; took: number }) | null = null;
  private asking = false;
  /** The lines on screen belong to the previous filter. They stay until the new ones arrive. */
  private stale = false;
  /** The view was closed: its pending filter doesn't matter, and would delay the next view's. */
  private left = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** Call it in a component's script. @param filter read reactively */
  constructor(
    private readonly model: ViewerModel,
    private readonly filter: () => EventFilter,
  ) {
    this.version = fromStore(model.version);
    this.paused = fromStore(model.paused);
    $effect(() => {
      void [this.filter(), this.onScreen, this.version.current, this.paused.current];
      void model.attempt(() => this.refresh());
    });
    $effect(() => () => {
      this.left = true;
      clearTimeout(this.timer);
    });
  }

  /** One request at a time. What has changed meanwhile is requested next. */
  async refresh(): Promise<void> {
    if (this.asking) return;
    this.asking = true;
    try {
      while (!this.left && (await this.next()));
    } finally {
      this.asking = false;
    }
  }

  /** Request missing rows first. @returns false if none are missing, or it must wait */
  private async next(): Promise<boolean> {
    const wish = { filter: this.filter(), version: this.version.current };
    const pause = this.pauseBefore(wish);
    if (pause !== null && pause <= 0) {
      await this.count(wish);
      return true;
    }
    const { first, count } = this.onScreen;
    if (
      this.stale ||
      first < this.lines.first ||
      first + count > this.lines.first + this.lines.count
    ) {
      this.lines = { first, count, rows: await this.model.session.eventLines(first, count) };
      this.stale = false;
      return true;
    }
    clearTimeout(this.timer);
    if (pause !== null)
      this.timer = setTimeout(() => void this.model.attempt(() => this.refresh()), pause);
    return false;
  }
  /** How long to wait until events are filtered, ms; null = they are. */
  private pauseBefore(wish: Wish): number | null {
    if (!this.asked || !sameFilter(this.asked, wish)) return 0;
    // a paused view sends nothing, even for an earlier version that it knows, because the trace has
    // grown since
    if (this.asked.version === wish.version || this.paused.current) return null;
    return pauseAfter(this.asked);
  }
  private async count(wish: Wish): Promise<void> {
    const began = performance.now();
    this.total = await this.model.session.filterEvents(wish.filter);
    await tick(); // which of them are on screen
    this.stale = true;
    await this.findChosen();
    const at = performance.now();
    this.asked = { ...wish, at, took: at - began };
  }

  /** Lines move while a trace grows: find the rows at both ends of the selection again. */
  async findChosen(): Promise<void> {
    const { session } = this.model;
    const { selected } = this.model.navigation;
    const end = get(selected);
    if (!this.anchor || !end) return void (this.chosen = null);
    const ends = [
      await session.lineOf(this.anchor.thread, this.anchor.seq),
      await session.lineOf(end.thread, end.seq),
    ];
    this.chosen = ends.includes(-1) ? null : { from: Math.min(...ends), to: Math.max(...ends) };
  }
  /** @param extend from the start of the selection to this row */
  async choose({ thread, seq }: EventAt, extend: boolean): Promise<void> {
    const now = get(this.model.navigation.selected);
    if (!extend) this.anchor = { thread, seq };
    else this.anchor ??= now ? { thread: now.thread, seq: now.seq } : { thread, seq };
    await this.model.navigation.select(thread, seq);
    await this.findChosen();
  }
  /**
   * Select the row before or after the selected one, or the `first` if none is selected. @returns
   * whether there is one
   */
  async step(by: 1 | -1, extend: boolean, first: number): Promise<boolean> {
    const line = await this.lineOfSelected();
    const to = line < 0 ? first : line + by;
    const [next] = to >= 0 && to < this.total ? await this.model.session.eventLines(to, 1) : [];
    if (next) await this.choose(next, extend);
    return next !== undefined;
  }
  /** Index of the selected event; -1 = it isn't among the rows. */
  async lineOfSelected(): Promise<number> {
    const event = get(this.model.navigation.selected);
    return event ? this.model.session.lineOf(event.thread, event.seq) : -1;
  }
}

/**
 * Compare filters by their values, because they are created again whenever any state that they read
 * changes.
 */
const sameFilter = (a: Wish, b: Wish): boolean =>
  JSON.stringify(a.filter) === JSON.stringify(b.filter);
