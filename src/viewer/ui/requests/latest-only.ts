/** Work that is requested more often than it can be done: one run at a time, and of the requests that come meanwhile only the latest. */
export class LatestOnly<T> {
  private wish: { of: T } | null = null;
  private working = false;

  /** @param work `wanted` tells whether its wish is still the newest: what comes of another is of no use */
  constructor(
    private readonly work: (wish: T, wanted: () => boolean) => Promise<void>,
    private readonly onError: (error: unknown) => void,
  ) {}

  want(wish: T): void {
    this.wish = { of: wish };
    if (!this.working) void this.run();
  }
  /** Nothing is wished for any more. */
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
