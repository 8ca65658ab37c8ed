/** Which workers' scripts get the hook on their way in, where the browser can do that: those of the pages that are recorded. */
import { filterWorkers, unfilterWorkers, type ScriptRequest } from '../platform/worker-filter.ts';
import { webOrigin } from '../platform/recordable.ts';
import type { RecordingState } from '../protocol/messages.ts';

/** Follow these recordings from now on, and no others. */
export function followWorkers(recordings: readonly RecordingState[]): void {
  if (recordings.length)
    filterWorkers(
      (request) => recordings.find((recording) => covers(recording, request))?.capture ?? null,
    );
  else unfilterWorkers();
}

/**
 * A tab that joins a recording of its origin is not in its list yet when its first worker starts: its own page says where it belongs, not
 * a frame, which can be in any tab. Shared workers have no tab.
 */
function covers({ tabs, scope, origin }: RecordingState, request: ScriptRequest): boolean {
  const { tabId, originUrl, documentUrl = originUrl, frameAncestors } = request;
  if (tabs.includes(tabId)) return true;
  const page = tabId === -1 ? documentUrl : (frameAncestors?.at(-1)?.url ?? documentUrl);
  return (tabId === -1 || scope === 'origin') && origin !== '' && webOrigin(page) === origin;
}
