/**
 * Entry of the store's worker: one session, served to the page that started it; and of the workers that unpack files and write the
 * journal for it.
 */
import { serve, type Channel } from '../../protocol/rpc.ts';
import type { SessionPush } from '../../protocol/session.ts';
import { Session } from './session.ts';
import { serveJournal, JOURNAL } from './journal-worker.ts';
import { serveUnpacking, UNPACKER } from './unpacker.ts';

const channel = self as unknown as Channel;
if (self.name === UNPACKER) serveUnpacking(channel);
else if (self.name === JOURNAL) serveJournal(channel);
else {
  const session = new Session((message: SessionPush) => push(message));
  const push = serve(channel, session);
  // what a timer or a message stumbles over is said; what is stored is there, and may be saved
  self.addEventListener('error', (event) => {
    event.preventDefault();
    session.stumbled(event.message);
  });
}
