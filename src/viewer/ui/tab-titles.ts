/** Lists tabs by their titles, which come from the pages. */
import { cut, plain } from '../../text/clean.ts';

const NAMED = 3;

/** `“My app”, “Settings”, …` */
export const tabTitles = (titles: readonly string[]): string =>
  titles
    .slice(0, NAMED)
    .map((title) => `“${cut(plain(title), 40)}”`)
    .join(', ') + (titles.length > NAMED ? ', …' : '');
