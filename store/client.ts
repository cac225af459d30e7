import { type Db, MongoClient } from 'mongodb';
import { StoreUrlInvalid } from './outage.ts';

/** The database that a URL names; the driver's own default, `test`, is nobody's wish. */
function databaseOf(url: string): string {
  const named = /^mongodb(?:\+srv)?:\/\/[^/]*\/([^?]+)/.exec(url)?.[1];
  return named === undefined ? 'image_delivery' : decodeURIComponent(named);
}

/** Long enough for a fail-over's election to be seen, short enough to answer a request. */
const answerWithinMs = 5_000;

/**
 * A client that is not yet connected, and its database.
 * @throws StoreUrlInvalid
 */
export function clientOf(url: string): { client: MongoClient; db: Db } {
  // What follows the first of several would be taken, and told, as the host.
  if (/^[^?]*@[^?]*@/.test(url)) {
    throw new StoreUrlInvalid('an @ within the user name or the password must be written as %40');
  }
  try {
    const client = new MongoClient(url, {
      appName: 'image-delivery',
      serverSelectionTimeoutMS: answerWithinMs,
      connectTimeoutMS: answerWithinMs,
      // A server that accepted a connection and went silent.
      socketTimeoutMS: answerWithinMs,
      waitQueueTimeoutMS: answerWithinMs,
      maxPoolSize: 10,
      ignoreUndefined: true,
    });
    return { client, db: client.db(databaseOf(url)) };
  } catch (error) {
    throw new StoreUrlInvalid(error);
  }
}
