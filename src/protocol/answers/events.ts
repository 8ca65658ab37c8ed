/** Questions and answers of the list of operations. */
import type { Layer } from '../../event/operations.ts';

export interface OperationCount {
  name: string;
  layer: Layer;
  events: number;
  /** Rows about the recording itself. */
  own: boolean;
}
