import type { Document } from 'mongodb';
import { markChange } from '../project-changes.ts';
import { jobsCollection } from '../waiting-jobs.ts';

/** How the documents of a collection are copied to another store. */
export interface CopiedCollection {
  readonly name: string;
  /** What its documents are, for people. */
  readonly contents: string;
  /** False for a document that stays where it is. */
  readonly isCopied?: (document: Document) => boolean;
  /** Fields about the store itself, which are neither compared nor copied. */
  readonly ownFields?: readonly string[];
  /** What is set in the target with every change. */
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
 * In this order: a document comes after those that it names. A collection that is in neither table is a failing
 * test.
 */
export const copiedCollections: readonly CopiedCollection[] = [
  { name: 'organisations', contents: 'organisations' },
  {
    name: 'projects',
    contents: 'projects with presets, secrets and purges',
    // The processes that use the target follow its own numbers.
    ownFields: ['changePending', 'changeNumber'],
    mark: markChange,
    keeps: (target, source) => target['revision'] >= source['revision'],
    guardFields: ['revision'],
  },
  {
    name: 'keys',
    contents: 'API keys',
    // A revocation is final.
    keeps: (target) => target['revokedAt'] !== null,
    guardFields: ['revokedAt'],
  },
  {
    name: jobsCollection,
    contents: 'jobs',
    // The worker of this store is running it, and it would run twice.
    isCopied: (job) => !isRunning(job),
    keeps: (target) => isRunning(target) || hasEnded(target),
    guardFields: ['lockedAt', 'nextRunAt'],
  },
  { name: 'prewarms', contents: 'calls of prewarming' },
  { name: 'purges', contents: 'calls of purging' },
  {
    name: 'usage',
    contents: 'days with usage',
    // Processes count in the target already.
    keeps: (target, source) =>
      Object.keys(target['by']).some((writer) => !(writer in source['by'])),
    guardFields: ['by'],
  },
];

/** Collections that are not copied, with the reason. */
export const ownCollections: Readonly<Record<string, string>> = {
  deployments: 'copied to an empty store only, because it names the deployment',
  counters: "numbers the store's own changes",
  rateWindows: 'lasts for a minute',
};
