import type { Fit, Gravity } from '../contract/image-terms.ts';
import type { DeliveryHost } from './delivery-host.ts';
import type { PurgeGenerations } from './generations.ts';

/** A JSON value of an image parameter. */
export type PresetValue = string | number | boolean;

/** By the canonical names of image parameters. */
export type PresetParameters = Readonly<Record<string, PresetValue>>;

/** Preset and layer names are field names in the store, so they contain no `.` or `$`. */
export const partNamePattern = '^[a-z][a-z0-9_-]{0,39}$';

const pattern = new RegExp(partNamePattern);
export const isPartName = (text: string): boolean => pattern.test(text);

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
  /** How long caches keep missing sources and fallbacks; null or absent for the operator's setting. */
  readonly missingAge?: number | null;
  /** Query parameters that do not identify a source, or `presigningParameters`; null for none. */
  readonly ignoredParameters?: readonly string[] | null;
}

/** A project's maximum daily usage (UTC), and what its URLs can request; null for no limit. */
export interface ProjectLimits {
  readonly rendersPerDay: number | null;
  readonly bytesPerDay: number | null;
  readonly onlyPresets?: boolean;
  /** In device pixels. */
  readonly widths?: readonly number[] | null;
  readonly qualities?: readonly number[] | null;
  /** Whether values outside the lists become the nearest one, which is the default. */
  readonly unlisted?: 'nearest' | 'refuse';
}

export interface Project extends ProjectSettings, PurgeGenerations {
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

/** A layer's JSON fields by name. Absent fields take their defaults. */
export type LayerFields = Readonly<Record<string, PresetValue>>;

/** A layer as a project keeps it: an image or a text. */
export interface StoredLayer {
  readonly image?: LayerFields;
  readonly text?: LayerFields;
}

/** A secret that signs another service's URLs. imgproxy needs a key and a salt in hexadecimal digits. */
export interface UrlSecret {
  readonly secret: string;
  readonly salt?: string;
}

/** A project's secrets for one service's URLs. */
export interface UrlSecrets {
  /** The current secret first, then the previous secret during a replacement. */
  readonly valid: readonly UrlSecret[];
  /** By the clock of the front end. */
  readonly updatedAt: Date;
}

/**
 * Returns the valid secrets after a new secret is set.
 * @param keepPrevious whether the current secret stays valid too; a repeated call changes nothing
 */
export function withUrlSecret(
  before: readonly UrlSecret[],
  secret: UrlSecret,
  keepPrevious: boolean,
): readonly UrlSecret[] {
  const others = before.filter(
    (stored) => stored.secret !== secret.secret || stored.salt !== secret.salt,
  );
  return [secret, ...(keepPrevious ? others.slice(0, 1) : [])];
}

/** A project's private origin: how to fetch sources from a host, with encrypted secrets. */
export interface ProjectOrigin {
  /** With the port, unless it is the default port of the scheme. */
  readonly host: string;
  /** Names of the request headers to send to the host. */
  readonly headers: readonly string[];
  /** The source bucket's `s3://` URL; null for an HTTP origin. */
  readonly location: string | null;
  /** The origin with its secrets, as JSON encrypted by `Keyring.seal`. */
  readonly sealed: string;
  /** By the clock of the front end. */
  readonly updatedAt: Date;
}

/**
 * Returns the host's field in `Project.origins`. Encodes dots, because they separate path segments.
 */
export const originField = (host: string): string => host.replaceAll('.', '%2E');

/** Returns a host's item, or undefined, even for a host such as `constructor`. */
export function itemOfHost<Item>(
  items: Readonly<Record<string, Item>> | undefined,
  host: string,
): Item | undefined {
  const field = originField(host);
  return items !== undefined && Object.hasOwn(items, field) ? items[field] : undefined;
}
