/** Question and answer: where the events lie that back a finding. */
import type { EventRef } from '../../trace/store.ts';

export interface EvidenceArgs {
  events: readonly EventRef[];
}

/** In the order of the events, microseconds; NaN for an event that isn't there. */
export interface EvidencePlaces {
  fromUs: Float64Array;
  toUs: Float64Array;
  /** Begin and end of the statement that each event serves, or of the event itself. */
  statementFromUs: Float64Array;
  statementToUs: Float64Array;
}
