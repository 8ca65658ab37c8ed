/**
 * What the timeline's keys and buttons do: go from hit to hit, zoom, select areas, add notes, pin.
 */
import { get } from 'svelte/store';
import type { TimelinePointer } from '../../charts/timeline-pointer.ts';
import { zoomAt, type Range } from '../../charts/viewport.ts';
import type { ViewerModel } from '../../model.ts';
import type { EventLine } from '../../../../protocol/session.ts';
import type { TimelineActions } from './timeline-keys.ts';
import type { TimelineState } from './timeline-state.svelte.ts';

/** Key of the lane that draws an event. */
export const laneOf = ({ thread, layer }: EventLine): string => `${thread}:${layer}`;

/** @param pointer over the canvas, once it exists */
export function timelineActions(
  model: ViewerModel,
  setup: TimelineState,
  pointer: () => TimelinePointer | undefined,
): TimelineActions {
  const { session } = model;
  const { view, selected } = model.navigation;

  /** The next search hit; without a search the next event on the selected one's lane. */
  async function stepOnce(by: 1 | -1): Promise<void> {
    const { from, to } = get(view);
    const event = get(selected);
    const at = event && { thread: event.thread, seq: event.seq };
    const next = setup.search.trim()
      ? await session.query('timelineHit', {
          text: setup.search,
          from: at,
          us: by > 0 ? from : to,
          by,
        })
      : at && (await session.query('timelineNeighbor', { ...at, by }));
    if (next) await model.navigation.select(next.thread, next.seq, { show: true });
  }
  async function followOnce(by: 1 | -1): Promise<void> {
    const event = get(selected);
    if (!event) return;
    const { cause, effect } = await session.query('timelineFlows', {
      thread: event.thread,
      seq: event.seq,
    });
    const next = by > 0 ? effect : cause;
    if (next) await model.navigation.select(next.thread, next.seq, { show: true });
  }
  let steps: Promise<unknown> = Promise.resolve();
  /** Each key press continues from the target of the previous one. */
  const then = (step: () => Promise<void>): void =>
    void (steps = steps.then(() => model.attempt(step)));

  function addNote(): void {
    const event = get(selected);
    const { from, to } = get(view);
    const middle = (from + to) / 2;
    const at: Range =
      setup.area ?? (event ? { from: event.t0, to: event.t0 } : { from: middle, to: middle });
    const text = event && !setup.area ? `${event.name} ${event.object}`.trim().slice(0, 200) : '';
    setup.changeNotes(model, (notes) => [...notes, { id: 0, fromUs: at.from, toUs: at.to, text }]);
    setup.writing = at.from;
  }

  return {
    magnify(factor) {
      const us = pointer()?.us ?? null;
      if (us === null) return false; // the same key zooms around the middle
      model.navigation.look(zoomAt(get(view), us, factor, get(model.navigation.extent)));
      return true;
    },
    cancelDrag: () => pointer()?.cancelDrag() ?? false,
    step: (by) => then(() => stepOnce(by)),
    flow: (by) => then(() => followOnce(by)),
    zoom(by) {
      const range = setup.step(by);
      if (range) model.navigation.look(range);
    },
    area() {
      const event = get(selected);
      const { from, to } = get(view);
      setup.area = event
        ? { from: event.t0, to: event.t0 + Math.max(event.dur, 0.1) }
        : { from, to };
    },
    note: addNote,
    pin() {
      const event = get(selected);
      if (!event) return false;
      setup.pin(laneOf(event));
      return true;
    },
    clearArea() {
      if (!setup.area || get(selected)) return false;
      setup.area = null;
      return true;
    },
    map: () => void (setup.mapOpen = !setup.mapOpen),
  };
}
