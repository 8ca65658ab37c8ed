/** Which workers' scripts get the hook on their way in, where the browser can do that: those of the pages that are recorded. */
import { filterWorkers, unfilterWorkers, type ScriptRequest } from '../platform/worker-filter.ts';
import { webOrigin } from '../platform/recordable.ts';
import type { RecordingState } from '../protocol/messages.ts';

/** Follow these recordings from now on, and no others. */
export function followWorkers(recordings: readonly RecordingState[]): void {
  if (recordings.length) filterWorkers((request) => recordings.find((recording) => covers(recording, request))?.capture ?? null);
  else unfilterWorkers();
}

/** A tab that joins a recording of its origin is not in its list yet when its first worker starts; shared workers have no tab. */
function covers({ tabs, scope, origin }: RecordingState, { tabId, originUrl, documentUrl }: ScriptRequest): boolean {
  if (tabs.includes(tabId)) return true;
  return (tabId === -1 || scope === 'origin') && origin !== '' && webOrigin(documentUrl ?? originUrl) === origin;
}
