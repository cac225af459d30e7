import { randomBytes } from 'node:crypto';
import type { Db } from 'mongodb';
import { newOrganisationId } from './identifiers.ts';
import { findOrInsert } from './upsert.ts';

/** What there is one of in a deployment. */
export interface Deployment {
  readonly _id: 'deployment';
  /** Self-hosted projects and keys belong to this organisation unless another is named. */
  readonly defaultOrganisation: string;
  /** Marks requests as background work; see background-token.ts. */
  readonly backgroundSecret: string;
}

/** The deployment's own document, made by whoever asks first. */
export function findDeployment(db: Db): Promise<Deployment> {
  return findOrInsert(db.collection<Deployment>('deployments'), 'deployment', {
    defaultOrganisation: newOrganisationId(),
    backgroundSecret: randomBytes(32).toString('base64url'),
  });
}
