/** Documents of a page over CDP: each gets the hook and a script that relays for it (content/over-cdp.ts), and their threads speak to one recording. */
import type { CDPSession } from 'puppeteer-core';
import { CONNECT_HEAR, CONNECT_LEAVE, CONNECT_SAY, CONNECT_WORLD } from '../protocol/connect.ts';
import { PartReader, toParts } from '../protocol/json-wire.ts';
import { isRelayMessage } from '../protocol/messages.ts';
import { RelayEnd } from '../protocol/relay.ts';

interface Scripts {
  /** In an isolated world. */
  relay: string;
  /** In the page's own. */
  hook: string;
}
/** One document's. */
interface Relay {
  readonly session: CDPSession;
  readonly context: number;
  readonly reader: PartReader;
  readonly end: RelayEnd;
}

export class PageRelays {
  private readonly relays = new Map<string, Relay>();
  /** Of all documents, also those that were left: what they said last is still on its way. */
  private readonly ends: RelayEnd[] = [];
  private readonly sessions = new Map<CDPSession, string[]>();

  /** @param onPort takes the ports of threads, as if they had been handed over */
  constructor(
    private readonly scripts: Scripts,
    private readonly onPort: (port: MessagePort) => void,
  ) {}

  /** Each new document of this page or frame, and of frames in other processes below it, has the scripts from now on. */
  async follow(session: CDPSession): Promise<void> {
    const ids: string[] = [];
    this.sessions.set(session, ids);
    // the next document may be in another process, where numbers of contexts begin again
    session.on('Runtime.executionContextsCleared', () => {
      for (const [key, relay] of this.relays)
        if (relay.session === session) this.relays.delete(key);
    });
    session.on('Target.detachedFromTarget', ({ sessionId }) => {
      for (const gone of this.sessions.keys())
        if (gone.id() === sessionId) this.sessions.delete(gone); // it would answer nothing
    });
    session.on('Runtime.bindingCalled', ({ name, payload, executionContextId }) => {
      if (name === CONNECT_SAY) this.hear(session, executionContextId, payload);
    });
    session.on('Target.attachedToTarget', ({ sessionId }) => {
      const frame = session.connection()?.session(sessionId);
      if (!frame) return;
      // a frame that is held answers some commands only when it runs: none is waited for, and all are done in their order
      void this.follow(frame).catch(() => {}); // it has gone
      void frame.send('Runtime.runIfWaitingForDebugger').catch(() => {});
    });
    const scripts = [
      { source: this.scripts.relay, worldName: CONNECT_WORLD },
      { source: this.scripts.hook },
    ];
    const answers = await Promise.all([
      ...scripts.map((script) => session.send('Page.addScriptToEvaluateOnNewDocument', script)),
      session.send('Page.enable'),
      session.send('Runtime.enable'), // else bindings call nothing
      session.send('Runtime.addBinding', {
        name: CONNECT_SAY,
        executionContextName: CONNECT_WORLD,
      }),
      session.send('Target.setAutoAttach', {
        autoAttach: true,
        waitForDebuggerOnStart: true,
        flatten: true,
        filter: [{ type: 'iframe' }],
      }),
    ]);
    for (const answer of answers) if (answer && 'identifier' in answer) ids.push(answer.identifier);
  }

  private hear(session: CDPSession, context: number, payload: string): void {
    const key = `${session.id()} ${context}`;
    let relay = this.relays.get(key);
    if (!relay) {
      const end = new RelayEnd(
        key,
        (message) => {
          for (const part of toParts(message))
            void this.call(relay!, CONNECT_HEAR, JSON.stringify(part));
        },
        this.onPort,
      );
      relay = { session, context, reader: new PartReader(), end };
      this.relays.set(key, relay);
      this.ends.push(end);
    }
    const whole = relay.reader.take(JSON.parse(payload));
    if (whole && isRelayMessage(whole.message)) relay.end.receive(whole.message);
  }

  /** In the document's isolated world. It may have gone. */
  private call({ session, context }: Relay, name: string, text = ''): Promise<void> {
    return session
      .send('Runtime.evaluate', {
        expression: `${name}(${JSON.stringify(text)})`,
        contextId: context,
      })
      .then(
        () => {},
        () => {},
      );
  }

  /** Documents have nothing of ours any more, and new ones get nothing. */
  async leave(): Promise<void> {
    await Promise.all([...this.relays.values()].map((relay) => this.call(relay, CONNECT_LEAVE)));
    for (const end of this.ends) end.close();
    // frames before their page: with its session theirs would go, without an answer
    for (const [session, ids] of [...this.sessions].reverse()) {
      for (const identifier of ids)
        await session
          .send('Page.removeScriptToEvaluateOnNewDocument', { identifier })
          .catch(() => {}); // its frame has gone
      await session.detach().catch(() => {});
    }
  }
}
