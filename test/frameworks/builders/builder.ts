import type { ForeignUrls } from '../../../server/image/urls/grammars.ts';
import type { UrlSecretKind } from '../../../server/image/urls/signature.ts';

/** A URL of another service, and the query of the same image at this one. */
export interface BuiltUrl {
  /** The path and the query. */
  readonly url: string;
  /** Without `project`. */
  readonly native: string;
  readonly isSigned: boolean;
}

/** The URL builder of another service. */
export interface Builder {
  /** The value of `urls` of the host. */
  readonly kind: ForeignUrls & UrlSecretKind;
  readonly secret: { readonly secret: string; readonly salt?: string };
  /** Returns a signed URL with a wrong signature; absent if the first segment of the path is the signature. */
  readonly corrupt?: (url: string) => string;
  /**
   * Installs the builder in a new folder, and builds URLs of a source of 1600 × 1000 pixels.
   * @param parent the folder of that folder
   */
  readonly build: (parent: string, source: string) => Promise<readonly BuiltUrl[]>;
}
