import type { Db } from 'mongodb';

const ofEmbedded =
  'the embedded store serves this machine only; SERVICE_MONGODB_URL names one for several';
const ofFerret =
  'concurrent writes of one document wait for each other, and those that wait for more than 1.5 s get 503';

/** What the store's server cannot do, in a sentence without its subject; null for a MongoDB. */
export async function serverLimits(db: Db, isEmbedded: boolean): Promise<string | null> {
  if (isEmbedded) return ofEmbedded;
  // A server may refuse the command to this user, and then is not distinguished.
  const info = await db.command({ buildInfo: 1 }).catch(() => null);
  const ferretdb: unknown = info?.['ferretdb']?.version;
  return ferretdb === undefined ? null : `FerretDB ${ferretdb}: ${ofFerret}`;
}
