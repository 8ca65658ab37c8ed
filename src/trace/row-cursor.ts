/** Follows a thread row by row as it grows. */

/** A thread as far as this follows it. */
export interface Growing {
  readonly forgotten: number;
}

export class RowCursor {
  /** The first row that was not taken in yet. */
  next = 0;
  private forgotten: number;

  constructor(private readonly thread: Growing) {
    this.forgotten = thread.forgotten;
  }

  /** @returns whether rows were forgotten since the last time: the others have other places now, so all begins again with row 0 */
  restarted(): boolean {
    const { forgotten } = this.thread;
    if (this.forgotten === forgotten) return false;
    this.forgotten = forgotten;
    this.next = 0;
    return true;
  }
}
