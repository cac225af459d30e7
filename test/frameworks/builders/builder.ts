import type { DialectName, UrlSecretKind } from '../../../urls/src/index.ts';

/** A URL of another service, and the native query for the same image. */
export interface BuiltUrl {
  /** The path and the query. */
  readonly url: string;
  /** The query, except `project`. */
  readonly native: string;
  readonly isSigned: boolean;
  /** The size of the other service's image, such as `640 × 400`; absent if it was not requested. */
  readonly theirSize?: string;
}

/** The URL builder of another service. */
export interface Builder {
  /** Value of the host's `urls`. */
  readonly kind: DialectName;
  /** Null for a service without signatures. */
  readonly signing: {
    readonly kind: UrlSecretKind;
    readonly secret: string;
    readonly salt?: string;
  } | null;
  /**
   * Returns a signed URL with a wrong signature; absent if the path's first segment is the
   * signature.
   */
  readonly corrupt?: (url: string) => string;
  /**
   * Installs the builder in a new folder, and builds URLs of a 1600 × 1000 source.
   * @param parent the parent of the new folder
   */
  readonly build: (parent: string, source: string) => Promise<readonly BuiltUrl[]>;
}
