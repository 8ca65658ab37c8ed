/** Entry of the store's worker: one session, served to the page that started it; and of the worker that unpacks files for it. */
import { serve, type Channel } from '../rpc.ts';
import type { SessionPush } from '../session-api.ts';
import { Session } from './session.ts';
import { serveUnpacking, UNPACKER } from './unpacker.ts';

const channel = self as unknown as Channel;
if (self.name === UNPACKER) serveUnpacking(channel);
else {
  const push = serve(channel, new Session((message: SessionPush) => push(message)));
}
