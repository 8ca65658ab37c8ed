/** Lists tabs by their titles, which come from the pages. */
import { cut, plain } from '../../text/clean.ts';
import { formatCount } from '../../text/numbers.ts';

const NAMED = 3;

/** `“My app” (2 times), “Settings”, …` */
export function tabTitles(titles: readonly string[]): string {
  const times = new Map<string, number>();
  for (const title of titles) times.set(title, (times.get(title) ?? 0) + 1);
  const named = [...times]
    .slice(0, NAMED)
    .map(([title, n]) => `“${cut(plain(title), 40)}”${n > 1 ? ` (${formatCount(n)} times)` : ''}`);
  return named.join(', ') + (times.size > NAMED ? ', …' : '');
}
