/**
 * The JavaScript stack that leads to a statement, without our own frames. It is optional, and
 * recorded once for each statement and connection.
 */

/** Maximum characters of a stack that are stored, and maximum frames that are requested. */
const MOST_TEXT = 4096;
const MOST_FRAMES = 50;

/** `at f (url:1:2)`, `at url:1:2` (V8); `f@url:1:2` (Firefox, Safari) */
const PLACE = /^(.*?[(@\s]|@?)((?:[a-z][a-z0-9+.-]*:|\/)[^()\s]*?):(\d+):(\d+)(\)?)$/i;

interface StackedError {
  stackTraceLimit?: unknown;
  prepareStackTrace?: unknown;
}

/** The script that contains our code, and in a worker maybe also the app's own text. */
export interface OwnScript {
  url: string;
  /** Lines that are ours; in the last one, up to this column. */
  lines: number;
  columns: number;
  /** What precedes the app's first line: lines to subtract from the app's frames. */
  shift: number;
}

/**
 * Frames as the browser formats them, innermost first, including ours. An app's own formatter isn't
 * called.
 */
function rawStack(): string {
  const E = Error as StackedError;
  const { stackTraceLimit, prepareStackTrace } = E;
  try {
    if (typeof stackTraceLimit === 'number') E.stackTraceLimit = MOST_FRAMES;
    if (prepareStackTrace !== undefined) E.prepareStackTrace = undefined;
    return String(new Error().stack);
  } finally {
    if (typeof stackTraceLimit === 'number') E.stackTraceLimit = stackTraceLimit;
    if (prepareStackTrace !== undefined) E.prepareStackTrace = prepareStackTrace;
  }
}

/** Where this code runs. @param extent of our code, passed by callers that know the script */
export function ownScript(extent: Omit<OwnScript, 'url'>): OwnScript | null {
  for (const line of rawStack().split('\n')) {
    const place = PLACE.exec(line.trim());
    if (place) return { url: place[2]!, ...extent };
  }
  return null;
}

/**
 * A browser's stack without our frames and the line that names the error. If an app's text follows
 * ours in one script, its lines are counted from its own first. At most 4096 characters, only
 * complete frames.
 */
export function withoutOurs(stack: string, own: OwnScript | null): string {
  let out = '';
  for (const line of stack.split('\n')) {
    let frame = line.trim();
    const place = PLACE.exec(frame);
    if (/^Error\b/.test(frame) || frame === '') continue;
    if (own && place?.[2] === own.url) {
      const [row, column] = [Number(place[3]), Number(place[4])];
      if (row < own.lines || (row === own.lines && column <= own.columns)) continue;
      frame = `${place[1]}${place[2]}:${row - own.shift}:${column}${place[5]}`;
    }
    if (out.length + frame.length + 1 > MOST_TEXT) break;
    out += out ? `\n${frame}` : frame;
  }
  return out;
}

/** The stack of our caller; '' if there is none. */
export const callStack = (own: OwnScript | null): string => withoutOurs(rawStack(), own);
