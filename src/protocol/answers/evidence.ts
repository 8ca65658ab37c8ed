/** Question and answer of where events lie that show something. */
import type { EventRef } from '../../trace/store.ts';

export interface EvidenceArgs {
  events: readonly EventRef[];
}

/** In the order of the events, microseconds; NaN of an event that is not there. */
export interface EvidencePlaces {
  fromUs: Float64Array;
  toUs: Float64Array;
  /** Begin and end of the statement that each serves, or its own. */
  statementFromUs: Float64Array;
  statementToUs: Float64Array;
}
