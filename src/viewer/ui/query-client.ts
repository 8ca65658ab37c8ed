/**
 * Queries to the store's worker. Each has its own number, so that its progress can be shown and it
 * can be canceled.
 */
import type { QueryProgress, SessionApi } from '../../protocol/session.ts';
import type { Queries, QueryAnswer, QueryArgs, QueryName } from '../../protocol/answers/queries.ts';

/** A running query. */
export interface QueryHandle<T> {
  /** Rejects with an AbortError if it was canceled. */
  readonly answer: Promise<T>;
  /** Version of the trace that the answer describes; -1 before the answer. */
  readonly version: number;
  cancel(): void;
}

export class QueryClient {
  private lastId = 0;
  private readonly open = new Map<
    number,
    { onProgress: (progress: QueryProgress) => void; version: number }
  >();

  constructor(private readonly session: Pick<SessionApi<Queries>, 'query' | 'cancelQuery'>) {}

  /** @param onProgress called before each step of a long query */
  run<N extends QueryName>(
    name: N,
    args: QueryArgs<N>,
    onProgress: (progress: QueryProgress) => void,
  ): QueryHandle<QueryAnswer<N>> {
    const id = ++this.lastId;
    const asked = { onProgress, version: -1 };
    this.open.set(id, asked);
    const answer = this.session.query(name, args, id).finally(() => this.open.delete(id));
    const cancel = (): void => {
      // `answer` reports a dead worker
      if (this.open.delete(id)) this.session.cancelQuery(id).catch(() => undefined);
    };
    return {
      answer,
      cancel,
      get version() {
        return asked.version;
      },
    };
  }

  /** Pass on what the worker reports about a query. */
  progressed(progress: QueryProgress): void {
    this.open.get(progress.id)?.onProgress(progress);
  }
  /** The answer to a query is about to arrive. @param version of the trace that it describes */
  answering(id: number, version: number): void {
    const asked = this.open.get(id);
    if (asked) asked.version = version;
  }
}
