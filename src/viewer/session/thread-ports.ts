/**
 * The lines of a recording: receives what threads send, acknowledges it, and adopts the lines of
 * workers. Input is untrusted (a page can hold the other end): whatever is malformed, or reports
 * for a thread of another line, is counted and ignored.
 */
import { PROTOCOL_VERSION, checkedThreadMessage } from '../../protocol/messages.ts';
import { MAX_THREADS } from '../../trace/file/format.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import { isCached, lastEndUs } from '../../trace/thread-end.ts';
import { BatchQueue } from './batch-queue.ts';
import type { Line } from './line.ts';

/**
 * Maximum threads and ports at a time, more than any honest page has. Limits a page that keeps
 * saying hello.
 */
const MAX_ALIVE = 2000;
const MAX_PORTS = 4000;

interface PortEvents {
  /**
   * Rows from `firstNew` on are new in this thread; `lateEnds` are earlier rows that have ended.
   */
  onBatch(thread: ThreadStore, firstNew: number, lateEnds: number[], bytes: number): void;
  /** A thread came or went. */
  onThreads(): void;
  onProblem(text: string): void;
}

export class ThreadPorts {
  /** Number of rejected messages. */
  ignored = 0;
  private readonly ports = new Map<Line, Set<string>>();
  private readonly alive = new Set<string>();
  private readonly known = new Set<string>();
  /** Shared and service workers, by the page that relays for them. */
  private readonly relayed = new Map<string, string | null>();
  /** Those assumed to have ended with their page. */
  private readonly gone = new Set<string>();
  /** Threads reported as ended before they said hello. */
  private readonly early = new Set<string>();
  private stopping = false;
  private onIdle: (() => void) | null = null;

  constructor(
    private readonly store: TraceStore,
    private readonly events: PortEvents,
    private readonly queue = new BatchQueue(),
  ) {}

  /** An app is busy, and its batches wait until it is idle. */
  get waits(): boolean {
    return this.queue.waits;
  }

  /**
   * @param parent the thread that handed over this line; parent of threads that don't know their
   * creator
   */
  attach(port: Line, parent: string | null = null): void {
    if (this.ports.size >= MAX_PORTS) this.closeDead();
    if (this.ports.size >= MAX_PORTS) {
      this.ignored++;
      port.close();
      return;
    }
    this.ports.set(port, new Set());
    port.listen(
      (said, moved) => this.receive(port, said, moved, parent),
      () => this.ignored++,
    );
    if (this.stopping) port.post({ k: 'stop' });
  }

  /** Ports whose threads have all said bye. */
  private closeDead(): void {
    for (const [port, own] of this.ports) {
      if (own.size === 0 || [...own].some((id) => this.alive.has(id))) continue;
      this.ports.delete(port);
      port.close();
    }
  }

  private receive(port: Line, said: unknown, moved: readonly Line[], parent: string | null): void {
    const own = this.ports.get(port);
    const message = checkedThreadMessage(said);
    if (!own || !message) {
      this.ignored++;
      return;
    }
    switch (message.k) {
      case 'hello': {
        const { thread, timeOrigin, protocol } = message;
        if (protocol !== PROTOCOL_VERSION) {
          this.ignored++;
          this.events.onProblem(
            `The page and this panel are from different versions of vfscope (protocol ${protocol} and ${PROTOCOL_VERSION}). Reload the page and reopen DevTools.`,
          );
          return;
        }
        if (this.store.threads.length >= MAX_THREADS && !this.known.has(thread.id))
          this.events.onProblem(
            `The recording has ${MAX_THREADS} threads, the maximum. Newer threads aren't recorded. Stop and save, then record again.`,
          );
        if (
          this.known.has(thread.id) ||
          this.alive.size >= MAX_ALIVE ||
          this.store.threads.length >= MAX_THREADS
        ) {
          // a shared worker outlives the page that relayed for it, and reconnects through the next
          // one
          if (this.relayed.has(thread.id)) this.movesOn(thread.id, own, parent);
          else if (this.isMaker(thread.id, own, parent)) own.add(thread.id);
          else if (!own.has(thread.id)) this.ignored++;
          return;
        }
        own.add(thread.id);
        this.known.add(thread.id);
        const isGone = this.early.delete(thread.id);
        if (!isGone) this.alive.add(thread.id);
        if (
          thread.kind === 'shared-worker' ||
          thread.kind === 'service-worker' ||
          (thread.parent !== null && this.relayed.has(thread.parent)) // it comes by the same line
        )
          this.relayed.set(thread.id, parent);
        this.store.thread({
          ...thread,
          parent: thread.kind === 'worker' ? (thread.parent ?? parent) : thread.parent,
          timeOrigin,
        });
        if (isGone) {
          const over = this.store.threadById(thread.id)!;
          this.endsUnheard(over);
          over.ended = 'terminated';
        }
        this.events.onThreads();
        return;
      }
      case 'batch': {
        const { batch } = message;
        const thread = own.has(batch.thread) ? this.store.threadById(batch.thread) : undefined;
        if (!thread) {
          this.ignored++;
          return;
        }
        const bytes = batch.records.byteLength;
        this.queue.add(bytes, () => {
          const firstNew = thread.events.count;
          const lateEnds = thread.append(batch);
          port.post({ k: 'ack', thread: batch.thread, records: thread.received });
          this.events.onBatch(thread, firstNew, lateEnds, bytes);
        });
        return;
      }
      case 'child':
        if (moved[0]) this.attach(moved[0], own.values().next().value);
        else this.ignored++;
        return;
      case 'bye': {
        this.queue.flush();
        const thread = this.store.threadById(message.thread);
        // a worker's creator may report that it has ended; a terminated worker reports nothing,
        // perhaps not even its line
        if (!thread) {
          if (this.early.size < MAX_THREADS) this.early.add(message.thread);
          return;
        }
        if (!(own.has(message.thread) || own.has(thread.info.parent ?? ''))) {
          this.ignored++;
          return;
        }
        // a worker that is read through its page's line has sent everything
        if (own.has(message.thread) && !message.unheard) thread.unknownUntilUs = null;
        else if (message.reason === 'terminated') this.endsUnheard(thread);
        thread.ended ??= message.reason;
        this.alive.delete(message.thread);
        this.gone.delete(message.thread);
        if (message.reason !== 'stopped') this.endWorkersOf(message.thread);
        this.events.onThreads();
        if (this.alive.size === 0) this.onIdle?.();
      }
    }
  }

  /**
   * Until a new worker's own connection carries data, its creator reports for it.
   * @param parent see attach
   */
  private isMaker(id: string, own: Set<string>, parent: string | null): boolean {
    const info = this.store.threadById(id)?.info;
    return (
      info?.kind === 'worker' &&
      info.parent !== null &&
      (own.has(info.parent) || info.parent === parent)
    );
  }

  private movesOn(id: string, own: Set<string>, page: string | null): void {
    const thread = this.store.threadById(id);
    if (!thread) {
      this.ignored++;
      return;
    }
    own.add(id);
    this.relayed.set(id, page);
    if (thread.ended !== null && !this.gone.delete(id)) return; // its last messages are sent again
    this.alive.add(id);
    [thread.ended, thread.unknownUntilUs] = [null, null];
  }

  /** It has ended; what it did after its last batch is lost. */
  private endsUnheard(
    thread: ThreadStore,
    us = (performance.timeOrigin + performance.now() - this.store.originMs) * 1000,
  ): void {
    if (thread.ended === null) thread.unknownUntilUs = us;
  }

  /** @param take gets each dedicated worker of this thread that is no longer alive from now on */
  private workersOf(id: string, take: (worker: ThreadStore) => void): void {
    for (const thread of this.store.threads) {
      const { kind, parent, id: own } = thread.info;
      if (kind === 'worker' && parent === id && this.alive.delete(own)) take(thread);
    }
  }

  /**
   * Workers end with their page and send nothing, so don't wait for them. Earlier messages still
   * arrive. A shared worker ends with its last page, and says hello again if another page relays
   * for it.
   */
  private endWorkersOf(id: string): void {
    for (const [shared, page] of this.relayed) {
      const thread = this.store.threadById(shared);
      if (page !== id || !thread || !this.alive.delete(shared)) continue;
      this.endsUnheard(thread);
      thread.ended ??= 'closed';
      this.gone.add(shared);
    }
    this.workersOf(id, (worker) => {
      this.endsUnheard(worker);
      worker.ended ??= 'closed';
      this.endWorkersOf(worker.info.id);
    });
  }

  /**
   * Pages in the back/forward cache don't answer, nor do their workers, so don't wait for them. A
   * page has sent everything by then. A worker was paused with it, perhaps before it sent.
   */
  private forgetCached(): void {
    const forget = (id: string, us: number): void =>
      this.workersOf(id, (worker) => {
        this.endsUnheard(worker, us);
        forget(worker.info.id, us);
      });
    for (const page of this.store.threads) {
      const { id } = page.info;
      if (!this.alive.has(id) || !isCached(page)) continue;
      this.alive.delete(id);
      forget(id, lastEndUs(page));
    }
  }

  /**
   * Ask every thread to stop. Resolves when all have said bye, or after `timeoutMs`. Ports stay
   * open for stragglers until `close`.
   */
  async stop(timeoutMs: number): Promise<void> {
    this.stopping = true;
    for (const port of this.ports.keys()) port.post({ k: 'stop' });
    this.queue.flush();
    this.forgetCached();
    if (this.alive.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.onIdle = null;
    this.queue.flush();
    for (const id of this.alive) {
      const thread = this.store.threadById(id);
      if (thread) this.endsUnheard(thread);
    }
  }

  close(): void {
    this.queue.drop();
    for (const port of this.ports.keys()) port.close();
    this.ports.clear();
  }
}

/**
 * For a recording that no view shows. Each batch is in the store when its call returns, so the next
 * saved file has it.
 * @param say receives messages for the user
 */
export const unwatched = (
  store: TraceStore,
  say: (text: string) => void,
  onBatch: PortEvents['onBatch'] = () => {},
): ThreadPorts =>
  new ThreadPorts(
    store,
    { onBatch, onThreads: () => {}, onProblem: say },
    new BatchQueue(Infinity),
  );
