/**
 * Entry point of the store's worker, with one session for the page that started it; and of the
 * workers that unpack files and write the journal for it.
 */
import { serve, type Channel } from '../../protocol/rpc.ts';
import type { SessionPush } from '../../protocol/session.ts';
import { Session } from './session.ts';
import { serveJournal, JOURNAL } from './journal-worker.ts';
import { serveUnpacking, UNPACKER } from './unpacker.ts';
import { channelOfHelper } from '../../protocol/workers.ts';

if (self.name === UNPACKER) void channelOfHelper().then(serveUnpacking);
else if (self.name === JOURNAL) void channelOfHelper().then(serveJournal);
else {
  const session = new Session((message: SessionPush) => push(message));
  const push = serve(self as unknown as Channel, session);
  // report errors of timers and messages; stored data is intact and may be saved
  self.addEventListener('error', (event) => {
    event.preventDefault();
    session.stumbled(event.message);
  });
}
