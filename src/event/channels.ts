/** One end of a channel that messages go through, as a thread that records messages says it. */

/**
 *   worker         a Worker object: its key is the id of the worker's thread
 *   creator        the scope of a dedicated worker: its key is the id of its own thread
 *   port           a MessagePort: its key is the pair's, and which of the two ends it is, where its MessageChannel was made here
 *   shared-worker  a port between a page and a SharedWorker: its key is the worker's address and name
 *   broadcast      a BroadcastChannel: its key is its name
 */
export const CHANNEL_KINDS = ['worker', 'creator', 'port', 'shared-worker', 'broadcast'] as const;
export type ChannelKind = (typeof CHANNEL_KINDS)[number];

export interface ChannelDefinition {
  kind: 'channel';
  id: number;
  /** A page may say anything here: what is none of these isn't an end of a channel. */
  channel: ChannelKind;
  /** What ends of one channel have in common; '' = not known. Said again, with the same id, once it is known. */
  key: string;
  /** Of a port: which of its pair, 1 or 2; 0 = not known. */
  side: number;
}

/** Whether ends with one key are ends of one channel: the key is an id, not a name that others may have, too. */
export const hasOwnKey = (channel: ChannelKind): boolean =>
  channel === 'worker' || channel === 'creator' || channel === 'port';
