/**
 * Drives a WebKit page over the Web Inspector protocol. Each command is wrapped in
 * `Target.sendMessageToTarget`. A navigation to another site creates a new target, which stays
 * paused until its start scripts are set. The methods are those of a puppeteer Page that tests for
 * both browsers use.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'puppeteer-core';
import { WebSocket } from 'ws';

const COMMAND_MS = 60_000;
const POLL_MS = 50;
/** The inspector's server closes the connection if a message has longer frames. */
const MAX_FRAME_BYTES = 128 << 10;

interface Remote {
  type: string;
  value?: unknown;
  className?: string;
  objectId?: string;
  description?: string;
}
interface Evaluated {
  result: Remote;
  wasThrown?: boolean;
}
/** A JavaScript world in a frame: the page's own, or an isolated one with this name. */
interface World {
  id: number;
  name: string;
  frameId: string;
}
interface Incoming {
  id?: number;
  method?: string;
  params?: {
    message?: string;
    targetInfo?: TargetInfo;
    newTargetId?: string;
    oldTargetId?: string;
    targetId?: string;
    context?: World;
  };
  result?: unknown;
  error?: { message: string };
}
interface TargetInfo {
  targetId: string;
  type: string;
  isProvisional?: boolean;
  isPaused?: boolean;
}
interface Waiting {
  method: string;
  target: string;
  done: (result: unknown) => void;
  failed: (error: Error) => void;
}

type Script<A extends unknown[], R> = string | ((...args: A) => R);

const asText = (script: Script<never[], unknown>, args: unknown[]): string =>
  typeof script === 'string'
    ? script
    : `(${String(script)})(${args.map((arg) => JSON.stringify(arg)).join()})`;

export class InspectedPage {
  private target = '';
  private count = 0;
  private startScript = '';
  private readonly waiting = new Map<number, Waiting>();
  /** Oldest first. If a frame has several with the same name, only the newest is alive. */
  private readonly worlds: (World & { target: string })[] = [];

  private constructor(private readonly socket: WebSocket) {}

  /** @param url of a target's WebSocket. Resolves once a page can be driven. */
  static async connect(url: string): Promise<InspectedPage> {
    const socket = new WebSocket(url, { perMessageDeflate: false });
    const page = new InspectedPage(socket);
    socket.on('message', (data: Buffer) => page.receive(JSON.parse(data.toString()) as Incoming));
    await new Promise((done, failed) => socket.once('open', done).once('error', failed));
    socket.on('close', () => page.lost());
    page.post('Target.setPauseOnStart', { pauseOnStart: true });
    for (const end = Date.now() + 10_000; !page.target; await sleep(POLL_MS))
      if (Date.now() > end) throw new Error('the inspector names no page within 10 s');
    return page;
  }

  close(): void {
    this.socket.close();
  }

  /** For code that expects puppeteer. Only the methods below exist. */
  asPuppeteer(): Page {
    return this as unknown as Page;
  }

  /**
   * If the script is text, its last value is returned. Promises are awaited.
   * @throws what it throws
   */
  async evaluate<A extends unknown[], R>(script: Script<A, R>, ...args: A): Promise<Awaited<R>> {
    const first = await this.command<Evaluated>('Runtime.evaluate', {
      expression: asText(script, args),
    });
    return (await this.valueOf(first)) as Awaited<R>;
  }

  /** @throws if nothing matches, and what the script throws */
  $eval<R>(selector: string, script: (element: Element) => R): Promise<Awaited<R>> {
    return this.evaluate(
      `(${String(script)})(document.querySelector(${JSON.stringify(selector)}))`,
    );
  }
  $$eval<R>(selector: string, script: (elements: Element[]) => R): Promise<Awaited<R>> {
    const all = `[...document.querySelectorAll(${JSON.stringify(selector)})]`;
    return this.evaluate(`(${String(script)})(${all})`);
  }

  /**
   * Evaluates in the isolated world with this name, in every frame that has one.
   * @returns a value for each frame, oldest frame first
   * @throws if no frame has such a world, and what the script throws
   */
  async evaluateInWorlds<A extends unknown[], R>(
    name: string,
    script: Script<A, R>,
    ...args: A
  ): Promise<Awaited<R>[]> {
    const found = new Map(
      this.worlds
        .filter((w) => w.name === name && w.target === this.target)
        .map((w) => [w.frameId, w.id]),
    );
    if (found.size === 0) throw new Error(`no frame has a world "${name}"`);
    const values: Awaited<R>[] = [];
    for (const contextId of found.values())
      values.push(
        (await this.valueOf(
          await this.command('Runtime.evaluate', { expression: asText(script, args), contextId }),
        )) as Awaited<R>,
      );
    return values;
  }

  /**
   * From now on, runs before the first script of every document, after the scripts of earlier
   * calls.
   */
  async evaluateOnNewDocument<A extends unknown[]>(
    script: Script<A, unknown>,
    ...args: A
  ): Promise<void> {
    this.startScript += `${asText(script, args)};\n`;
    await this.arm(this.target);
  }

  /** From now on, documents start without our scripts. */
  async clearStartScripts(): Promise<void> {
    this.startScript = '';
    await this.arm(this.target);
  }

  /** Resolves when the document is complete. */
  async goto(url: string): Promise<void> {
    await this.evaluate('globalThis.vfscopeLeft = true;');
    await this.command('Page.navigate', { url });
    await this.waitForFunction(
      (to: string) =>
        !('vfscopeLeft' in globalThis) &&
        document.readyState === 'complete' &&
        location.href === to,
      {},
      url,
    );
  }

  /**
   * Resolves when the function returns a truthy value. Ignores errors, which navigations cause.
   * @throws after `timeout` ms; 30 s by default
   */
  async waitForFunction<A extends unknown[]>(
    script: Script<A, unknown>,
    { timeout = 30_000 } = {},
    ...args: A
  ): Promise<void> {
    let last: unknown = null;
    for (const end = Date.now() + timeout; Date.now() < end; await sleep(POLL_MS)) {
      try {
        if (await this.evaluate(script, ...args)) return;
        last = null;
      } catch (e) {
        last = e; // the document is unloading, or has no body yet
      }
    }
    throw new Error(`waited ${timeout} ms in vain for ${String(script)}`, { cause: last });
  }

  /** A screenshot of the window as PNG. */
  async screenshot(width = 1200, height = 800): Promise<Buffer> {
    const { dataURL } = await this.command<{ dataURL: string }>('Page.snapshotRect', {
      x: 0,
      y: 0,
      width,
      height,
      coordinateSystem: 'Viewport',
    });
    return Buffer.from(dataURL.slice(dataURL.indexOf(',') + 1), 'base64');
  }

  private async valueOf({ result, wasThrown }: Evaluated): Promise<unknown> {
    if (wasThrown) throw new Error(result.description ?? String(result.value));
    const { objectId } = result;
    if (!objectId) return result.value;
    if (result.className === 'Promise')
      return this.valueOf(
        await this.command('Runtime.awaitPromise', {
          promiseObjectId: objectId,
          returnByValue: true,
        }),
      );
    return this.valueOf(
      await this.command('Runtime.callFunctionOn', {
        objectId,
        functionDeclaration: 'function () { return this; }',
        returnByValue: true,
      }),
    );
  }

  private async arm(target: string): Promise<void> {
    await this.command(
      'Page.setBootstrapScript',
      this.startScript ? { source: this.startScript } : {},
      target,
    );
  }

  /**
   * Sends a command to a target, by default the displayed one. @throws its error; also if there is
   * no answer within a minute
   */
  command<R>(method: string, params: object, target = this.target): Promise<R> {
    const id = ++this.count;
    return new Promise<R>((resolve, reject) => {
      const timer = setTimeout(
        () => this.settle(id)?.failed(new Error(`${method}: no answer within ${COMMAND_MS} ms`)),
        COMMAND_MS,
      );
      const settled =
        <T>(then: (value: T) => void) =>
        (value: T): void => {
          clearTimeout(timer);
          then(value);
        };
      this.waiting.set(id, {
        method,
        target,
        done: settled(resolve as (result: unknown) => void),
        failed: settled(reject),
      });
      this.post('Target.sendMessageToTarget', {
        targetId: target,
        message: JSON.stringify({ id, method, params }),
      });
    });
  }

  private post(method: string, params: object): void {
    const message = Buffer.from(JSON.stringify({ id: ++this.count, method, params }));
    for (let at = 0; at < message.length; at += MAX_FRAME_BYTES) {
      const end = at + MAX_FRAME_BYTES;
      this.socket.send(message.subarray(at, end), { binary: false, fin: end >= message.length });
    }
  }

  private settle(id: number): Waiting | undefined {
    const found = this.waiting.get(id);
    this.waiting.delete(id);
    return found;
  }

  private receive({ method, params = {} }: Incoming): void {
    if (method === 'Target.targetCreated') this.begin(params.targetInfo!);
    else if (method === 'Target.didCommitProvisionalTarget') this.target = params.newTargetId!;
    else if (method === 'Target.targetDestroyed') this.end(params.targetId!);
    else if (method === 'Target.dispatchMessageFromTarget') {
      const inner = JSON.parse(params.message!) as Incoming;
      if (inner.method === 'Runtime.executionContextCreated')
        this.worlds.push({ ...inner.params!.context!, target: params.targetId! });
      const found = inner.id === undefined ? undefined : this.settle(inner.id);
      if (inner.error) found?.failed(new Error(`${found.method}: ${inner.error.message}`));
      else found?.done(inner.result);
    }
  }

  private begin({ targetId, type, isProvisional, isPaused }: TargetInfo): void {
    if (type !== 'page') return;
    if (!isProvisional) this.target = targetId;
    this.command('Page.enable', {}, targetId)
      .then(() => this.command('Runtime.enable', {}, targetId))
      .then(() => this.arm(targetId))
      // the target is gone, so commands that wait for it fail
      .catch((e: unknown) => console.warn('a page starts without its scripts:', e))
      .finally(() => isPaused && this.post('Target.resume', { targetId }))
      .catch(() => undefined);
  }

  private lost(): void {
    for (const [id, { method }] of this.waiting)
      this.settle(id)?.failed(new Error(`${method}: the inspector has hung up`));
  }

  private end(target: string): void {
    for (const [id, entry] of this.waiting)
      if (entry.target === target)
        this.settle(id)?.failed(new Error(`${entry.method}: the page went`));
  }
}
