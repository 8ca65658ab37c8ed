/**
 * What is on screen: the time range, the view, the selected event, and evidence to step through.
 */
import type { EventRef } from '../../trace/store.ts';
import { get, writable } from 'svelte/store';
import {
  around,
  clampRange,
  fitAll,
  fitEvent,
  fitThird,
  followEnd,
  reveal,
  spanOf,
  type Range,
} from './charts/viewport.ts';
import type { EvidencePlaces } from '../../protocol/answers/evidence.ts';
import type { Queries } from '../../protocol/answers/queries.ts';
import type { EventDetails, SessionApi, SessionChange } from '../../protocol/session.ts';

/** Id of a view (views/registry.ts). */
type Tab = string;
/** Events that are evidence for something, to be viewed one by one. */
export interface Evidence {
  title: string;
  events: readonly EventRef[];
  /** Total number, of which `events` may only have the first. */
  total: number;
  /** Which of them is selected. */
  at: number;
  /** The time range of all of them. */
  range: Range;
  places: EvidencePlaces;
}

/** State of a trace's display, to return to. */
export interface Memento {
  view: Range;
  follow: boolean;
  selected: EventRef | null;
  evidence: Evidence | null;
}

/** How much of a running recording is on screen until the user chooses. */
const LIVE_SPAN_US = 10e6;
/**
 * A view that shows everything plus up to this much doesn't move when more of its trace is known.
 */
const ENOUGH = 1.02;

export class Navigation {
  readonly extent = writable<Range>({ from: 0, to: 0 });
  /** What `showAll` shows: the time in which the timeline has something to draw. */
  private drawn: Range = { from: 0, to: 0 };
  readonly view = writable<Range>({ from: 0, to: LIVE_SPAN_US });
  /** The view follows the newest data. */
  readonly follow = writable(true);
  readonly tab = writable<Tab>('answer');
  readonly selected = writable<EventDetails | null>(null);
  /** The view in which that was. */
  readonly selectedIn = writable<Tab>('');
  readonly evidence = writable<Evidence | null>(null);
  /** Counts selections: a late answer for an earlier one selects nothing. */
  private selections = 0;

  /** @param attempt runs a command and shows its failure */
  constructor(
    private readonly session: Pick<SessionApi<Queries>, 'event' | 'query'>,
    private readonly attempt: (command: () => Promise<void>) => Promise<boolean>,
  ) {}

  takeExtents({ extent, drawn }: Pick<SessionChange, 'extent' | 'drawn'>): void {
    this.extent.set({ from: extent[0], to: extent[1] });
    this.drawn = { from: drawn[0], to: drawn[1] };
  }

  followView(recording: boolean): void {
    const extent = get(this.extent);
    if (!recording) {
      const [whole, now] = [fitAll(this.drawn), get(this.view)];
      const shown =
        now.from <= this.drawn.from &&
        now.to >= this.drawn.to &&
        spanOf(now) <= spanOf(whole) * ENOUGH;
      if (extent.to > extent.from && !shown) this.view.set(whole);
      return;
    }
    const span = { from: extent.from, to: extent.from + LIVE_SPAN_US };
    this.view.set(followEnd(span, extent));
  }

  place(): Memento {
    return {
      view: get(this.view),
      follow: get(this.follow),
      selected: get(this.selected),
      evidence: get(this.evidence),
    };
  }
  /** The trace is shown again. */
  async goTo({ view, follow, selected, evidence }: Memento): Promise<void> {
    if (!follow) this.look(view);
    this.evidence.set(evidence);
    if (selected) await this.select(selected.thread, selected.seq);
  }

  /** Another trace comes. */
  reset(): void {
    this.selections++;
    this.selected.set(null);
    this.evidence.set(null);
    this.follow.set(true);
    this.view.set({ from: 0, to: LIVE_SPAN_US });
  }

  /** The user moved the view: it stops following. */
  look(range: Range): void {
    this.follow.set(false);
    this.view.set(clampRange(range, get(this.extent)));
  }
  showAll(): void {
    this.follow.set(true);
    this.view.set(fitAll(this.drawn));
  }
  showSelection(): void {
    const event = get(this.selected);
    if (event) this.look(fitEvent(event.t0, event.dur, get(this.extent)));
  }

  async select(thread: number, seq: number, options: { show?: boolean } = {}): Promise<void> {
    const mine = ++this.selections;
    const tab = get(this.tab);
    await this.attempt(async () => {
      const event = await this.session.event(thread, seq).catch((error: unknown) => {
        if (mine === this.selections) throw error;
        return null;
      });
      if (!event || mine !== this.selections) return;
      this.selected.set(event);
      this.selectedIn.set(tab);
      if (!options.show) return;
      const range = reveal(get(this.view), event.t0, event.dur, get(this.extent));
      if (range !== get(this.view)) this.look(range);
    });
  }

  /**
   * Show an event on the timeline. An event that is part of something longer is shown with some of
   * its surroundings.
   */
  async show({ thread, seq }: EventRef, whole?: Range): Promise<void> {
    this.tab.set('timeline');
    await this.select(thread, seq, { show: true });
    if (whole) this.look(around(whole));
  }

  /**
   * Step through events, starting with the first: the timeline shows and selects them one by one.
   */
  async showEvidence(
    title: string,
    events: Evidence['events'],
    range: Range,
    total = events.length,
  ): Promise<void> {
    const mine = ++this.selections;
    this.tab.set('timeline');
    await this.attempt(async () => {
      const places = await this.session.query('evidencePlaces', { events });
      if (mine !== this.selections) return;
      this.evidence.set({ title, events, total, at: -1, range, places });
      await this.stepEvidence(1);
    });
  }
  async stepEvidence(by: 1 | -1): Promise<void> {
    const evidence = get(this.evidence);
    const n = evidence?.events.length ?? 0;
    if (!evidence || n === 0) return;
    await this.showEvidenceAt((Math.max(evidence.at, by < 0 ? 0 : -1) + by + n) % n);
  }
  /** @param at its index among the events */
  async showEvidenceAt(at: number): Promise<void> {
    const evidence = get(this.evidence);
    const event = evidence?.events[at];
    if (!evidence || !event) return;
    this.evidence.set({ ...evidence, at });
    const { statementFromUs, statementToUs } = evidence.places;
    const [from, to] = [statementFromUs[at]!, statementToUs[at]!];
    if (from <= to) {
      const [now, extent] = [get(this.view), get(this.extent)];
      const range = fitThird({ from, to }, now, extent);
      if (range !== now) this.look(range);
    }
    await this.select(event.thread, event.seq);
  }
}
