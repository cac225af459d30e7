import type { MongoClient } from 'mongodb';

/** For a process that was itself at rest: what has arrived meanwhile is read before this is over. */
const graceMs = 1_000;

/**
 * Notices that the driver has stopped looking at a server, and calls back once for each time.
 *
 * It looks by heartbeats, each of which ends within a time limit. But one that is written in the
 * instant in which the server closes the connection waits for ever (driver 7.8: `writeCommand`
 * awaits a `drain` of a socket that is destroyed): the server then stays unknown, whatever becomes
 * of it. It takes an operation under way when a server ends that does not stream its state.
 */
export function watchHeartbeats(client: MongoClient, onLost: () => void): void {
  const { connectTimeoutMS, heartbeatFrequencyMS } = client.options;
  // No limit, by the URL's wish.
  if (connectTimeoutMS === 0) return;
  const pending = new Map<string, NodeJS.Timeout>();
  const ended = (address: string): void => {
    clearTimeout(pending.get(address));
    pending.delete(address);
  };
  client.on('serverHeartbeatStarted', ({ connectionId: address, awaited }) => {
    ended(address);
    // To connect and to ask have the limit each; a server that streams its state answers late.
    const limitMs = 2 * connectTimeoutMS + (awaited ? heartbeatFrequencyMS : 0);
    const later = (ms: number, action: () => void) =>
      pending.set(address, setTimeout(action, ms).unref());
    later(limitMs, () => later(graceMs, onLost));
  });
  client.on('serverHeartbeatSucceeded', ({ connectionId }) => ended(connectionId));
  client.on('serverHeartbeatFailed', ({ connectionId }) => ended(connectionId));
  client.on('serverClosed', ({ address }) => ended(address));
}
