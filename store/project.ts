import type { Fit, Gravity } from '../contract/image-terms.ts';
import type { DeliveryHost } from './delivery-host.ts';
import type { Purges } from './generations.ts';
import type { StoredLayer } from './layer.ts';
import type { PresetParameters } from './preset.ts';
import type { ProjectOrigin } from './project-origin.ts';
import type { UrlSecrets } from './url-secret.ts';

/** The transform defaults of a project: `ProjectSettings` in the OpenAPI document. */
export interface ProjectSettings {
  readonly autoFormat: boolean;
  readonly defaultQuality: number;
  readonly defaultDpr: number;
  readonly defaultFit: Fit;
  /** Device pixels; null for no bound. */
  readonly maxWidth: number | null;
  readonly stripMetadata: boolean;
  readonly watermarkEnabled: boolean;
  readonly watermarkUrl: string | null;
  readonly watermarkPosition: Gravity;
  /** Percent. */
  readonly watermarkOpacity: number;
  /** Percent of the output's width. */
  readonly watermarkScale: number;
  /** Pixels. */
  readonly watermarkMargin: number;
}

/** How a project's images follow their sources. Ages are in seconds. */
export interface ProjectFreshness {
  /**
   * Time after which a source is revalidated; `origin` follows its Cache-Control, null disables it.
   */
  readonly sourceAge: number | 'origin' | null;
  /** How long browsers keep images; null for a year. */
  readonly browserAge: number | null;
}

/** A project's maximum daily usage (UTC); null for no limit. */
export interface ProjectLimits {
  readonly rendersPerDay: number | null;
  readonly bytesPerDay: number | null;
}

export interface Project extends ProjectSettings, Purges {
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
  /** The HMAC secret of signed URLs; null until created. */
  readonly signingSecret: string | null;
  /** The secret before the last rotation; it stays valid until revoked. */
  readonly previousSigningSecret?: string | null;
  /** The project's image parameters, by preset name. */
  readonly presets?: Readonly<Record<string, PresetParameters>>;
  /** By name. */
  readonly layers?: Readonly<Record<string, StoredLayer>>;
  /** Absent until it is set: images do not follow their sources. */
  readonly freshness?: ProjectFreshness;
  /** By `originField` of the host. */
  readonly origins?: Readonly<Record<string, ProjectOrigin>>;
  /** By `originField` of the host. */
  readonly hosts?: Readonly<Record<string, DeliveryHost>>;
  /** By the kind of URLs, such as `imgix`. */
  readonly urlSecrets?: Readonly<Record<string, UrlSecrets>>;
  /** Absent until first set; the project is then unlimited. */
  readonly limits?: ProjectLimits;
  /** By the store's clock. */
  readonly purgedAt?: Date;
  readonly createdAt: Date;
  /** By the store's clock. For display only, because a clock can be set back. */
  readonly changedAt: Date;
  /** Incremented by every change. */
  readonly revision: number;
  /** Absent while the project exists; then only its id, its organisation and its purges remain, for a day. */
  readonly deletedAt?: Date | null;
}

/** The name and site that integrations show for a project. */
export type ProjectIdentity = Pick<Project, 'name' | 'origin'>;

export interface NewProject extends Pick<Project, 'orgId' | 'name' | 'origin' | 'allowedOrigins'> {
  /** Default: a new id. */
  readonly id?: string;
}

export const newProjectSettings: ProjectSettings = {
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

/**
 * Values that a deleted project's document keeps; everything written by clients is removed.
 */
export const deletedFields = {
  ...newProjectSettings,
  name: '',
  origin: '',
  allowedOrigins: [],
  requireSignedUrls: false,
  signedUrlTtlSeconds: null,
  signingSecret: null,
} as const satisfies Partial<Project>;
export const removedFields = {
  previousSigningSecret: '',
  presets: '',
  layers: '',
  freshness: '',
  origins: '',
  hosts: '',
  urlSecrets: '',
  limits: '',
} as const satisfies { readonly [Field in keyof Project]?: '' };

/**
 * Project fields in lists: presets, layers, origins and generations can be large, so they are
 * excluded.
 */
export const listedFields = [
  '_id',
  'orgId',
  'name',
  'origin',
  'allowedOrigins',
  'color1',
  'color2',
  ...(Object.keys(newProjectSettings) as (keyof ProjectSettings)[]),
  'requireSignedUrls',
  'signedUrlTtlSeconds',
  'previousSigningSecret',
  'createdAt',
] as const satisfies readonly (keyof Project)[];

export type ListedProject = Pick<Project, (typeof listedFields)[number]>;
