import type { Document } from 'mongodb';
import { markChange } from '../project-changes.ts';
import { joinPurges } from '../purges.ts';
import { jobsCollection } from '../waiting-jobs.ts';
import type { StoreIds } from './store-ids.ts';
import { type Share, usageShareOf } from './usage-share.ts';

/** How the documents of a collection are copied to another store. */
export interface CopiedCollection {
  readonly name: string;
  /** False for a document that is not copied. */
  readonly isCopied?: (document: Document) => boolean;
  /** Fields that each store sets by itself: they are not compared. */
  readonly ownFields?: readonly string[];
  /** The own fields of a document that is written to the target, where it has the version `target`, if any. */
  readonly ownFieldsOf?: (source: Document, target: Document | undefined) => Document;
  /**
   * Fields that get something of both versions, because neither store may undo what the other has done. They do not
   * make a document changed: what both stores have done to them is no conflict.
   */
  readonly joined?: Readonly<Record<string, (target: Document, source: Document) => unknown>>;
  /** False if a document that has changed in both stores needs nobody's attention. */
  readonly reportsConflicts?: false;
  /** Fields that must not have changed in the target since it was compared. */
  readonly guardFields?: readonly string[];
  /** Instead of all above: the documents are merged. */
  readonly shareOf?: (source: Document, stores: StoreIds) => Share;
}

const isRunning = ({ lockedAt }: Document): boolean => lockedAt !== null;

/**
 * Copied in this order, so that documents come after those that they refer to. A test fails for a collection that
 * is in neither table.
 */
export const copiedCollections: readonly CopiedCollection[] = [
  { name: 'organisations', guardFields: ['name', 'productAccess'] },
  {
    name: 'projects',
    ownFields: ['changePending', 'changeNumber', 'revision', 'changedAt'],
    // Revisions order the versions of one store only. A new one is higher than that which its processes know.
    ownFieldsOf: ({ revision, changedAt }, target) => ({
      ...markChange,
      revision: Math.max(revision, (target?.['revision'] ?? 0) + 1),
      changedAt,
    }),
    joined: {
      purges: (target, source) => joinPurges(target['purges'], source['purges'], Date.now()),
    },
    guardFields: ['revision'],
  },
  {
    name: 'keys',
    // A revocation is final.
    joined: { revokedAt: (target, source) => target['revokedAt'] ?? source['revokedAt'] },
    guardFields: ['projectId', 'access', 'allOrganisations', 'fromEnvironment', 'revokedAt'],
  },
  {
    name: jobsCollection,
    // A worker of the source is running it: a copy would run a second time.
    isCopied: (job) => !isRunning(job),
    // Turns order the jobs of one store only. The target gives its own to jobs that are due.
    ownFields: ['turn'],
    ownFieldsOf: () => ({ turn: null }),
    // The target's workers do the job, whatever has become of it in the source.
    reportsConflicts: false,
    guardFields: ['lockedAt', 'nextRunAt', 'lastRunAt', 'turn'],
  },
  { name: 'prewarms' },
  {
    name: 'purges',
    // Machines have deleted the images, whichever store they use.
    joined: { machines: (target, source) => ({ ...source['machines'], ...target['machines'] }) },
    reportsConflicts: false,
    guardFields: ['machines'],
  },
  { name: 'usage', shareOf: usageShareOf },
];

/** Collections that are not copied, with the reason. */
export const excludedCollections: Readonly<Record<string, string>> = {
  deployments: 'copied to an empty store only, because it names the deployment',
  counters: "numbers the store's own changes",
  stores: 'names the store itself',
  copies: 'says what copies have written to the store',
  rateWindows: 'lasts for a minute',
};
