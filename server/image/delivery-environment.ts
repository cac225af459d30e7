import type { NegotiableFormat } from '../../contract/image-terms.ts';
import type { Settings } from '../../contract/settings/table.ts';
import type { Engine } from '../../pool/engine.ts';
import type { FindLoader } from '../../pool/source/source-loader.ts';
import type { Project } from '../../store/projects.ts';
import type { UrlClient } from '../../urls/src/index.ts';
import type { RequestHosts } from '../http/forwarded.ts';
import type { HttpRequest } from '../http/request.ts';
import type { ProjectCache } from '../project-cache.ts';
import type { OnLayerFailure } from '../telemetry/event-logs.ts';
import type { ImageTelemetry, ObservedRequest } from '../telemetry/image-telemetry.ts';
import type { NegotiatedHeaders } from './negotiate.ts';
import type { ResponseCache } from './response-cache.ts';
import type { Site } from './site.ts';

/** An image request. Its headers were read before the first await. */
export interface ImageCall {
  readonly request: HttpRequest;
  readonly negotiated: NegotiatedHeaders;
  /** Or ''. */
  readonly ifNoneMatch: string;
  /** Or ''. */
  readonly backgroundToken: string;
  /** Whether this service itself fetches the image as a source. */
  readonly isLoop: boolean;
  readonly client: UrlClient;
  /** The requested delivery host, or null. */
  readonly site: Site | null;
  /** The response's key in `responses`. */
  readonly cacheKey: string;
  readonly responses: ResponseCache;
  readonly observed: ObservedRequest;
}

export interface DeliveryEnvironment {
  readonly engine: Engine;
  readonly projects: ProjectCache;
  readonly telemetry: ImageTelemetry;
  readonly createLoaderFinder: (latest: () => Project) => FindLoader;
  /**
   * Resolves whether a token is valid for a request's target and marks the request as background
   * work.
   */
  readonly isBackground: (target: string, token: string) => Promise<boolean>;
  /**
   * Rejects if a project has reached a limit. Otherwise resolves with a function to call when the
   * render ends.
   */
  readonly admitRender: (project: Project) => Promise<() => void>;
  readonly onLayerFailure: OnLayerFailure;
  readonly refusesUnknown: boolean;
  /** The formats of `auto`, best first. */
  readonly autoFormats: readonly NegotiableFormat[];
  /** The format to send until the best one is rendered, or null. */
  readonly autoFirst: NegotiableFormat | null;
  /** Names of the headers that carry an image's tags, in lower case. */
  readonly cacheTagHeaders: readonly string[];
  readonly vary: Settings['vary'];
  readonly missingAgeSeconds: number;
  readonly hosts: RequestHosts;
  /** Unix ms. */
  readonly now: () => number;
}
