/** The statement that a thread worked for at each CPU sample, according to the time partition. */
import type { CpuSamples } from '../../trace/cpu-samples.ts';
import { threadFact } from '../core/graph.ts';
import { getOrMake } from '../core/maps.ts';
import { sweeps } from '../time/thread-times.ts';

/**
 * By sample, the id of an `sql` definition: 0 = the text isn't known, -1 = no SQL ran. null if the
 * thread wasn't sampled.
 */
export interface SampleStatements {
  readonly samples: CpuSamples;
  readonly texts: Int32Array;
  /**
   * Nanoseconds that a sample of a text stands for: all of the text's time in the partition,
   * divided by its samples. V8 doesn't sample evenly.
   */
  readonly nsOf: (text: number) => number;
}

export const sampleStatements = threadFact(
  'sampleStatements',
  'statement of each CPU sample',
  { sweeps },
  (thread, { sweeps }): SampleStatements | null => {
    const { cpu } = thread;
    if (!cpu) return null;
    const texts = new Int32Array(cpu.us.length).fill(-1);
    const sums = new Map<number, { ns: number; samples: number }>();
    let i = 0;
    sweeps.of(thread).eachStatement((fromNs, toNs, text) => {
      const sum = getOrMake(sums, text, () => ({ ns: 0, samples: 0 }));
      sum.ns += toNs - fromNs;
      while (i < texts.length && cpu.us[i]! * 1000 < fromNs) i++;
      for (; i < texts.length && cpu.us[i]! * 1000 < toNs; i++) {
        texts[i] = text;
        sum.samples++;
      }
    });
    const nsOf = (text: number): number => {
      const { ns, samples } = sums.get(text)!;
      return ns / samples;
    };
    return { samples: cpu, texts, nsOf };
  },
);
