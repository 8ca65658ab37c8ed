/** Workers that the recording did not see: what they did is in no number. */
import { scriptName } from '../../text/clean.ts';
import { countOf, formatCount } from '../../text/numbers.ts';
import { fact } from './graph.ts';

export interface UnrecordedWorker {
  /** Of its script; '' where it is not known. */
  url: string;
  /** Why it is not recorded. */
  cause: string;
}

/** Each script once for each cause, in the order in which they were met. */
export const unrecordedWorkers = fact(
  'unrecordedWorkers',
  'workers not recorded',
  {},
  ({ threads }): readonly UnrecordedWorker[] => {
    const found = new Map<string, UnrecordedWorker>();
    for (const { notes } of threads)
      for (const { topic, text, url = '' } of notes)
        if (topic === 'worker-native')
          found.set(`${url} ${text}`, { url, cause: text.replace(/^Not recorded: /, '') });
    return [...found.values()];
  },
);

/** Those that a text names. */
const NAMED = 3;

/** Which they are, why, and what that does to the numbers. @param workers at least one */
export function unrecordedText(workers: readonly UnrecordedWorker[]): string {
  const named = workers.slice(0, NAMED).map(({ url, cause }) => `${scriptName(url)}: ${cause}`);
  const more = workers.length - named.length;
  const count = `${countOf(workers.length, 'worker')} ${workers.length === 1 ? "isn't" : "aren't"} recorded`;
  return `${count}: if SQLite or its storage runs there, counts are lower bounds. ${named.join(' ')}${more ? ` And ${formatCount(more)} more.` : ''}`;
}
