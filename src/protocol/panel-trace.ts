/**
 * A panel's trace on its way to the Lab, which it opened: both are pages of the extension, and speak over a BroadcastChannel of its own
 * origin. The panel draws a key and puts it into the Lab's address; the Lab asks under that key, and the panel answers with its trace as
 * it is then. A Blob travels by reference and nothing is written to disk. What is in it is the page's: the Lab's reader checks it all.
 */
import { formatBytes } from '../text/numbers.ts';

/** Larger traces are not handed over: the Lab reads them whole. Bytes of the file. */
export const MAX_PANEL_TRACE_BYTES = 512 << 20;
const MAX_NAME = 500;
const MAX_WORDS = 2000;
/** A panel that is there answers at once that the trace is coming, and its worker may take longer to write it. ms */
const [ANSWER_MS, WRITE_MS] = [5000, 120_000];

/** A trace as it is now: the bytes of a .vfst file. */
export interface PanelTrace {
  readonly file: Blob;
  readonly name: string;
  /** The recording goes on: this is what there is of it. */
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
/** Of the Lab's address. */
export const isPanelKey = (v: unknown): v is string =>
  typeof v === 'string' && /^[0-9a-f-]{36}$/.test(v);

const channelOf = (key: string): BroadcastChannel => new BroadcastChannel(`vfscope trace ${key}`);

/**
 * The panel's end: a page that has the key gets the trace, as often as it asks.
 * @param trace what there is now @throws from it: Error with a message for the user, which the Lab shows @returns ends the offer
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

/** The Lab's end. @throws Error with a message for the user: no panel answers, or it has nothing to give */
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
      if (isAsked(data)) return; // another Lab of the same panel
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
