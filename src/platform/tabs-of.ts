/** Which tabs show an origin. */
import { api } from './extension-api.ts';
import { webOrigin } from './recordable.ts';

/** Not by a pattern: Firefox finds none that names a port. */
export const tabsOf = async (origin: string): Promise<number[]> =>
  (await api.tabs.query({})).flatMap(({ id, url }) =>
    id && webOrigin(url) === origin ? [id] : [],
  );
