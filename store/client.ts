import { type Db, MongoClient } from 'mongodb';
import { StoreUrlInvalid } from './outage.ts';

/** The URL's database, or else `image_delivery` (the driver's default is `test`). */
function parseDatabase(url: string): string {
  const named = /^mongodb(?:\+srv)?:\/\/[^/]*\/([^?]+)/.exec(url)?.[1];
  return named === undefined ? 'image_delivery' : decodeURIComponent(named);
}

/** Runs after each command's reply or failure, with the duration in whole ms. */
export type OnCommand = (command: string, ms: number, ok: boolean) => void;

export interface ClientOptions {
  readonly onCommand?: OnCommand;
  /**
   * Whether to keep all connections open, because a slow store can take longer to accept a
   * connection than an operation's timeout.
   */
  readonly keepsConnections?: boolean;
}

/** Long enough for an election after a failover, short enough for a pending HTTP request. */
const timeoutMs = 5_000;
const maxConnections = 10;

/**
 * Returns an unconnected client and its database.
 * @throws StoreUrlInvalid
 */
export function createClient(
  url: string,
  { onCommand, keepsConnections = false }: ClientOptions = {},
): { client: MongoClient; db: Db } {
  // The driver would parse a part of the credentials as a host, and show it in errors.
  if (/^[^?]*@[^?]*@/.test(url)) {
    throw new StoreUrlInvalid('an @ within the user name or the password must be written as %40');
  }
  try {
    const client = new MongoClient(url, {
      appName: 'image-delivery',
      serverSelectionTimeoutMS: timeoutMs,
      connectTimeoutMS: timeoutMs,
      // A server can accept connections without responding.
      socketTimeoutMS: timeoutMs,
      waitQueueTimeoutMS: timeoutMs,
      maxPoolSize: maxConnections,
      minPoolSize: keepsConnections ? maxConnections : 0,
      ignoreUndefined: true,
      monitorCommands: onCommand !== undefined,
    });
    if (onCommand !== undefined) {
      client.on('commandSucceeded', (event) => onCommand(event.commandName, event.duration, true));
      client.on('commandFailed', (event) => onCommand(event.commandName, event.duration, false));
    }
    return { client, db: client.db(parseDatabase(url)) };
  } catch (error) {
    throw new StoreUrlInvalid(error);
  }
}
