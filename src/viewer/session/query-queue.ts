/**
 * The running queries by the client's number: their progress, and whether the client still wants
 * them. A canceled query ends at its next pause. Complete results that all queries share are kept.
 */
import type { QueryProgress } from '../../protocol/session.ts';

/** A running query. */
export class RunningQuery {
  private canceled = false;
  private giveUp: (reason: DOMException) => void = () => undefined;
  private readonly gone = new Promise<never>((_, reject) => (this.giveUp = reject));

  /** @param report receives its progress */
  constructor(
    private readonly report: (progress: Omit<QueryProgress, 'id'>) => void = () => undefined,
  ) {
    this.gone.catch(() => undefined); // the caller that waits for the answer sees it
  }

  /** @throws AbortError once it is canceled */
  check(): void {
    if (this.canceled) throw canceled();
  }
  /** Rejects with an AbortError as soon as the query is canceled. */
  async unlessCanceled<T>(work: Promise<T>): Promise<T> {
    return Promise.race([this.gone, work]);
  }
  /** @param what the next step, as text @param done steps of all `of` */
  progress(what: string, done: number, of: number): void {
    this.report({ what, done, of });
  }
  cancel(): void {
    this.canceled = true;
    this.giveUp(canceled());
  }
}
const canceled = (): DOMException => new DOMException('The query was canceled.', 'AbortError');

export class QueryQueue {
  private readonly open = new Map<number, RunningQuery>();

  constructor(private readonly report: (progress: QueryProgress) => void) {}

  /**
   * @param id null = reports no progress, and can't be canceled @param answer the work, done while
   * the query is wanted
   */
  async during<T>(id: number | null, answer: (query: RunningQuery) => Promise<T>): Promise<T> {
    if (id === null) return answer(new RunningQuery());
    const query = new RunningQuery((progress) => this.report({ id, ...progress }));
    this.open.set(id, query);
    try {
      return await query.unlessCanceled(answer(query));
    } finally {
      this.open.delete(id);
    }
  }

  /** Does nothing for a query that is answered or unknown. */
  cancel(id: number): void {
    this.open.get(id)?.cancel();
  }
}
