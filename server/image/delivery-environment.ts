import type { NegotiableFormat } from '../../contract/auto-formats.ts';
import type { Engine } from '../../pool/engine.ts';
import type { LoaderOf } from '../../pool/source/source-loader.ts';
import type { Project } from '../../store/projects.ts';
import type { RequestHosts } from '../http/request-hosts.ts';
import type { ProjectCache } from '../project-cache.ts';
import type { ImageTelemetry } from '../telemetry/image-telemetry.ts';
import type { OnLayerFailure } from './layer-failures.ts';

/** The parts of the process that image delivery uses. */
export interface DeliveryEnvironment {
  readonly engine: Engine;
  readonly projects: ProjectCache;
  readonly telemetry: ImageTelemetry;
  /** How sources are fetched for a project. */
  readonly loadersOf: (latest: () => Project) => LoaderOf;
  /** Whether a token is valid for a request's target and marks the request as background work. */
  readonly isBackground: (target: string, token: string) => Promise<boolean>;
  /** Rejects when a project has reached a limit; resolves with a function for the end of the render. */
  readonly admitRender: (project: Project) => Promise<() => void>;
  readonly onLayerFailure: OnLayerFailure;
  /** Whether URLs with unknown parameters are refused. */
  readonly refusesUnknown: boolean;
  /** Of `auto`, the best one first. */
  readonly autoFormats: readonly NegotiableFormat[];
  /** Sent until the best one has been rendered; null for none. */
  readonly autoFirst: NegotiableFormat | null;
  /** The names of the headers with the tags of an image, in lower case. */
  readonly cacheTagHeaders: readonly string[];
  readonly hosts: RequestHosts;
  /** Unix ms. */
  readonly now: () => number;
}
