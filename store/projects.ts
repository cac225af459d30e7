import type { Collection, Db, UpdateFilter } from 'mongodb';
import { newProjectId, newSigningSecret } from './identifiers.ts';
import { projectColours } from './project-colours.ts';

export const watermarkPositions = [
  'center',
  'north',
  'northeast',
  'northwest',
  'south',
  'southeast',
  'southwest',
  'east',
  'west',
] as const;
export type WatermarkPosition = (typeof watermarkPositions)[number];

export const projectFits = ['contain', 'cover', 'fill', 'inside', 'outside'] as const;
export type ProjectFit = (typeof projectFits)[number];

/** The transform defaults of a project that its owner may change (spec part 2). */
export interface ProjectSettings {
  readonly autoFormat: boolean;
  readonly defaultQuality: number;
  readonly defaultDpr: number;
  readonly defaultFit: ProjectFit;
  /** Device pixels; null for no bound. */
  readonly maxWidth: number | null;
  readonly stripMetadata: boolean;
  readonly watermarkEnabled: boolean;
  readonly watermarkUrl: string | null;
  readonly watermarkPosition: WatermarkPosition;
  /** Percent. */
  readonly watermarkOpacity: number;
  /** Percent of the output's width. */
  readonly watermarkScale: number;
  /** Pixels. */
  readonly watermarkMargin: number;
}

/** A project as it is stored. */
export interface Project extends ProjectSettings {
  readonly _id: string;
  readonly orgId: string;
  readonly name: string;
  readonly origin: string;
  /** Normalised hosts, each once (see hosts.ts). */
  readonly allowedOrigins: readonly string[];
  readonly color1: string;
  readonly color2: string;
  readonly requireSignedUrls: boolean;
  readonly signedUrlTtlSeconds: number | null;
  /** The HMAC secret of signed URLs; null until created. Used only to sign and verify URLs. */
  readonly signingSecret: string | null;
  readonly createdAt: Date;
  /** By the store's clock, so that processes can poll for changes. */
  readonly changedAt: Date;
  /** Grows by one with every change. */
  readonly revision: number;
}

/** The fields by which a change of a project is detected. */
export type ProjectChange = Pick<Project, '_id' | 'revision' | 'changedAt'>;

export interface NewProject {
  readonly orgId: string;
  readonly name: string;
  readonly origin: string;
  /** Normalised and each once. */
  readonly allowedOrigins: readonly string[];
}

const newProjectSettings: ProjectSettings = {
  autoFormat: true,
  defaultQuality: 80,
  defaultDpr: 1,
  defaultFit: 'cover',
  maxWidth: null,
  stripMetadata: true,
  watermarkEnabled: false,
  watermarkUrl: null,
  watermarkPosition: 'southeast',
  watermarkOpacity: 60,
  watermarkScale: 20,
  watermarkMargin: 16,
};

/** Every change is one atomic update, so that concurrent changes are not lost. */
export class Projects {
  readonly #collection: Collection<Project>;

  constructor(db: Db) {
    this.#collection = db.collection('projects');
  }

  async ensureIndexes(): Promise<void> {
    await this.#collection.createIndex({ changedAt: 1 });
    await this.#collection.createIndex({ orgId: 1 });
  }

  async create(input: NewProject): Promise<Project> {
    const _id = newProjectId();
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
    // An upsert, because an insert cannot use the store's clock. A date from a clock that is ahead
    // would hide the changes of other processes from the polling by `changedAt`.
    const made = await this.#collection.findOneAndUpdate(
      { _id },
      { $setOnInsert: project, $currentDate: { changedAt: true } },
      { upsert: true, returnDocument: 'after' },
    );
    if (made === null) throw new Error('the project could not be created');
    return made;
  }

  find(id: string): Promise<Project | null> {
    return this.#collection.findOne({ _id: id });
  }

  /** The organisation of a project, which never changes; null when there is no such project. */
  async organisationOf(id: string): Promise<string | null> {
    const project = await this.#collection.findOne({ _id: id }, { projection: { orgId: 1 } });
    return project?.orgId ?? null;
  }

  /** @param orgId null for the projects of every organisation */
  list(orgId: string | null = null): Promise<Project[]> {
    const filter = orgId === null ? {} : { orgId };
    return this.#collection.find(filter).sort({ createdAt: 1, _id: 1 }).toArray();
  }

  /** The latest change of any project; null when there are no projects. */
  async latestChange(): Promise<Date | null> {
    const [latest] = await this.#collection
      .find({}, { projection: { changedAt: 1 } })
      .sort({ changedAt: -1 })
      .limit(1)
      .toArray();
    return latest?.changedAt ?? null;
  }

  /** Projects that changed at or after a date, oldest change first. */
  changesSince(date: Date): Promise<ProjectChange[]> {
    return this.#collection
      .find({ changedAt: { $gte: date } })
      .project<ProjectChange>({ revision: 1, changedAt: 1 })
      .sort({ changedAt: 1 })
      .toArray();
  }

  /** Null when there is no such project; the same applies to the methods below. */
  updateSettings(id: string, settings: Partial<ProjectSettings>): Promise<Project | null> {
    return this.#change(id, { $set: settings });
  }

  addHost(id: string, host: string): Promise<Project | null> {
    return this.#change(id, { $addToSet: { allowedOrigins: host } });
  }

  removeHost(id: string, host: string): Promise<Project | null> {
    return this.#change(id, { $pull: { allowedOrigins: host } });
  }

  /** Requires signed URLs, with a new secret, which invalidates all earlier signatures. */
  requireSignatures(id: string, ttlSeconds: number | null): Promise<Project | null> {
    return this.#change(id, {
      $set: {
        requireSignedUrls: true,
        signedUrlTtlSeconds: ttlSeconds,
        signingSecret: newSigningSecret(),
      },
    });
  }

  /** Stops requiring signed URLs and deletes the secret. */
  dropSignatures(id: string): Promise<Project | null> {
    return this.#change(id, {
      $set: { requireSignedUrls: false, signedUrlTtlSeconds: null, signingSecret: null },
    });
  }

  #change(id: string, update: UpdateFilter<Project>): Promise<Project | null> {
    return this.#collection.findOneAndUpdate(
      { _id: id },
      { ...update, $inc: { revision: 1 }, $currentDate: { changedAt: true } },
      { returnDocument: 'after' },
    );
  }
}
