/**
 * What the user has set up on the timeline: lanes shown, pinned and in which order, the chosen area, the zooms so far, the search.
 * Lives as long as the viewer, so that another tab and back changes nothing.
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

/** Zooms that are remembered. */
const MOST_ZOOMS = 50;

/** Of the chosen area's table, px, until it is resized. */
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
  /** Threads and layers left out of the area's table. */
  readonly threadsOff = new SvelteSet<number>();
  readonly layersOff = new SvelteSet<Layer>();
  notes = $state.raw<readonly TraceNote[]>([]);
  /** Begin of the note whose text is being written, microseconds; ids change as notes come and go. */
  writing = $state<number | null>(null);
  /** So often the session is being told of notes: what it says meanwhile is older than what is here. */
  private telling = 0;
  /** The trace that all this is about; 0 = not known yet. */
  trace = $state(0);
  /** How its file has the lanes, and how the address of this tab had them, if it said. */
  saved: LaneSetup = NO_SETUP;
  wanted: Partial<LaneSetup> = {};
  /** Text that is searched for; '' = no search. */
  search = $state('');
  /** Long pauses are left out of the picture. */
  skipIdle = $state(false);
  mapOpen = $state(true);
  mapHeight = $state(110);
  /** Path of the file or store in the I/O map; '' = the busiest. */
  mapObject = $state('');
  drawerHeight = $state(DRAWER_HEIGHT);
  /** Views that the user came to, oldest first, and which of them is shown. */
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

  /** Remember a view that has come to rest. */
  rest(view: Range): void {
    const now = this.zooms[this.zoomAt];
    if (now && Math.abs(now.from - view.from) + Math.abs(now.to - view.to) < spanOf(view) * 0.02)
      return;
    const kept = this.zooms.slice(0, this.zoomAt + 1).slice(-MOST_ZOOMS + 1);
    this.zooms = [...kept, view];
    this.zoomAt = kept.length;
  }
  /** @param by -1 the view before, 1 the one after @returns it, or null where there is none */
  step(by: -1 | 1): Range | null {
    const to = this.zooms[this.zoomAt + by];
    if (!to) return null;
    this.zoomAt += by;
    return to;
  }

  /** The note whose text field is open; of several at one moment the last. */
  get written(): TraceNote | null {
    return this.notes.findLast(({ fromUs }) => fromUs === this.writing) ?? null;
  }

  pin(key: string): void {
    this.pinned = this.pinned.includes(key)
      ? this.pinned.filter((k) => k !== key)
      : [...this.pinned, key];
  }
  /** @param collapsed as it is drawn now */
  toggleThread(thread: number, collapsed: boolean): void {
    this.collapsed.delete(thread);
    this.opened.delete(thread);
    (collapsed ? this.opened : this.collapsed).add(thread);
  }
  toggleHidden(key: string): void {
    if (!this.hidden.delete(key)) this.hidden.add(key);
  }
  /** Move a lane or thread past its neighbor. @param keys of all its siblings as they are now */
  move(key: string, by: -1 | 1, keys: readonly string[]): void {
    const order = [...keys];
    const at = order.indexOf(key);
    const to = at + by;
    if (at < 0 || to < 0 || to >= order.length) return;
    [order[at], order[to]] = [order[to]!, order[at]!];
    this.order = [...this.order.filter((k) => !order.includes(k)), ...order];
  }
  /** Every lane as it is by default: in its own place, none hidden by choice, collapsed, pinned or filtered out. */
  resetLanes(): void {
    this.hidden.clear();
    this.collapsed.clear();
    this.opened.clear();
    this.pinned = this.order = [];
    this.filter = '';
  }
  /** As the file has them, but for what the address says. */
  showLanes(): void {
    const { hidden, pinned, order } = { ...this.saved, ...this.wanted };
    for (const key of hidden) this.hidden.add(key);
    if (pinned.length) this.pinned = pinned;
    if (order.length) this.order = order;
  }
  /** Take in what the trace says; of another trace than before, what was set up for that one is forgotten. */
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
  /** The change is here at once, so that the next one builds upon it; the session hears of all in their order, and before it saves. */
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
  /** What the file brought is still to come: a change builds upon that. */
  private async changeFirstNotes(
    model: ViewerModel,
    change: Parameters<TimelineState['changeNotes']>[1],
  ): Promise<void> {
    this.take(await model.session.query('annotations', {}));
    this.changeNotes(model, change);
  }
  /** Keep the lanes' setup with the trace. */
  async keepLanes(model: ViewerModel): Promise<void> {
    const lanes = { hidden: [...this.hidden], pinned: [...this.pinned], order: [...this.order] };
    if (this.trace) await model.session.query('setAnnotations', { trace: this.trace, lanes });
  }

  /** Another trace: what belonged to the one before means nothing. */
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
