/** Questions and answers of the command palette. */
import type { EventRef } from '../../trace/store.ts';

export interface PaletteItem {
  kind: 'statement' | 'file';
  text: string;
  /** Executions, or calls. */
  count: number;
  /** Its first event. */
  event: EventRef;
}
