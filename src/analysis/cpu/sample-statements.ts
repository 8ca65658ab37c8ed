/** Which statement a thread worked for when a CPU sample was taken: the one that has that moment in the time partition. */
import type { CpuSamples } from '../../trace/cpu-samples.ts';
import { threadFact } from '../core/graph.ts';
import { sweeps } from '../time/thread-times.ts';

/** By sample the id of an `sql` definition: 0 = the text is not known, -1 = no SQL ran. null where the thread was not sampled. */
export interface SampleStatements {
  readonly samples: CpuSamples;
  readonly texts: Int32Array;
}

export const sampleStatements = threadFact(
  'sampleStatements',
  'statement of each CPU sample',
  { sweeps },
  (thread, { sweeps }): SampleStatements | null => {
    const { cpu } = thread;
    if (!cpu) return null;
    const texts = new Int32Array(cpu.us.length).fill(-1);
    let i = 0;
    sweeps.of(thread).eachStatement((fromNs, toNs, text) => {
      while (i < texts.length && cpu.us[i]! * 1000 < fromNs) i++;
      for (; i < texts.length && cpu.us[i]! * 1000 < toNs; i++) texts[i] = text;
    });
    return { samples: cpu, texts };
  },
);
