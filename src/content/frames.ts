/** Frames of other origins in a recorded page: whether they are recorded, too, is the user's choice, so the panel names them. */
import { api } from '../platform/extension-api.ts';
import { webOrigin } from '../platform/recordable.ts';
import type { Ask } from '../protocol/messages.ts';

/** A page that draws a new origin for each frame must not flood the panel. */
const MAX_ORIGINS = 20;
const said = new Set<string>([location.origin]);

function onFrame(frame: HTMLIFrameElement): void {
  const origin = URL.canParse(frame.src) ? webOrigin(frame.src) : '';
  if (!origin || said.has(origin) || said.size > MAX_ORIGINS) return;
  said.add(origin);
  // without an answer the extension was reloaded or removed: no panel would want to know
  api.runtime.sendMessage({ k: 'frame', origin } satisfies Ask).catch(() => said.delete(origin));
}

const onLoad = ({ target }: Event): void =>
  void (target instanceof HTMLIFrameElement && onFrame(target));

/** Report the frames that are there, and those that load from now on; what was said before is said again. */
export function watchFrames(): void {
  said.clear();
  said.add(location.origin);
  for (const frame of document.querySelectorAll('iframe')) onFrame(frame);
  document.addEventListener('load', onLoad, true); // once, however often
}
export function unwatchFrames(): void {
  document.removeEventListener('load', onLoad, true);
}
