/** Everything that Doctor looks at, as one page answered it. */
import type { PageDatabases } from './page-copy.ts';
import type { PageState } from './page-state.ts';
import type { PageStorage } from './page-storage.ts';

export interface PageLook {
  state: PageState;
  storage: PageStorage;
  /** SQLite databases, and which ones can be copied. */
  databases: PageDatabases;
}

/** The page may have navigated between the parts. */
export const isOneOrigin = ({ state, storage, databases }: PageLook): boolean =>
  state.origin === storage.origin && state.origin === databases.origin;
