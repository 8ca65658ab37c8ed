/** One end of a channel of messages, as reported by a thread that records messages. */

/**
 *   worker         a Worker object: its key is the id of the worker's thread
 *   creator        the scope of a dedicated worker: its key is the id of its own thread
 *   port           a MessagePort: its key is the pair's, if its MessageChannel was made here
 *   shared-worker  a port between a page and a SharedWorker: its key is the worker's URL and name
 *   broadcast      a BroadcastChannel: its key is its name
 */
export const CHANNEL_KINDS = ['worker', 'creator', 'port', 'shared-worker', 'broadcast'] as const;
export type ChannelKind = (typeof CHANNEL_KINDS)[number];

export interface ChannelDefinition {
  kind: 'channel';
  id: number;
  /** A page may put anything here: other values aren't an end of a channel. */
  channel: ChannelKind;
  /**
   * Equal for the ends of one channel; '' = not known. Emitted again, with the same id, once it is
   * known.
   */
  key: string;
  /** Which port of its pair: 1 or 2; 0 = not a port, or not known. */
  side: number;
}

/**
 * Whether the key is a unique id, so that ends with one key belong to one channel. Other keys are
 * names, which several channels may have.
 */
export const hasOwnKey = (channel: ChannelKind): boolean =>
  channel === 'worker' || channel === 'creator' || channel === 'port';
