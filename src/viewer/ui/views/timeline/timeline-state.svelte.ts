/**
 * The user's settings of the timeline: visible and pinned lanes and their order, the selected area,
 * the zoom history, the search. Lives as long as the viewer, so that switching tabs loses nothing.
 */
import { SvelteSet } from 'svelte/reactivity';
import type { AreaBy } from '../../../../analysis/time/area.ts';
import type { Layer } from '../../../../event/operations.ts';
import type { LaneChoice } from '../../charts/timeline-layout.ts';
import { spanOf, type Range } from '../../charts/viewport.ts';
import type { ViewerModel } from '../../model.ts';
import { perModel } from '../../per-model.ts';
import { checkedNotes, type LaneSetup, type TraceNote } from '../../../../trace/notes.ts';
import type { AnnotationsAnswer } from '../../../../protocol/answers/timeline.ts';

const NO_SETUP: LaneSetup = { hidden: [], pinned: [], order: [] };

/** Maximum length of the zoom history. */
const MOST_ZOOMS = 50;

/** Height of the selected area's table, px, until it is resized. */
export const DRAWER_HEIGHT = 220;

export class TimelineState {
  readonly collapsed = new SvelteSet<number>();
  readonly opened = new SvelteSet<number>();
  readonly hidden = new SvelteSet<string>();
  pinned = $state.raw<readonly string[]>([]);
  order = $state.raw<readonly string[]>([]);
  filter = $state('');
  area = $state.raw<Range | null>(null);
  areaBy = $state<AreaBy>('operation');
  /** Threads and layers excluded from the area's table. */
  readonly threadsOff = new SvelteSet<number>();
  readonly layersOff = new SvelteSet<Layer>();
  notes = $state.raw<readonly TraceNote[]>([]);
  /**
   * Start of the note being edited, microseconds, because ids change as notes are added and
   * removed.
   */
  writing = $state<number | null>(null);
  /**
   * Number of pending note updates to the session: until they are done, the session's notes are
   * outdated.
   */
  private telling = 0;
  /** The trace that all this belongs to; 0 = not known yet. */
  trace = $state(0);
  /** The lanes in its file, and those in this tab's address, if any. */
  saved: LaneSetup = NO_SETUP;
  wanted: Partial<LaneSetup> = {};
  /** Search text; '' = no search. */
  search = $state('');
  /** Skip long pauses in the picture. */
  skipIdle = $state(false);
  mapOpen = $state(true);
  mapHeight = $state(110);
  /** Path of the file or store in the I/O map; '' = the busiest. */
  mapObject = $state('');
  drawerHeight = $state(DRAWER_HEIGHT);
  /** Past views, oldest first, and the index of the current one. */
  zooms = $state.raw<readonly Range[]>([]);
  zoomAt = $state(-1);

  get choice(): LaneChoice {
    const { collapsed, opened, hidden, pinned, order, filter } = this;
    return {
      collapsed: new Set(collapsed),
      opened: new Set(opened),
      hidden: new Set(hidden),
      pinned,
      order,
      filter,
    };
  }

  /** Add a view that has come to rest to the history. */
  rest(view: Range): void {
    const now = this.zooms[this.zoomAt];
    if (now && Math.abs(now.from - view.from) + Math.abs(now.to - view.to) < spanOf(view) * 0.02)
      return;
    const kept = this.zooms.slice(0, this.zoomAt + 1).slice(-MOST_ZOOMS + 1);
    this.zooms = [...kept, view];
    this.zoomAt = kept.length;
  }
  /** @param by -1 the previous view, 1 the next one @returns it, or null if there is none */
  step(by: -1 | 1): Range | null {
    const to = this.zooms[this.zoomAt + by];
    if (!to) return null;
    this.zoomAt += by;
    return to;
  }

  /** The note whose text field is open; of several at one moment, the last. */
  get written(): TraceNote | null {
    return this.notes.findLast(({ fromUs }) => fromUs === this.writing) ?? null;
  }

  pin(key: string): void {
    this.pinned = this.pinned.includes(key)
      ? this.pinned.filter((k) => k !== key)
      : [...this.pinned, key];
  }
  /** @param collapsed as currently drawn */
  toggleThread(thread: number, collapsed: boolean): void {
    this.collapsed.delete(thread);
    this.opened.delete(thread);
    (collapsed ? this.opened : this.collapsed).add(thread);
  }
  toggleHidden(key: string): void {
    if (!this.hidden.delete(key)) this.hidden.add(key);
  }
  /**
   * Move a lane or thread past its neighbor. @param keys of all its siblings in their current order
   */
  move(key: string, by: -1 | 1, keys: readonly string[]): void {
    const order = [...keys];
    const at = order.indexOf(key);
    const to = at + by;
    if (at < 0 || to < 0 || to >= order.length) return;
    [order[at], order[to]] = [order[to]!, order[at]!];
    this.order = [...this.order.filter((k) => !order.includes(k)), ...order];
  }
  /**
   * Reset every lane: default position, and not hidden by choice, collapsed, pinned, or filtered
   * out.
   */
  resetLanes(): void {
    this.hidden.clear();
    this.collapsed.clear();
    this.opened.clear();
    this.pinned = this.order = [];
    this.filter = '';
  }
  /** As in the file, except for what the address sets. */
  showLanes(): void {
    const { hidden, pinned, order } = { ...this.saved, ...this.wanted };
    for (const key of hidden) this.hidden.add(key);
    if (pinned.length) this.pinned = pinned;
    if (order.length) this.order = order;
  }
  /** Apply the trace's data. If it is another trace, settings for the previous one are dropped. */
  take({ trace, notes, lanes }: AnnotationsAnswer): void {
    const other = trace !== this.trace;
    if (other) {
      const first = this.trace === 0;
      this.trace = trace;
      if (!first) this.forget();
      this.saved = lanes;
      this.showLanes();
    }
    if (other || !this.telling) this.notes = notes;
  }
  /**
   * The change applies here at once, so that the next one builds on it. The session receives all
   * changes in order, and before it saves.
   */
  changeNotes(
    model: ViewerModel,
    change: (notes: readonly TraceNote[]) => readonly TraceNote[],
  ): void {
    if (!this.trace) return void model.attempt(() => this.changeFirstNotes(model, change));
    const notes = checkedNotes(change(this.notes));
    this.notes = notes;
    this.telling++;
    void model
      .attempt(async () =>
        this.take(await model.session.query('setAnnotations', { trace: this.trace, notes })),
      )
      .finally(() => this.telling--);
  }
  writeNote(model: ViewerModel, id: number, text: string): void {
    this.changeNotes(model, (notes) => notes.map((n) => (n.id === id ? { ...n, text } : n)));
  }
  removeNote(model: ViewerModel, id: number): void {
    this.changeNotes(model, (notes) => notes.filter((n) => n.id !== id));
  }
  /** The file's data hasn't arrived yet: a change must build on that. */
  private async changeFirstNotes(
    model: ViewerModel,
    change: Parameters<TimelineState['changeNotes']>[1],
  ): Promise<void> {
    this.take(await model.session.query('annotations', {}));
    this.changeNotes(model, change);
  }
  /** Store the lanes' settings with the trace. */
  async keepLanes(model: ViewerModel): Promise<void> {
    const lanes = { hidden: [...this.hidden], pinned: [...this.pinned], order: [...this.order] };
    if (this.trace) await model.session.query('setAnnotations', { trace: this.trace, lanes });
  }

  /** Another trace: settings of the previous one are meaningless. */
  forget(): void {
    this.wanted = {};
    this.resetLanes();
    this.area = null;
    this.writing = null;
    this.skipIdle = false;
    this.threadsOff.clear();
    this.layersOff.clear();
    this.search = '';
    this.mapObject = '';
    this.zooms = [];
    this.zoomAt = -1;
  }
}

export const timelineOf = perModel((_: ViewerModel) => new TimelineState());
