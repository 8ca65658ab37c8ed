/** Entry of the store's worker: one session, served to the page that started it. */
import { serve, type Channel } from '../rpc.ts';
import type { SessionPush } from '../session-api.ts';
import { Session } from './session.ts';

const push = serve(self as unknown as Channel, new Session((message: SessionPush) => push(message)));
