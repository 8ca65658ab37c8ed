/**
 * A panel's trace on its way to the Lab that the panel opened. Both are pages of the extension and
 * talk over a BroadcastChannel of its origin. The panel puts a random key into the Lab's address.
 * The Lab asks with that key, and the panel answers with its current trace. A Blob travels by
 * reference, and nothing is written to disk. The trace's content comes from the page, so the Lab's
 * reader checks all of it.
 */
import { formatBytes } from '../text/numbers.ts';

/** Larger traces aren't handed over, because the Lab reads them into memory. Bytes of the file. */
export const MAX_PANEL_TRACE_BYTES = 512 << 20;
const MAX_NAME = 500;
const MAX_WORDS = 2000;
/**
 * A live panel answers at once that the trace is coming. Its worker may take longer to write it. ms
 */
const [ANSWER_MS, WRITE_MS] = [5000, 120_000];

/** The current trace: the bytes of a .vfst file. */
export interface PanelTrace {
  readonly file: Blob;
  readonly name: string;
  /** The recording is still running. */
  readonly recording: boolean;
}
type Asked = { k: 'want' };
type Answer = { k: 'coming' } | ({ k: 'trace' } & PanelTrace) | { k: 'refused'; why: string };

type Loose = Record<string, unknown>;
const isObject = (v: unknown): v is Loose => typeof v === 'object' && v !== null;
const isText = (v: unknown, most: number): v is string => typeof v === 'string' && v.length <= most;
const isAsked = (v: unknown): v is Asked => isObject(v) && v.k === 'want';
export const isPanelAnswer = (v: unknown): v is Answer =>
  isObject(v) &&
  (v.k === 'coming' ||
    (v.k === 'refused' && isText(v.why, MAX_WORDS)) ||
    (v.k === 'trace' &&
      v.file instanceof Blob &&
      v.file.size <= MAX_PANEL_TRACE_BYTES &&
      isText(v.name, MAX_NAME) &&
      typeof v.recording === 'boolean'));
/** Parameter of the Lab's address. */
export const isPanelKey = (v: unknown): v is string =>
  typeof v === 'string' && /^[0-9a-f-]{36}$/.test(v);

const channelOf = (key: string): BroadcastChannel => new BroadcastChannel(`vfscope trace ${key}`);

/**
 * The panel's end: a page with the key gets the trace, as often as it asks.
 * @param trace writes the current trace
 * @throws from it: Error with a message for the user, which the Lab shows
 * @returns ends the offer
 */
export function offerTrace(key: string, trace: () => Promise<PanelTrace>): () => void {
  const channel = channelOf(key);
  const say = (answer: Answer): void => channel.postMessage(answer);
  const answer = async (): Promise<void> => {
    const { file, name, recording } = await trace();
    if (file.size > MAX_PANEL_TRACE_BYTES)
      throw new Error(
        `The recording has ${formatBytes(file.size)}; the Lab takes up to ${formatBytes(MAX_PANEL_TRACE_BYTES)}.`,
      );
    say({ k: 'trace', file, name: name.slice(0, MAX_NAME), recording });
  };
  channel.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (!isAsked(data)) return;
    say({ k: 'coming' });
    answer().catch((error: unknown) =>
      say({
        k: 'refused',
        why: (error instanceof Error ? error.message : String(error)).slice(0, MAX_WORDS),
      }),
    );
  };
  return () => channel.close();
}

/**
 * The Lab's end.
 * @throws Error with a message for the user: no panel answers, or it has no trace
 */
export function traceOfPanel(
  key: string,
  patience = { answerMs: ANSWER_MS, writeMs: WRITE_MS },
): Promise<PanelTrace> {
  const channel = channelOf(key);
  return new Promise<PanelTrace>((resolve, reject) => {
    const late = (ms: number, why: string): ReturnType<typeof setTimeout> =>
      setTimeout(() => reject(new Error(why)), ms);
    let timer = late(
      patience.answerMs,
      "The panel that opened the Lab doesn't answer. If you closed it, choose a saved file instead.",
    );
    channel.onmessage = ({ data }: MessageEvent<unknown>) => {
      if (isAsked(data)) return; // sent to another Lab of the same panel
      clearTimeout(timer);
      if (!isPanelAnswer(data)) reject(new Error("The panel's answer isn't a recording."));
      else if (data.k === 'refused') reject(new Error(data.why));
      else if (data.k === 'trace')
        resolve({ file: data.file, name: data.name, recording: data.recording });
      else
        timer = late(
          patience.writeMs,
          "The panel didn't finish writing its recording. Save it there, and choose the file here.",
        );
    };
    channel.postMessage({ k: 'want' } satisfies Asked);
  }).finally(() => channel.close());
}
