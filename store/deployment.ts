import { randomBytes } from 'node:crypto';
import type { Db } from 'mongodb';
import { newOrganisationId } from './identifiers.ts';
import { findOrInsert } from './upsert.ts';

/** Data of the whole deployment; there is one such document. */
export interface Deployment {
  readonly _id: 'deployment';
  /** Self-hosted projects and keys belong to this organisation unless another is named. */
  readonly defaultOrganisation: string;
  /** Signs the tokens of background requests; see background-token.ts. */
  readonly backgroundSecret: string;
}

/** The deployment's document, created on first use. */
export function findDeployment(db: Db): Promise<Deployment> {
  return findOrInsert(db.collection<Deployment>('deployments'), 'deployment', {
    defaultOrganisation: newOrganisationId(),
    backgroundSecret: randomBytes(32).toString('base64url'),
  });
}
