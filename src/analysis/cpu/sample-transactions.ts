/** The transaction that was open on a thread at each CPU sample. */
import type { ThreadStore } from '../../trace/store.ts';
import { fact } from '../core/graph.ts';
import { anatomies } from '../transactions/transaction-anatomy.ts';

/**
 * By thread and sample: the transaction's index among all, the one that began last if several were
 * open; -1 = none.
 */
export const sampleTransactions = fact(
  'sampleTransactions',
  'transaction of each CPU sample',
  { anatomies },
  ({ threads }, { anatomies: all }): ReadonlyMap<ThreadStore, Int32Array> => {
    const found = new Map<ThreadStore, Int32Array>();
    for (const thread of threads) {
      const { cpu, index } = thread;
      if (!cpu) continue;
      const own: { place: number; fromUs: number; toUs: number }[] = [];
      for (let place = 0; place < all.length; place++)
        if (all.transactions.thread[place] === index) {
          const { fromUs, toUs } = all.at(place);
          own.push({ place, fromUs, toUs });
        }
      own.sort((a, b) => a.fromUs - b.fromUs);
      const places = new Int32Array(cpu.us.length).fill(-1);
      const open: typeof own = [];
      let next = 0;
      cpu.us.forEach((us, i) => {
        for (; next < own.length && own[next]!.fromUs <= us; next++) open.push(own[next]!);
        while (open.length && open.at(-1)!.toUs < us) open.pop();
        places[i] = open.at(-1)?.place ?? -1;
      });
      found.set(thread, places);
    }
    return found;
  },
);
