// Which worker scripts get the hook in Firefox: those of recorded tabs, not those of frames of the
// same origin in other tabs.
import { expect, test, vi } from 'vitest';
import type { ScriptRequest } from '../../src/platform/worker-filter.ts';
import type { RecordingState } from '../../src/protocol/messages.ts';
import { CAPTURE_DEFAULTS } from '../../src/event/capture.ts';

const filter = vi.hoisted(() => ({ filterWorkers: vi.fn(), unfilterWorkers: vi.fn() }));
vi.mock('../../src/platform/worker-filter.ts', () => filter);

const APP = 'https://app.test';
const recording = (scope: RecordingState['scope']): RecordingState => ({
  ...{ tabId: 1, scope, origin: APP, since: 1, tabs: [1], capture: CAPTURE_DEFAULTS },
});
const request = (tabId: number, page: string, top?: string): ScriptRequest => ({
  ...{ url: `${page}/worker.js`, tabId, originUrl: page, documentUrl: `${page}/` },
  ...(top ? { frameAncestors: [{ url: `${top}/`, frameId: 0 }] } : {}),
});

test.each<[RecordingState['scope'], string, ScriptRequest, boolean]>([
  ['tab', 'the recorded tab', request(1, 'https://any.test'), true],
  ['tab', 'another tab of the origin', request(2, APP), false],
  ['origin', 'another tab of the origin', request(2, APP), true],
  [
    'origin',
    'a frame of the origin in a tab of another',
    request(2, APP, 'https://other.test'),
    false,
  ],
  [
    'origin',
    'a frame of another origin in a tab of the origin',
    request(2, 'https://other.test', APP),
    true,
  ],
  ['tab', 'a shared worker of the origin', request(-1, APP), true],
  ['origin', 'a shared worker of another', request(-1, 'https://other.test'), false],
])('scope %s: %s', async (scope, _, asked, hooked) => {
  const { followWorkers } = await import('../../src/background/workers.ts');
  followWorkers([recording(scope)]);
  const wants = filter.filterWorkers.mock.lastCall![0] as (of: ScriptRequest) => unknown;
  expect(wants(asked)).toEqual(hooked ? CAPTURE_DEFAULTS : null);
});
