import { createHash } from 'node:crypto';
import type { Collection, Db, Document, Filter, UpdateFilter } from 'mongodb';
import { type DeliveryHost, HostClaims } from './delivery-host.ts';
import { purgeUpdate } from './generations.ts';
import { newProjectId, newSigningSecret } from './identifiers.ts';
import { callbackJobName, jobsCollection, prewarmJobName } from './jobs.ts';
import { StoreUnavailable, withTimeout } from './outage.ts';
import { byCreation, readPages } from './pages.ts';
import {
  deletedFields,
  isPartName,
  type ListedProject,
  listedFields,
  type NewProject,
  newProjectSettings,
  originField,
  type PresetParameters,
  type Project,
  type ProjectFreshness,
  type ProjectIdentity,
  type ProjectLimits,
  type ProjectOrigin,
  type ProjectSettings,
  removedFields,
  type StoredLayer,
  type UrlSecret,
  withUrlSecret,
} from './project.ts';

export * from './project.ts';

const listed = Object.fromEntries(listedFields.map((name) => [name, 1 as const]));

/** A project's named items, by the field that contains them. */
interface NamedItems {
  readonly presets: PresetParameters;
  readonly layers: StoredLayer;
  /** By host. */
  readonly origins: ProjectOrigin;
  /** By host. The caller must have claimed it. */
  readonly hosts: DeliveryHost;
}

/** The fields with items that `Projects.removeItem` removes. */
export type ItemField = keyof NamedItems | 'urlSecrets';

/** @throws Error for an invalid name, which the store could parse as a path */
function itemPath(field: ItemField, name: string): string {
  const isPart = field === 'presets' || field === 'layers';
  if (isPart && !isPartName(name)) throw new Error('not a valid name for a preset or layer');
  return `${field}.${originField(name)}`;
}

/** More documents than a reply can contain: by default a second round trip starts after 101. */
const oneBatch = 100_000;

const sweptFields = { generations: 1, deletedAt: 1 } as const;

/** The fields that determine which of a project's images are purged. */
export type SweptProject = Pick<Project, '_id' | keyof typeof sweptFields>;

/** Part of every filter for projects that exist. Null also stands for a missing field. */
const existing = { deletedAt: null } as const;

/** As long as the records of purges. */
const keepDeletedSeconds = 24 * 60 * 60;

/**
 * Exceeds the number of processes that can change a project concurrently: each makes one change at
 * a time (`ChangeTurns`), and each attempt lets one succeed.
 */
const maxAttempts = 100;

/** Checks the state before a change, and throws if the state does not allow it. */
export type StateCheck = (project: Project) => void;
const anyState: StateCheck = () => {};

/** Every change is one atomic update, so that concurrent changes are not lost. */
export class Projects {
  readonly #db: Db;
  readonly #collection: Collection<Project>;
  readonly hostClaims: HostClaims;

  constructor(db: Db) {
    this.#db = db;
    this.#collection = db.collection('projects');
    this.hostClaims = new HostClaims(db);
  }

  async ensureIndexes(): Promise<void> {
    await this.hostClaims.ensureIndexes();
    await this.#collection.createIndex({ orgId: 1, _id: 1 });
    await this.#collection.createIndex({ purgedAt: 1 });
    const expireAfterSeconds = keepDeletedSeconds;
    await this.#collection.createIndex({ deletedAt: 1 }, { expireAfterSeconds });
  }

  async create({ id: _id = newProjectId(), ...input }: NewProject): Promise<Project> {
    const project: Omit<Project, '_id' | 'changedAt'> = {
      ...input,
      ...projectColours(_id),
      ...newProjectSettings,
      requireSignedUrls: false,
      signedUrlTtlSeconds: null,
      signingSecret: null,
      createdAt: new Date(),
      revision: 1,
    };
    // An upsert, because an insert cannot use the store's clock.
    const created = await withTimeout(
      this.#collection.findOneAndUpdate(
        { _id },
        { $setOnInsert: project, $currentDate: { changedAt: true } },
        { upsert: true, returnDocument: 'after' },
      ),
    );
    if (created === null) throw new Error('the project could not be created');
    return created;
  }

  async find(id: string): Promise<Project | null> {
    const found = await withTimeout(this.#collection.findOne({ _id: id, ...existing }));
    return found;
  }

  /** Returns projects that exist or were deleted within the last day. */
  async findAll(ids: readonly string[]): Promise<Project[]> {
    const found = this.#collection.find({ _id: { $in: [...ids] } });
    return withTimeout(found.toArray());
  }

  /** Returns the projects that own any of these delivery hosts. */
  async findByHosts(hosts: readonly string[]): Promise<Project[]> {
    const ids = await this.hostClaims.findOwners(hosts);
    return ids.length === 0 ? [] : this.findAll(ids);
  }

  /** The organisation of a project, which never changes; null for an unknown id. */
  async findOrganisation(id: string): Promise<string | null> {
    const projection = { orgId: 1 };
    const filter = { _id: id, ...existing };
    const project = await withTimeout(this.#collection.findOne(filter, { projection }));
    return project?.orgId ?? null;
  }

  /**
   * Returns projects sorted by id, in pages.
   * @param orgId null for all organisations
   * @param bounds the id before the page, and the page size
   */
  pages(
    orgId: string | null = null,
    bounds: { readonly after?: string | null; readonly limit?: number } = {},
  ): AsyncGenerator<ListedProject[]> {
    const filter = orgId === null ? existing : { ...existing, orgId };
    return readPages(this.#collection, { ...bounds, filter, projection: listed });
  }

  /** Returns the projects of all organisations by creation date. */
  list(): Promise<ListedProject[]> {
    return byCreation(this.pages());
  }

  /** By id, like `findAll`. An empty list of ids checks that the store responds. */
  async findRevisions(ids: readonly string[]): Promise<Map<string, number>> {
    const found = this.#collection
      .find({ _id: { $in: [...ids] } }, { batchSize: oneBatch })
      .project<Pick<Project, '_id' | 'revision'>>({ revision: 1 });
    const entries = await withTimeout(found.toArray());
    return new Map(entries.map(({ _id, revision }) => [_id, revision]));
  }

  /** Null for an unknown id, as in all methods below. */
  updateSettings(id: string, settings: Partial<ProjectSettings>): Promise<Project | null> {
    return this.#change(id, { $set: settings });
  }

  /** @param host to add to the allowlist; null to add no host */
  updateIdentity(
    id: string,
    identity: Partial<ProjectIdentity>,
    host: string | null,
    check = anyState,
  ): Promise<Project | null> {
    const allowed = host === null ? {} : { $addToSet: { allowedOrigins: host } };
    return this.#changeChecked(id, { $set: identity, ...allowed }, check);
  }

  /**
   * Other ignored parameters purge all images: an earlier list might return, and would otherwise find
   * images that were purged meanwhile under other tags.
   */
  setFreshness(id: string, freshness: ProjectFreshness): Promise<Project | null> {
    const listOf = (set: ProjectFreshness | undefined) =>
      JSON.stringify(set?.ignoredParameters ?? null);
    const update = { $set: { freshness } };
    return this.#changeFrom(id, (project) =>
      listOf(project.freshness) === listOf(freshness)
        ? [update, 1]
        : withPurge(project, null, Date.now(), update),
    );
  }

  setLimits(id: string, limits: ProjectLimits): Promise<Project | null> {
    return this.#change(id, { $set: { limits } });
  }

  addHost(id: string, host: string, check = anyState): Promise<Project | null> {
    return this.#changeChecked(id, { $addToSet: { allowedOrigins: host } }, check);
  }

  removeHost(id: string, host: string): Promise<Project | null> {
    return this.#change(id, { $pull: { allowedOrigins: host } });
  }

  /** Creates or replaces an item. @param name of a preset or a layer satisfies `isPartName` */
  setItem<Field extends keyof NamedItems>(
    id: string,
    field: Field,
    name: string,
    item: NamedItems[Field],
    check = anyState,
  ): Promise<Project | null> {
    return this.#changeChecked(id, { $set: { [itemPath(field, name)]: item } }, check);
  }

  removeItem(id: string, field: ItemField, name: string): Promise<Project | null> {
    return this.#change(id, { $unset: { [itemPath(field, name)]: '' } });
  }

  /** @param kind a kind of `urlSecretKinds` @param keepPrevious whether the current secret stays valid too */
  setUrlSecret(
    id: string,
    kind: string,
    secret: UrlSecret,
    keepPrevious = false,
    check = anyState,
  ): Promise<Project | null> {
    return this.#changeFrom(id, (project) => {
      check(project);
      const valid = withUrlSecret(project.urlSecrets?.[kind]?.valid ?? [], secret, keepPrevious);
      return [{ $set: { [`urlSecrets.${kind}`]: { valid, updatedAt: new Date() } } }, 1];
    });
  }

  /**
   * Purges images made from earlier source bytes.
   *
   * @param tags of sources and folders; null for all images
   * @param now Unix ms
   * @throws StoreUnavailable if other changes to the project always win
   */
  purge(
    id: string,
    tags: readonly string[] | null,
    now: () => number = Date.now,
  ): Promise<Project | null> {
    return this.#changeWithPurge(id, tags, now, {});
  }

  /**
   * Deletes a project and purges its images in the same update. The remaining document notifies
   * every process until it expires.
   */
  delete(id: string, now: () => number = Date.now): Promise<Project | null> {
    const $set = { ...deletedFields, deletedAt: new Date(now()) };
    return this.#changeWithPurge(id, null, now, { $set, $unset: removedFields });
  }

  /**
   * Deletes a project's documents in other collections. Idempotent. Has no deadline, because a
   * project can have many documents.
   */
  async deleteDocuments(id: string): Promise<void> {
    for (const { name, ofProject } of projectCollections) {
      await this.#db.collection(name).deleteMany(ofProject(id));
    }
  }

  /** Yields projects purged or deleted since a time. */
  async *purgedSince(time: Date): AsyncGenerator<SweptProject> {
    const found = this.#collection.find({ purgedAt: { $gte: time } }, { batchSize: oneBatch });
    // Has no deadline, because there can be many.
    yield* found.project<SweptProject>(sweptFields);
  }

  /** Creates a new secret, which invalidates all earlier signatures. */
  requireSignatures(
    id: string,
    ttlSeconds: number | null,
    check = anyState,
  ): Promise<Project | null> {
    const $set = {
      requireSignedUrls: true,
      signedUrlTtlSeconds: ttlSeconds,
      signingSecret: newSigningSecret(),
    };
    return this.#changeChecked(id, { $set, $unset: { previousSigningSecret: '' } }, check);
  }

  /**
   * Replaces a project's secret, which stays valid until `revokePreviousSecret`. Also returns null
   * if the secrets have changed since the project was read or two are valid, because a third secret
   * would invalidate the oldest.
   */
  async rotateSecret({ _id, signingSecret }: Project): Promise<Project | null> {
    if (signingSecret === null) return null;
    const update = {
      $set: { signingSecret: newSigningSecret(), previousSigningSecret: signingSecret },
    };
    return this.#change(_id, update, { signingSecret, previousSigningSecret: null });
  }

  revokePreviousSecret(id: string): Promise<Project | null> {
    return this.#change(id, { $unset: { previousSigningSecret: '' } });
  }

  /** Accepts unsigned URLs again, and deletes the signing secrets. */
  stopRequiringSignatures(id: string): Promise<Project | null> {
    return this.#change(id, {
      $set: { requireSignedUrls: false, signedUrlTtlSeconds: null, signingSecret: null },
      $unset: { previousSigningSecret: '' },
    });
  }

  #changeWithPurge(
    id: string,
    tags: readonly string[] | null,
    now: () => number,
    update: UpdateFilter<Project>,
  ): Promise<Project | null> {
    return this.#changeFrom(id, (project) => withPurge(project, tags, now(), update));
  }

  #changeChecked(
    id: string,
    update: UpdateFilter<Project>,
    check: StateCheck,
  ): Promise<Project | null> {
    return this.#changeFrom(id, (project) => {
      check(project);
      return [update, 1];
    });
  }

  /**
   * Makes a change that depends on the project's state, and only if the project still has this state.
   *
   * @param plan returns the update, and the increment of the revision; throws if the state allows no change
   * @throws StoreUnavailable when other changes of the project always come first
   */
  async #changeFrom(
    id: string,
    plan: (project: Project) => [update: UpdateFilter<Project>, increment: number],
  ): Promise<Project | null> {
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const project = await this.find(id);
      if (project === null) return null;
      const [update, increment] = plan(project);
      const changed = await this.#change(id, update, { revision: project.revision }, increment);
      if (changed !== null) return changed;
    }
    throw new StoreUnavailable('the project is changed too often at the same time');
  }

  /**
   * @param condition additional filter for the update
   * @param increment added to the revision
   */
  async #change(
    id: string,
    update: UpdateFilter<Project>,
    condition: Filter<Project> = {},
    increment = 1,
  ): Promise<Project | null> {
    const changed = await withTimeout(
      this.#collection.findOneAndUpdate(
        { ...condition, ...existing, _id: id },
        {
          ...update,
          $inc: { revision: increment },
          $currentDate: { ...update.$currentDate, changedAt: true },
        },
        { returnDocument: 'after' },
      ),
    );
    return changed;
  }
}

/** Returns an update that also purges images, and the increment of the revision. */
function withPurge(
  project: Project,
  tags: readonly string[] | null,
  now: number,
  update: UpdateFilter<Project>,
): [update: UpdateFilter<Project>, increment: number] {
  const { revision } = project;
  // This number is also the revision. The time makes it new after the store was restored from a
  // backup; the revision makes it new after the clock was set back.
  const number = Math.max(now, revision + 1);
  const purge = purgeUpdate(project, tags, number);
  const $set = { ...update.$set, ...purge.$set };
  return [{ ...update, ...purge, $set }, number - revision];
}

/** Converts HSL to `#rrggbb` as in CSS Color 4. Hue in degrees, the others 0..1. */
function hex(hue: number, saturation: number, lightness: number): string {
  const amplitude = saturation * Math.min(lightness, 1 - lightness);
  const channel = (offset: number): string => {
    const k = (offset + hue / 30) % 12;
    const value = lightness - amplitude * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    return Math.round(255 * value)
      .toString(16)
      .padStart(2, '0');
  };
  return `#${channel(0)}${channel(8)}${channel(4)}`;
}

/** Two matching colours for a project in user interfaces, derived from its id. */
export function projectColours(id: string): { color1: string; color2: string } {
  const digest = createHash('sha256').update(id).digest();
  const hue = digest.readUInt16BE(0) % 360;
  const turn = 30 + (digest.readUInt16BE(2) % 90);
  return { color1: hex(hue, 0.65, 0.5), color2: hex((hue + turn) % 360, 0.7, 0.6) };
}

interface ProjectCollection {
  readonly name: string;
  readonly ofProject: (id: string) => Document;
}

const byProjectId = (projectId: string): Document => ({ projectId });

/**
 * Collections whose documents are deleted together with their project, starting with its keys.
 * Purge hook calls stay, so that the CDN still drops the images.
 */
export const projectCollections: readonly ProjectCollection[] = [
  { name: 'keys', ofProject: byProjectId },
  { name: 'hosts', ofProject: byProjectId },
  {
    name: jobsCollection,
    ofProject: (id) => ({
      name: { $in: [prewarmJobName, callbackJobName] },
      'data.projectId': id,
    }),
  },
  { name: 'prewarms', ofProject: byProjectId },
  { name: 'purges', ofProject: byProjectId },
  { name: 'usage', ofProject: (project) => ({ project }) },
  { name: 'activity', ofProject: (project) => ({ project }) },
];
