import { randomBytes } from 'node:crypto';
import type { Db } from 'mongodb';
import { newOrganisationId } from './identifiers.ts';
import { findOrInsert } from './upsert.ts';

/** The only document of its collection. */
export interface DeploymentRecord {
  readonly _id: 'deployment';
  /** The organisation of projects and keys for which no other is given. */
  readonly defaultOrganisation: string;
  /** Signs the tokens of background requests; see background-token.ts. */
  readonly backgroundSecret: string;
}

/** Created on first use. */
export function findDeployment(db: Db): Promise<DeploymentRecord> {
  return findOrInsert(db.collection<DeploymentRecord>('deployments'), 'deployment', {
    defaultOrganisation: newOrganisationId(),
    backgroundSecret: randomBytes(32).toString('base64url'),
  });
}
