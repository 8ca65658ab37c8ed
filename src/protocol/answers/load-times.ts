/** Questions and answers about the loading of engines. */
import type { EngineLoad } from '../../analysis/time/load-times.ts';

export interface LoadLine extends Omit<EngineLoad, 'parts'> {
  /** `seq` is null where the part has no event. */
  parts: (Omit<EngineLoad['parts'][number], 'row'> & { seq: number | null })[];
  threadTitle: string;
}
