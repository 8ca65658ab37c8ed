/** Scans: reads of neighboring pages in ascending runs that no cache could have held. */
import type { ThreadStore } from '../../trace/store.ts';
import { Evidence } from '../rules/context.ts';

/** Fewer pages aren't a scan. */
const RUN = 8;

export class Scans {
  runs = 0;
  /** Reads of the longest run. */
  longest = 0;
  /** All reads in runs. */
  readonly reads = new Evidence();
  private length = 0;
  /** The page that continues the run; 0 = none. */
  private next = 0;
  /** Rows of a run that isn't long enough to count yet. */
  private readonly begun: number[] = [];

  /** The next read of a connection. @param first no cache could have held it */
  read(thread: ThreadStore, row: number, page: number, span: number, first: boolean): void {
    if (!first || page !== this.next) this.length = 0;
    this.next = first ? page + span : 0;
    if (!first) return;
    if (this.length < RUN) this.begun[this.length] = row;
    this.length++;
    this.longest = Math.max(this.longest, this.length);
    if (this.length < RUN) return;
    if (this.length > RUN) return this.reads.add(thread, row);
    this.runs++;
    for (const one of this.begun) this.reads.add(thread, one);
  }
}
