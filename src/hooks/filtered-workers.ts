/**
 * Workers whose own script brings the hook, because the browser puts it there. Nothing is wrapped.
 * This end removes the hook's messages before the app sees them, hands on the worker's port, and
 * reports which workers came without a hook.
 */
import { idOfWorker, isFromWorker, type FromWorker } from './creator-wire.ts';
import { dataOf, listen, now, portsOf, setTimeout } from './natives.ts';
import { NATIVES_DRIVEN } from './source.ts';

/**
 * If a worker's hook sends nothing for this long, the worker runs without one, or its script didn't
 * arrive. The command's recordings are short.
 */
const SILENT_MS = NATIVES_DRIVEN ? 3000 : 10_000;
/** A worker that ends within this time has hardly begun. */
const BEGUN_MS = 250;
const ENDED = 'it ended, or the recording stopped, before its hook answered.';
const UNSEEN =
  "its script came without vfscope's hook, from a source that this browser hides from extensions.";
const SILENT =
  "its hook hasn't answered for 10 s: the script didn't load, or loaded without the hook.";

/** Events of hooked workers. */
export interface WorkerEvents {
  /** Id of this thread. */
  readonly id: string;
  /** A hooked worker runs. The port is the panel's end, where the worker sends its own records. */
  onChild(port: MessagePort): void;
  /** A hooked worker's ring, or its end. */
  onMessage(message: FromWorker): void;
  /** The app has terminated a hooked worker. */
  onTerminated(id: string): void;
}

/** Events of workers whose own script brings the hook. */
interface FilteredEvents extends WorkerEvents {
  /** The hook runs there. */
  onReady(worker: Worker, id: string): void;
  note(reason: string, script: unknown): void;
  /** A worker requests that script. */
  requests(script: unknown): void;
}

export class FilteredWorkers {
  private readonly ids = new WeakMap<object, string>();
  private readonly silent = new WeakSet<object>();
  /** All recently followed workers. */
  private waiting: { ref: WeakRef<Worker>; since: number; script: unknown; cause: string }[] = [];

  constructor(private readonly events: FilteredEvents) {}

  /**
   * A worker that the app has just made.
   * @param script its address, converted to a string only for a note
   * @param cause why it has no hook if it never sends anything; '' = needs no note
   */
  follow(worker: Worker, script: unknown, cause?: string): void {
    if (cause !== '') this.silent.add(worker);
    this.events.requests(script);
    listen(
      worker,
      'message',
      (event) => {
        if (!event.isTrusted) return;
        const data = dataOf(event);
        // the hook speaks first
        const id = this.ids.get(worker) ?? idOfWorker(data);
        if (id === null) return this.without(worker, script, cause ?? UNSEEN);
        if (!isFromWorker(data, id)) return;
        event.stopImmediatePropagation();
        this.silent.delete(worker);
        this.ids.set(worker, id);
        this.receive(data, worker, script, portsOf(event)[0]);
      },
      true,
    );
    // it doesn't load, or throws: the app gets the error
    listen(worker, 'error', () => this.silent.delete(worker));
    const ref = new WeakRef(worker);
    const one = { ref, since: now(), script, cause: cause ?? ENDED };
    this.waiting.push(one);
    setTimeout(() => {
      this.waiting = this.waiting.filter((other) => other !== one);
      const there = ref.deref();
      if (there) this.without(there, script, cause ?? SILENT);
    }, SILENT_MS);
  }

  /**
   * Some workers end now, or nothing more will arrive from them. Those that never sent anything run
   * without our hook.
   * @param worker null = all
   */
  judge(worker: object | null): void {
    for (const { ref, since, script, cause } of this.waiting) {
      const there = ref.deref();
      if (!there || (worker && there !== worker)) continue;
      if (now() - since >= BEGUN_MS) this.without(there, script, cause);
      this.silent.delete(there);
    }
  }

  private receive(
    message: FromWorker,
    worker: Worker,
    script: unknown,
    port: MessagePort | undefined,
  ): void {
    const { events } = this;
    if (message.k === 'ready') {
      if (port) events.onChild(port);
      events.onReady(worker, message.id);
    } else if (message.k === 'failed') events.note(`its hook failed: ${message.reason}.`, script);
    else {
      const from = message.k === 'said' ? message.message : message;
      if (from.k === 'ring' || from.k === 'hello') from.thread.parent ??= events.id;
      events.onMessage(message);
    }
  }

  /** The app has terminated a worker. */
  terminated(worker: object): void {
    this.judge(worker);
    const id = this.ids.get(worker);
    if (id !== undefined) this.events.onTerminated(id);
  }

  private without(worker: object, script: unknown, cause: string): void {
    if (this.silent.delete(worker)) this.events.note(cause, script);
  }
}
