/** Follows a thread row by row as it grows. */

/** The part of a thread that this needs. */
export interface Growing {
  readonly forgotten: number;
}

export class RowCursor {
  /** The first row that hasn't been taken in. */
  next = 0;
  private forgotten: number;

  constructor(private readonly thread: Growing) {
    this.forgotten = thread.forgotten;
  }

  /**
   * @returns whether rows were forgotten since the last call: the others have moved, so the cursor
   * starts again at row 0
   */
  restarted(): boolean {
    const { forgotten } = this.thread;
    if (this.forgotten === forgotten) return false;
    this.forgotten = forgotten;
    this.next = 0;
    return true;
  }
}
