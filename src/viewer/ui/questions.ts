/** Questions to the store's worker under numbers of their own, so that each can be followed and cancelled. */
import type { AskProgress, SessionApi } from '../../protocol/session.ts';
import type { QueryAnswer, QueryArgs, QueryName } from '../session/queries/index.ts';

export interface Asking<T> {
  /** Rejects with an AbortError where it was cancelled. */
  readonly answer: Promise<T>;
  cancel(): void;
}

export class Questions {
  private lastId = 0;
  private readonly open = new Map<number, (progress: AskProgress) => void>();

  constructor(private readonly session: Pick<SessionApi, 'ask' | 'cancelAsk'>) {}

  /** @param onProgress before each step of a long question */
  ask<N extends QueryName>(
    name: N,
    args: QueryArgs<N>,
    onProgress: (progress: AskProgress) => void,
  ): Asking<QueryAnswer<N>> {
    const id = ++this.lastId;
    this.open.set(id, onProgress);
    const answer = this.session.ask(name, args, id).finally(() => this.open.delete(id));
    const cancel = (): void => {
      if (this.open.delete(id)) this.session.cancelAsk(id).catch(() => undefined); // a worker that has died answers nothing: `answer` says so
    };
    return { answer, cancel };
  }

  /** The worker says how far one is. */
  heard(progress: AskProgress): void {
    this.open.get(progress.id)?.(progress);
  }
}
