/**
 * The questions that are being answered, by the number that their asker gave them: how far each is, and whether it is still wanted. One
 * that is cancelled ends at its next pause; what it has computed for all is kept as far as it is whole.
 */
import type { AskProgress } from '../../protocol/session.ts';

/** One question on its way. */
export class Question {
  private cancelled = false;
  private giveUp: (reason: DOMException) => void = () => undefined;
  private readonly gone = new Promise<never>((_, reject) => (this.giveUp = reject));

  /** @param tell says how far it is */
  constructor(
    private readonly tell: (progress: Omit<AskProgress, 'id'>) => void = () => undefined,
  ) {
    this.gone.catch(() => undefined); // heard by whoever waits for it
  }

  /** @throws AbortError once it is not wanted any more */
  check(): void {
    if (this.cancelled) throw cancelled();
  }
  /** Rejects with an AbortError as soon as the question is cancelled. */
  async unlessCancelled<T>(work: Promise<T>): Promise<T> {
    return Promise.race([this.gone, work]);
  }
  /** @param what is computed next, in words @param done steps of all `of` */
  progress(what: string, done: number, of: number): void {
    this.tell({ what, done, of });
  }
  cancel(): void {
    this.cancelled = true;
    this.giveUp(cancelled());
  }
}
const cancelled = (): DOMException => new DOMException('The question was cancelled.', 'AbortError');

export class Asked {
  private readonly open = new Map<number, Question>();

  constructor(private readonly tell: (progress: AskProgress) => void) {}

  /** @param id null = nobody wants to hear of it before it is answered @param answer the work, to be done while the question is wanted */
  async during<T>(id: number | null, answer: (question: Question) => Promise<T>): Promise<T> {
    if (id === null) return answer(new Question());
    const question = new Question((progress) => this.tell({ id, ...progress }));
    this.open.set(id, question);
    try {
      return await question.unlessCancelled(answer(question));
    } finally {
      this.open.delete(id);
    }
  }

  /** One that is answered, or was never asked, is none. */
  cancel(id: number): void {
    this.open.get(id)?.cancel();
  }
}
