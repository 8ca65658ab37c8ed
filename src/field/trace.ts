/**
 * `vfscope/field-trace`: turns the last seconds of `vfscope/field` into a `.vfst` file. Load it
 * when there is something to save.
 */
import { captureOptionsOf } from '../event/capture.ts';
import { Field, RECORD_BYTES } from '../event/event.ts';
import { measureClockStepUs } from '../event/clock.ts';
import { TraceStore } from '../trace/store.ts';
import { saveTrace as save } from '../trace/file/write.ts';
import type { LastSeconds } from './ring.ts';

/**
 * @returns a file for the panel, the viewer, and the command
 * @throws where the browser has no CompressionStream
 */
export function saveTrace(last: LastSeconds): Promise<Blob> {
  const { records, definitions, timeOrigin, kind, url, agent, isolated } = last;
  const first = records.byteLength ? new DataView(records).getFloat64(Field.t0, true) : 0;
  const store = new TraceStore(timeOrigin + first);
  const id = 'field';
  const count = records.byteLength / RECORD_BYTES;
  const thread = store.thread({ id, kind, url, name: '', parent: null, timeOrigin });
  thread.append({
    ...{ thread: id, first: 0, count, timeOrigin, dropped: 0, faults: 0, records },
    definitions: [
      {
        kind: 'environment',
        id: 0,
        url,
        threadKind: kind,
        crossOriginIsolated: isolated,
        clockStepUs: measureClockStepUs(),
        userAgent: agent,
        hidden: null,
        capture: captureOptionsOf({ capture: 1, layers: ['sql', 'web'], buffer: 512 }),
      },
      ...definitions,
    ],
  });
  return save(store, { origin: new URL(url).origin });
}
