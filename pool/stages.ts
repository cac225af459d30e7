/**
 * The stages of an image request, in order. `coalesce` waits for another request that produces the
 * same image or source, or for the leader's role; `shared` reads the shared cache; `queue` waits
 * for a transform thread.
 */
export const stageNames = [
  'parse',
  'project',
  'memory',
  'disk',
  'coalesce',
  'shared',
  'fetch',
  'queue',
  'transform',
  'write',
] as const;
export type StageName = (typeof stageNames)[number];

/** Attributes of a stage. They must not contain secrets, such as a source URL's query. */
export interface StageAttributes {
  /** True when a cache had the image. */
  readonly hit?: boolean;
  readonly role?: 'leader' | 'follower';
  readonly host?: string;
  readonly format?: string;
  readonly width?: number;
  readonly height?: number;
  readonly bytes?: number;
}

/** A stage in progress. Times are `performance.now()` values. */
export interface Stage {
  /** The headers that connect a request made in this stage to its trace (W3C Trace Context). */
  readonly headers: Readonly<Record<string, string>>;
  end(attributes?: StageAttributes, at?: number): void;
  fail(error: unknown, at?: number): void;
}

/** Observes a request's stages, for metrics, traces and log lines. */
export interface StageObserver {
  /** @param at start time, `performance.now()` by default */
  begin(name: StageName, attributes?: StageAttributes, at?: number): Stage;
}

const unobservedStage: Stage = { headers: {}, end() {}, fail() {} };

/** For work that no request caused. */
export const noObserver: StageObserver = { begin: () => unobservedStage };

/** Runs one stage and reports its start and its end. */
export async function runStage<T>(
  stages: StageObserver,
  name: StageName,
  work: (stage: Stage) => T | Promise<T>,
  toAttributes?: (result: T) => StageAttributes,
): Promise<T> {
  const stage = stages.begin(name);
  try {
    const result = await work(stage);
    stage.end(toAttributes?.(result));
    return result;
  } catch (error) {
    stage.fail(error);
    throw error;
  }
}
