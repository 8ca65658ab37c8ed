/**
 * Frames of other origins in a recorded page. The user chooses whether they are recorded, so the
 * panel names them.
 */
import { api } from '../platform/extension-api.ts';
import { webOrigin } from '../platform/recordable.ts';
import type { Ask } from '../protocol/messages.ts';

/** Limits the messages to the panel if a page creates a new origin for each frame. */
const MAX_ORIGINS = 20;
const said = new Set<string>([location.origin]);

function onFrame(frame: HTMLIFrameElement): void {
  const origin = URL.canParse(frame.src) ? webOrigin(frame.src) : '';
  if (!origin || said.has(origin) || said.size > MAX_ORIGINS) return;
  said.add(origin);
  // without an answer the extension was reloaded or removed, so no panel is interested
  api.runtime.sendMessage({ k: 'frame', origin } satisfies Ask).catch(() => said.delete(origin));
}

const onLoad = ({ target }: Event): void =>
  void (target instanceof HTMLIFrameElement && onFrame(target));

/**
 * Report existing frames, and those that load later. Frames that were already reported are reported
 * again.
 */
export function watchFrames(): void {
  said.clear();
  said.add(location.origin);
  for (const frame of document.querySelectorAll('iframe')) onFrame(frame);
  document.addEventListener('load', onLoad, true); // once, even if called repeatedly
}
export function unwatchFrames(): void {
  document.removeEventListener('load', onLoad, true);
}
