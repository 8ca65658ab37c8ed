/** Questions and answers of the Files view. */
import type { OriginFile } from '../../analysis/files/table.ts';
import type { Scope } from '../../analysis/core/scope.ts';
import type { PlacesKey } from './pages.ts';

/** What narrows the table. */
export type FileScope = Pick<Scope, 'fromUs' | 'toUs' | 'thread'>;

export interface FileLine extends OriginFile {
  /** Another origin has one of the same name and kind: what is known of pages is of both together. */
  elsewhere: boolean;
  /** What it lies under in the tree: a database, an IndexedDB database, a folder of OPFS. */
  group: string;
  /** Its pages or blocks, if it has any that are known. */
  places: PlacesKey | null;
  /** Why it has none, as text; '' where it has. */
  cause: string;
}
