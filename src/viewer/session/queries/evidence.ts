/** Where the events of a finding are, and the statements that they belong to. */
import type { EvidenceArgs, EvidencePlaces } from '../../../protocol/answers/evidence.ts';
import { ownersOf } from '../../../trace/owners.ts';
import type { QueryContext } from './context.ts';

export const evidenceQueries = {
  evidencePlaces({ store }: QueryContext, { events }: EvidenceArgs): EvidencePlaces {
    const times = (): Float64Array => new Float64Array(events.length).fill(NaN);
    const places = {
      fromUs: times(),
      toUs: times(),
      statementFromUs: times(),
      statementToUs: times(),
    };
    events.forEach(({ thread: index, seq }, i) => {
      const thread = store.threads[index];
      const row = thread?.events.rowOfSeq(seq) ?? -1;
      if (!thread || row < 0) return;
      const { t0, dur } = thread.events;
      const statement = ownersOf(thread).statement(row);
      const around = statement < 0 ? row : statement;
      places.fromUs[i] = t0[row]!;
      places.toUs[i] = t0[row]! + dur[row]!;
      places.statementFromUs[i] = t0[around]!;
      places.statementToUs[i] = t0[around]! + dur[around]!;
    });
    return places;
  },
};
