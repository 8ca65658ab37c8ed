/** Tabs by their titles, which are the page's words. */
import { cut, plain } from '../../text/clean.ts';

const NAMED = 3;

/** `“My app”, “Settings”, …` */
export const tabTitles = (titles: readonly string[]): string =>
  titles
    .slice(0, NAMED)
    .map((title) => `“${cut(plain(title), 40)}”`)
    .join(', ') + (titles.length > NAMED ? ', …' : '');
