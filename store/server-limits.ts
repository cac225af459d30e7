import type { Db } from 'mongodb';

/** Describes the limits of the store's server for the log; returns null for MongoDB. */
export async function serverLimits(db: Db): Promise<string | null> {
  // Treats a server that refuses the command to this user as MongoDB.
  const info = await db.command({ buildInfo: 1 }).catch(() => null);
  if (info?.['embedded'] === true) {
    return 'the embedded store serves this machine only; set SERVICE_MONGODB_URL for several machines';
  }
  const ferretdb: unknown = info?.['ferretdb']?.version;
  if (ferretdb === undefined) return null;
  return `FerretDB ${ferretdb}: concurrent writes of one document wait for each other, and those that wait for more than 1.5 s get 503`;
}
