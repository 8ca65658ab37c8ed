/** Questions and answers of the Files view. */
import type { OriginFile } from '../../analysis/files/table.ts';
import type { Scope } from '../../analysis/core/scope.ts';
import type { PlacesKey } from './pages.ts';

/** Narrows the table. */
export type FileScope = Pick<Scope, 'fromUs' | 'toUs' | 'thread'>;

export interface FileLine extends OriginFile {
  /** Another origin has a file of the same name and kind. Facts about pages then cover both. */
  elsewhere: boolean;
  /** Its parent in the tree: a database, an IndexedDB database, or an OPFS folder. */
  group: string;
  /** Its pages or blocks, if any are known. */
  places: PlacesKey | null;
  /** Why no pages are known, as text; '' where they are. */
  cause: string;
}
