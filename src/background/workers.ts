/**
 * Which workers' scripts get the hook while they load, where the browser supports that: those of
 * recorded pages.
 */
import { filterWorkers, unfilterWorkers, type ScriptRequest } from '../platform/worker-filter.ts';
import { webOrigin } from '../platform/recordable.ts';
import type { RecordingState } from '../protocol/messages.ts';

/** Follow these recordings, and no others. */
export function followWorkers(recordings: readonly RecordingState[]): void {
  if (recordings.length)
    filterWorkers(
      (request) => recordings.find((recording) => covers(recording, request))?.capture ?? null,
    );
  else unfilterWorkers();
}

/**
 * When the first worker of a tab starts that joins a recording of its origin, the tab isn't in the
 * recording's list yet. Its page tells where it belongs. A frame can't, because it can be in any
 * tab. Shared workers have no tab.
 */
function covers({ tabs, scope, origin }: RecordingState, request: ScriptRequest): boolean {
  const { tabId, originUrl, documentUrl = originUrl, frameAncestors } = request;
  if (tabs.includes(tabId)) return true;
  const page = tabId === -1 ? documentUrl : (frameAncestors?.at(-1)?.url ?? documentUrl);
  return (tabId === -1 || scope === 'origin') && origin !== '' && webOrigin(page) === origin;
}
