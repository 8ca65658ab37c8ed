/** The layers that views filter by, and what the panel calls them. Files and queries use the ids. */
import type { Layer } from '../../event/operations.ts';

export const LAYERS: readonly Layer[] = ['sql', 'vfs', 'web', 'host'];
export const LAYER_TITLES: Readonly<Record<Layer, string>> = {
  sql: 'SQL',
  vfs: 'VFS',
  web: 'Storage',
  host: 'Host',
  browser: 'Browser',
  cpu: 'CPU',
};
