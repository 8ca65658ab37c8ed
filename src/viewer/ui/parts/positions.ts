/**
 * The last state of parts, by name: the scroll position, a moved border, the order and widths of
 * columns. The App provides it in the context and stores it with the views' settings. Without it, a
 * part starts over each time.
 */
import { getContext, setContext } from 'svelte';
import type { Attachment } from 'svelte/attachments';

export interface Positions {
  /** null = the initial state. */
  get(name: string): number | null;
  set(name: string, value: number | null): void;
  /** Short words without commas; [] = the initial state. */
  getList(name: string): readonly string[];
  setList(name: string, list: readonly string[]): void;
}
const KEY = Symbol('positions');

export const providePositions = (positions: Positions): Positions => setContext(KEY, positions);
/** Call it in a component's script. */
export const usePositions = (): Positions | undefined => getContext<Positions | undefined>(KEY);

/**
 * Scrolls an element to its last position as soon as it is long enough, and again if its content
 * was shorter for a moment. After that, or after the user's first scroll, stores its position.
 */
export const keepScroll =
  (positions: Positions | undefined, name: string): Attachment<HTMLElement> =>
  (element) => {
    if (!positions) return undefined;
    const wanted = positions.get(name);
    let reached = wanted === null;
    /** Its content became so short that the browser scrolled it. */
    const isCut = (): boolean =>
      wanted !== null &&
      element.scrollTop < wanted - 1 &&
      element.scrollTop + element.clientHeight >= element.scrollHeight - 1;
    const restore = (): void => {
      if (wanted === null || (reached && !isCut())) return;
      element.scrollTop = wanted;
      reached = Math.abs(element.scrollTop - wanted) < 1;
    };
    const changed = new MutationObserver(restore);
    let moved = wanted === null;
    const mine = (): void => {
      reached = moved = true;
      changed.disconnect();
    };
    const store = (): void => {
      if (reached && (moved || !isCut()))
        positions.set(name, Math.round(element.scrollTop) || null);
    };
    const OWN = ['wheel', 'pointerdown', 'keydown'] as const;
    for (const type of OWN) element.addEventListener(type, mine, { passive: true });
    element.addEventListener('scroll', store, { passive: true });
    if (!reached)
      changed.observe(element, {
        childList: true,
        subtree: true,
        attributes: true,
        attributeFilter: ['style'],
      });
    restore();
    return () => {
      changed.disconnect();
      for (const type of OWN) element.removeEventListener(type, mine);
      element.removeEventListener('scroll', store);
    };
  };
