/** Which notices a trace deserves, in the order of their weight: each names the cause and the next step. */
import { cut, plain } from '../trace/analysis/report-words.ts';
import type { LiveStats, ThreadRow } from './session-api.ts';
import { formatCount } from './units.ts';

export interface Notice {
  key: string;
  kind: 'warning' | 'error';
  text: string;
  /** More, on hover. */
  title: string;
}

const TOPIC: Record<string, string> = {
  'worker-native': 'A worker is not recorded',
  'late-start': 'The page was running already',
  engine: 'A SQLite build is recorded in part',
  'tracer-error': 'A hook failed; the page went on without it',
  transport: 'The way from the page to this panel',
  cut: 'The trace is a part of a recording',
};

/** Characters of a notice and of its title: some of the words are the page's. */
const LONGEST = 1000;
const said = (text: string): string =>
  text
    .split('\n')
    .map((line) => cut(plain(line), LONGEST))
    .join('\n');
/** Scripts that a notice names; the rest is in its title. */
const NAMED = 3;

/** The file of a script's URL; of one that has none, its scheme. */
function shortUrl(url: string): string {
  const scheme = /^(data|blob):/.exec(url);
  return scheme ? `a ${scheme[0]} URL` : url.replace(/[?#].*$/, '').replace(/^.*\//, '') || url;
}

export function noticesOf(stats: LiveStats | null, threads: readonly ThreadRow[], fileWarnings: readonly string[]): Notice[] {
  const notices: Notice[] = fileWarnings.map((text) => ({
    key: `file ${text}`,
    kind: 'warning',
    text,
    title: 'Said by the reader of the file',
  }));
  for (const text of stats?.problems ?? []) notices.push({ key: text, kind: 'error', text, title: '' });
  if (stats?.dropped) {
    const by = threads.filter((t) => t.dropped > 0).map((t) => `${t.title}: ${formatCount(t.dropped)}`);
    notices.push({
      ...{ key: 'dropped', kind: 'warning', title: by.join('\n') },
      text: `${formatCount(stats.dropped)} events were dropped: the page made them faster than they could be taken. Counts are that much too low; record a shorter stretch.`,
    });
  }
  const seen = new Map<string, Notice & { times: number; urls: Set<string> }>();
  for (const thread of threads)
    for (const note of thread.notes) {
      const key = `${note.topic} ${note.text}`;
      const urls = note.topic === 'worker-native' && note.url ? [shortUrl(note.url)] : [];
      const known = seen.get(key);
      if (known) {
        known.times++;
        known.title += `\n${note.url ?? thread.title}`;
        urls.forEach((url) => known.urls.add(url));
      } else
        seen.set(key, {
          ...{ key, kind: note.topic === 'tracer-error' ? 'error' : 'warning', times: 1, urls: new Set(urls) },
          ...{ text: note.text.replace(/^Not recorded: /, ''), title: note.url ?? thread.title },
        });
    }
  for (const [key, { times, urls, ...notice }] of seen) {
    const topic = key.slice(0, key.indexOf(' '));
    const which = urls.size ? ` (${[...urls].slice(0, NAMED).join(', ')}${urls.size > NAMED ? `, ${urls.size - NAMED} more` : ''})` : '';
    notices.push({ ...notice, text: `${TOPIC[topic] ?? topic}${which}: ${notice.text}${times > 1 ? ` (${times} times)` : ''}` });
  }
  if (stats?.faults && !threads.some((t) => t.notes.some((n) => n.topic === 'tracer-error')))
    notices.push({
      key: 'faults',
      kind: 'error',
      title: '',
      text: `${formatCount(stats.faults)} exceptions were caught inside hooks; the page went on without them.`,
    });
  if (stats?.ignoredMessages)
    notices.push({
      ...{ key: 'ignored', kind: 'warning', title: '' },
      text: `${formatCount(stats.ignoredMessages)} messages on the recording’s ports were malformed and are ignored: something in the page imitates the tracer.`,
    });
  return notices.map((n) => ({ ...n, text: said(n.text), title: said(n.title) }));
}
