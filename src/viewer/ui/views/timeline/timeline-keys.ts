/**
 * The timeline's own keys in one table, for the key handler and the `?` sheet. Modeled on
 * Perfetto's.
 */

import { ZOOM_STEP } from '../../keys.ts';

export interface TimelineActions {
  /**
   * Zoom around the pointer. @param factor above 1 shows more time @returns whether it is over the
   * timeline
   */
  magnify(factor: number): boolean;
  step(by: 1 | -1): void;
  zoom(by: 1 | -1): void;
  /** Go to the other end of an arrow of the selected event. */
  flow(by: 1 | -1): void;
  area(): void;
  note(): void;
  map(): void;
  /** @returns whether there was something to do */
  pin(): boolean;
  clearArea(): boolean;
  cancelDrag(): boolean;
}
interface TimelineBinding {
  keys: readonly string[];
  help: string;
  run(actions: TimelineActions): boolean | void;
}

export const TIMELINE_BINDINGS: readonly TimelineBinding[] = [
  {
    keys: ['w', '+', '='],
    help: 'Zoom in at the pointer, or at the middle if the pointer is elsewhere',
    run: (a) => a.magnify(1 / ZOOM_STEP),
  },
  { keys: ['s', '-'], help: 'Zoom out, in the same way', run: (a) => a.magnify(ZOOM_STEP) },
  {
    keys: ['.'],
    help: 'Next search hit; without a search the next event on its track',
    run: (a) => a.step(1),
  },
  { keys: [','], help: 'Previous one', run: (a) => a.step(-1) },
  {
    keys: ['['],
    help: 'Along the arrow, back to the cause: from a call to its statement',
    run: (a) => a.flow(-1),
  },
  {
    keys: [']'],
    help: 'Along the arrow: from a statement to its first call, from a wait to the call that took the lock',
    run: (a) => a.flow(1),
  },
  { keys: ['z'], help: 'Back to the zoom before', run: (a) => a.zoom(-1) },
  { keys: ['x'], help: 'Forward to the zoom after', run: (a) => a.zoom(1) },
  {
    keys: ['m', 'r'],
    help: 'Area of the selected event, or of what is on screen',
    run: (a) => a.area(),
  },
  {
    keys: ['b'],
    help: 'Note at the selected event, the area, or the middle',
    run: (a) => a.note(),
  },
  { keys: ['p'], help: 'Pin the track of the selected event', run: (a) => a.pin() },
  { keys: ['i'], help: 'I/O map', run: (a) => a.map() },
  {
    keys: ['escape'],
    help: 'Cancel a drag, close the area',
    run: (a) => a.cancelDrag() || a.clearArea(),
  },
];

/** `M or R` */
export const timelineKeyText = (keys: readonly string[]): string =>
  keys.map((key) => (key === 'escape' ? 'Esc' : key.toUpperCase())).join(' or ');

/** @returns whether it was one of ours */
export function timelineKey(event: KeyboardEvent, actions: TimelineActions): boolean {
  const key = event.key.toLowerCase();
  const binding = TIMELINE_BINDINGS.find(({ keys }) => keys.includes(key));
  return binding ? binding.run(actions) !== false : false;
}
