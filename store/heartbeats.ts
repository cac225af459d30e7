import type { MongoClient } from 'mongodb';

/** After a suspension, a process needs this time to read the responses that have arrived. */
const graceMs = 1_000;

/**
 * Calls `onLost` each time the driver stops monitoring a server.
 *
 * A heartbeat that is written while the server closes the connection never ends (driver 7.8:
 * `writeCommand` awaits `drain` on a destroyed socket), and the server stays `Unknown`, even after it
 * recovers. This happens when a server that does not stream its state stops during an operation.
 */
export function watchHeartbeats(client: MongoClient, onLost: () => void): void {
  const { connectTimeoutMS, heartbeatFrequencyMS } = client.options;
  // The URL disables the timeout.
  if (connectTimeoutMS === 0) return;
  const pending = new Map<string, NodeJS.Timeout>();
  const ended = (address: string): void => {
    clearTimeout(pending.get(address));
    pending.delete(address);
  };
  client.on('serverHeartbeatStarted', ({ connectionId: address, awaited }) => {
    ended(address);
    // Connect and hello have this timeout each; a streaming server responds only after the
    // interval.
    const limitMs = 2 * connectTimeoutMS + (awaited ? heartbeatFrequencyMS : 0);
    const later = (ms: number, action: () => void) =>
      pending.set(address, setTimeout(action, ms).unref());
    later(limitMs, () => later(graceMs, onLost));
  });
  client.on('serverHeartbeatSucceeded', ({ connectionId }) => ended(connectionId));
  client.on('serverHeartbeatFailed', ({ connectionId }) => ended(connectionId));
  client.on('serverClosed', ({ address }) => ended(address));
}
