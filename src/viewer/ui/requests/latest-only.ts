/**
 * Work that is requested more often than it can be done: it runs once at a time, and only the
 * latest of the requests in between is kept.
 */
export class LatestOnly<T> {
  private wish: { of: T } | null = null;
  private working = false;

  /**
   * @param work `wanted` reports whether its request is still the newest; other results are useless
   */
  constructor(
    private readonly work: (wish: T, wanted: () => boolean) => Promise<void>,
    private readonly onError: (error: unknown) => void,
  ) {}

  want(wish: T): void {
    this.wish = { of: wish };
    if (!this.working) void this.run();
  }
  /** Drop the pending request. */
  forget(): void {
    this.wish = null;
  }

  private async run(): Promise<void> {
    this.working = true;
    while (this.wish) {
      const { wish } = this;
      const wanted = (): boolean => this.wish === wish;
      try {
        await this.work(wish.of, wanted);
      } catch (error) {
        if (wanted()) this.onError(error);
      }
      if (wanted()) this.wish = null;
    }
    this.working = false;
  }
}
