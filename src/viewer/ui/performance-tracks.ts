/**
 * Adds tracks to Chrome's Performance panel while it records: ten times a second, what has ended
 * since.
 */
import type {
  PerformanceMarks,
  PerformanceTracksArgs,
} from '../../protocol/answers/performance-tracks.ts';
import type { PerformancePanel } from './host.ts';

const EVERY_MS = 100;
/**
 * A reloading page accepts none for a moment, so only this many consecutive failures are reported.
 */
const FAILURES = 30;

interface Asked {
  /** Whether the user has enabled it. */
  isOn: () => boolean;
  marks: (args: PerformanceTracksArgs) => Promise<PerformanceMarks>;
  failed: (message: string) => void;
}

/** @returns stops it */
export function followPerformancePanel(panel: PerformancePanel, asked: Asked): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** null = the Performance panel doesn't record. */
  let args: PerformanceTracksArgs | null = null;
  let failures = 0;
  let recordings = 0;

  /** @returns whether there is more to add at once */
  async function show(asking: PerformanceTracksArgs): Promise<boolean> {
    const { marks, after, more } = await asked.marks(asking);
    if (marks.length) await panel.show(marks);
    if (args === asking) args = { ...asking, after };
    return more;
  }
  /** @param own of the recording that started it */
  async function tick(own: number): Promise<void> {
    let wait = EVERY_MS;
    try {
      if (args && asked.isOn() && (await show(args))) wait = 0;
      failures = 0;
    } catch (e) {
      const why = e instanceof Error ? e.message : String(e);
      // what wasn't added is requested again
      if (++failures === FAILURES)
        asked.failed(`vfscope can't add its tracks to the Performance panel: ${why}`);
    }
    if (args && own === recordings) timer = setTimeout(() => void tick(own), wait);
  }
  const end = panel.watch((records) => {
    clearTimeout(timer);
    failures = 0;
    args = records ? { fromMs: performance.timeOrigin + performance.now(), after: {} } : null;
    if (records) void tick(++recordings);
  });
  return () => {
    end();
    clearTimeout(timer);
    args = null;
  };
}
