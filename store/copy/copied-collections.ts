import type { Document } from 'mongodb';
import { markChange } from '../project-changes.ts';
import { jobsCollection } from '../waiting-jobs.ts';
import type { StoreIds } from './store-ids.ts';
import { type Share, usageShareOf } from './usage-share.ts';

/** How the documents of a collection are copied to another store. */
export interface CopiedCollection {
  readonly name: string;
  /** False for a document that is not copied. */
  readonly isCopied?: (document: Document) => boolean;
  /** Fields about the store itself, which are neither compared nor copied. */
  readonly ownFields?: readonly string[];
  /** Fields that are set in the target with every change. */
  readonly mark?: Document;
  /** Whether the target's version of a document stays although it differs. */
  readonly keeps?: (target: Document, source: Document) => boolean;
  /** Fields that must not have changed in the target since it was compared. */
  readonly guardFields?: readonly string[];
  /** Instead of all above: the documents are merged. */
  readonly shareOf?: (source: Document, stores: StoreIds) => Share;
}

const isRunning = ({ lockedAt }: Document): boolean => lockedAt !== null;
const hasEnded = ({ lockedAt, nextRunAt }: Document): boolean =>
  lockedAt === null && nextRunAt === null;
/** It has failed in the target, and waits for its next attempt. */
const hasRunLater = (target: Document, source: Document): boolean =>
  (target['lastRunAt'] ?? 0) > (source['lastRunAt'] ?? 0);

/**
 * Copied in this order, so that documents come after those that they refer to. A test fails for a collection that
 * is in neither table.
 */
export const copiedCollections: readonly CopiedCollection[] = [
  { name: 'organisations' },
  {
    name: 'projects',
    // Each store numbers its own changes.
    ownFields: ['changePending', 'changeNumber'],
    mark: markChange,
    keeps: (target, source) => target['revision'] >= source['revision'],
    guardFields: ['revision'],
  },
  {
    name: 'keys',
    // A revocation is final.
    keeps: (target) => target['revokedAt'] !== null,
    guardFields: ['revokedAt'],
  },
  {
    name: jobsCollection,
    // A worker of the source is running it: a copy would run a second time.
    isCopied: (job) => !isRunning(job),
    keeps: (target, source) => isRunning(target) || hasEnded(target) || hasRunLater(target, source),
    guardFields: ['lockedAt', 'nextRunAt', 'lastRunAt'],
  },
  { name: 'prewarms' },
  {
    name: 'purges',
    // Machines that use the target have deleted the images.
    keeps: (target, source) =>
      Object.keys(target['machines']).some((machine) => !(machine in source['machines'])),
    guardFields: ['machines'],
  },
  { name: 'usage', shareOf: usageShareOf },
];

/** Collections that are not copied, with the reason. */
export const excludedCollections: Readonly<Record<string, string>> = {
  deployments: 'copied to an empty store only, because it names the deployment',
  counters: "numbers the store's own changes",
  stores: 'names the store itself',
  rateWindows: 'lasts for a minute',
};
