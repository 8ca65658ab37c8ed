/**
 * The notices for a trace, ordered by how much each problem hides. Each names the cause and the
 * next step.
 */
import { cut, plain, scriptName } from '../../text/clean.ts';
import { countOf, formatBytes, formatCount, formatDuration } from '../../text/numbers.ts';
import { LATE_START } from '../../trace/describe.ts';
import type { LiveStats, Room, ThreadRow } from '../../protocol/session.ts';

interface Notice {
  key: string;
  kind: 'warning' | 'error';
  /** How much it hides, 0 = most: the order of notices. */
  weight: number;
  text: string;
  /** More, on hover. */
  title: string;
}

/**
 * What is or may be missing: nearly everything; events or a worker; a part of them; nothing
 * important.
 */
const [ALL, SOME, PART, NONE] = [0, 1, 2, 3];
/** Whether events or workers are missing, not just a part of them. */
export const isHeavy = ({ weight }: Notice): boolean => weight <= SOME;
const TOPIC: Record<string, { weight: number; words: string }> = {
  'worker-native': { weight: SOME, words: 'A worker is not recorded' },
  'service-worker-native': { weight: NONE, words: 'A service worker is not recorded' },
  'late-start': { weight: PART, words: LATE_START },
  engine: { weight: PART, words: 'A SQLite build is recorded in part' },
  'tracer-error': { weight: SOME, words: 'A hook failed; the page went on without it' },
  transport: { weight: SOME, words: 'The connection from the page to this panel' },
  cut: { weight: PART, words: 'This is a part of a recording' },
  'not-restored': {
    weight: NONE,
    words:
      "Your app froze these, so vfscope's wrappers stay on them; calls pass through unchanged. Reload the page to remove them",
  },
};

/**
 * Maximum characters of a notice and of its title, because some of the words come from the page.
 */
const LONGEST = 1000;
const said = (text: string): string =>
  text
    .split('\n')
    .map((line) => cut(plain(line), LONGEST))
    .join('\n');
/** Maximum scripts that a notice names. The rest is in its title. */
const NAMED = 3;

/** The limit with its unit: `60,000 events`, `1.5 GiB of memory`. */
function limitOf({ kind, limit }: Room): string {
  if (kind === 'events') return countOf(limit ?? 0, 'event');
  return `${formatBytes(limit ?? 0)} of ${kind === 'words' ? 'SQL texts and names' : 'memory'}`;
}

/** What the user should do when a recording runs out of room: before the limit, and at it. */
function noticeOfRoom(room: Room, recording: boolean): Notice {
  const { kind, share, limit, secondsLeft, reached, forgotten } = room;
  if (kind === 'disk')
    return {
      key: 'room disk',
      weight: PART,
      kind: 'warning',
      title: 'vfscope offers this copy after DevTools closes or crashes',
      text: `The disk has only ${formatBytes(limit ?? 0)} left for this recording's backup copy. Free some disk space, or stop and save now.`,
    };
  if (!reached) {
    const when =
      secondsLeft === null || secondsLeft > 3600
        ? ''
        : ` and reaches it in about ${formatDuration(Math.max(1, Math.round(secondsLeft)) * 1e6)}`;
    return {
      key: `room ${kind}`,
      weight: PART,
      kind: 'warning',
      title:
        'At the limit, vfscope continues to record. The newest half stays, and older events are dropped.',
      text: `This recording is at ${Math.floor(share * 100)} % of its limit (${limitOf(room)})${when}. Then vfscope drops the oldest events. To keep everything, stop and save now.`,
    };
  }
  const dropped = forgotten
    ? ` ${countOf(forgotten, 'event')} from the start ${forgotten === 1 ? 'was' : 'were'} dropped.`
    : '';
  const cause =
    kind === 'browser'
      ? 'The browser has no more memory for this recording.'
      : `This recording reached its limit (${limitOf(room)}).`;
  const next = recording
    ? 'It continues with the newest events. Stop and save now. Next time, record for a shorter time.'
    : 'Next time, record for a shorter time.';
  return {
    key: `room ${kind} reached`,
    weight: ALL,
    kind: 'warning',
    title: 'The retained events make a complete recording. You can save and open it.',
    text: `${cause}${dropped} ${next}`,
  };
}

export function noticesOf(
  stats: LiveStats | null,
  threads: readonly ThreadRow[],
  fileWarnings: readonly string[],
): Notice[] {
  const notices: Notice[] = fileWarnings.map((text) => ({
    key: `file ${text}`,
    weight: ALL,
    kind: 'warning',
    text,
    title: 'Found while reading the file',
  }));
  if (stats?.room) notices.push(noticeOfRoom(stats.room, stats.recording));
  for (const text of stats?.problems ?? [])
    notices.push({ key: text, kind: 'error', weight: ALL, text, title: '' });
  if (stats?.dropped) {
    const by = threads
      .filter((t) => t.dropped > 0)
      .map((t) => `${t.title}: ${formatCount(t.dropped)}`);
    notices.push({
      key: 'dropped',
      weight: SOME,
      kind: 'warning',
      title: by.join('\n'),
      text: `${countOf(stats.dropped, 'event')} ${stats.dropped === 1 ? 'was' : 'were'} dropped: ${stats.room?.kind === 'browser' ? 'the browser had no memory for them' : 'the page produced events faster than vfscope could collect them'}. Counts are too low by that much. Record for a shorter time.`,
    });
  }
  const seen = new Map<string, Notice & { times: number; urls: Set<string> }>();
  for (const thread of threads)
    for (const note of thread.notes) {
      const key = `${note.topic} ${note.text}`;
      const urls = note.topic.endsWith('worker-native') && note.url ? [scriptName(note.url)] : [];
      const known = seen.get(key);
      if (known) {
        known.times++;
        known.title += `\n${note.url ?? thread.title}`;
        urls.forEach((url) => known.urls.add(url));
      } else
        seen.set(key, {
          key,
          kind: note.topic === 'tracer-error' ? 'error' : 'warning',
          weight: note.url?.startsWith('data:') ? NONE : (TOPIC[note.topic]?.weight ?? PART),
          times: 1,
          urls: new Set(urls),
          text: note.text.replace(/^Not recorded: /, ''),
          title: note.url ?? thread.title,
        });
    }
  for (const [key, { times, urls, ...notice }] of seen) {
    const topic = key.slice(0, key.indexOf(' '));
    const which = urls.size
      ? ` (${[...urls].slice(0, NAMED).join(', ')}${urls.size > NAMED ? `, ${urls.size - NAMED} more` : ''})`
      : '';
    notices.push({
      ...notice,
      text: `${TOPIC[topic]?.words ?? topic}${which}: ${notice.text}${times > 1 ? ` (${times} times)` : ''}`,
    });
  }
  if (stats?.faults && !threads.some((t) => t.notes.some((n) => n.topic === 'tracer-error')))
    notices.push({
      key: 'faults',
      weight: SOME,
      kind: 'error',
      title: '',
      text: `vfscope caught ${countOf(stats.faults, 'exception')} in its own hooks. The page kept running.`,
    });
  if (stats?.ignoredMessages)
    notices.push({
      key: 'ignored',
      weight: NONE,
      kind: 'warning',
      title: '',
      text: `vfscope ignored ${countOf(stats.ignoredMessages, 'malformed message')}. A script in the page imitates its recorder.`,
    });
  return notices
    .sort((a, b) => a.weight - b.weight)
    .map((n) => ({ ...n, text: said(n.text), title: said(n.title) }));
}
