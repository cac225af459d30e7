import type { Document } from 'mongodb';
import { markChange } from '../project-changes.ts';
import { jobsCollection } from '../waiting-jobs.ts';

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
}

const isRunning = ({ lockedAt }: Document): boolean => lockedAt !== null;
const hasEnded = ({ lockedAt, nextRunAt }: Document): boolean =>
  lockedAt === null && nextRunAt === null;

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
    keeps: (target) => isRunning(target) || hasEnded(target),
    guardFields: ['lockedAt', 'nextRunAt'],
  },
  { name: 'prewarms' },
  { name: 'purges' },
  {
    name: 'usage',
    // Processes count in the target already.
    keeps: (target, source) =>
      Object.keys(target['by']).some((writer) => !(writer in source['by'])),
    guardFields: ['by'],
  },
];

/** Collections that are not copied, with the reason. */
export const excludedCollections: Readonly<Record<string, string>> = {
  deployments: 'copied to an empty store only, because it names the deployment',
  counters: "numbers the store's own changes",
  rateWindows: 'lasts for a minute',
};
