/**
 * Where parts were left, by name: what is scrolled to, how a border was moved. The App puts it into the context and keeps it with the
 * views' settings; a part without it begins anew each time.
 */
import { getContext, setContext } from 'svelte';
import type { Attachment } from 'svelte/attachments';

export interface Places {
  /** null = as it is at first. */
  get(name: string): number | null;
  set(name: string, value: number | null): void;
}
const KEY = Symbol('places');

export const providePlaces = (places: Places): Places => setContext(KEY, places);
/** Call it in a component's script. */
export const takePlaces = (): Places | undefined => getContext<Places | undefined>(KEY);

/** Scrolls an element to where it was, as soon as it is long enough; from then on, or from the user's own first move on, keeps where it is. */
export const keepScroll =
  (places: Places | undefined, name: string): Attachment<HTMLElement> =>
  (element) => {
    if (!places) return undefined;
    const wanted = places.get(name);
    let reached = wanted === null;
    const restore = (): void => {
      if (reached || wanted === null) return;
      element.scrollTop = wanted;
      reached = Math.abs(element.scrollTop - wanted) < 2;
      if (reached) grown.disconnect();
    };
    const grown = new MutationObserver(restore);
    const mine = (): void => {
      reached = true;
      grown.disconnect();
    };
    const kept = (): void => {
      if (reached) places.set(name, Math.round(element.scrollTop) || null);
    };
    const OWN = ['wheel', 'pointerdown', 'keydown'] as const;
    for (const type of OWN) element.addEventListener(type, mine, { passive: true });
    element.addEventListener('scroll', kept, { passive: true });
    if (!reached)
      grown.observe(element, {
        childList: true,
        subtree: true,
        attributes: true,
        attributeFilter: ['style'],
      });
    restore();
    return () => {
      grown.disconnect();
      for (const type of OWN) element.removeEventListener(type, mine);
      element.removeEventListener('scroll', kept);
    };
  };
