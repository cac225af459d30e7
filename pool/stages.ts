/**
 * The stages of an image request, in order. `coalesce` is the wait for the same image or source that
 * another request is already producing, or for the permission to produce it; `queue` is the wait for
 * a transform thread.
 */
export const stageNames = [
  'parse',
  'project',
  'memory',
  'disk',
  'coalesce',
  'fetch',
  'queue',
  'transform',
  'write',
] as const;
export type StageName = (typeof stageNames)[number];

/** What is known of a stage. It must not contain secrets, such as the query of a source's URL. */
export interface StageAttributes {
  /** Whether a cache had the image. */
  readonly hit?: boolean;
  readonly role?: 'leader' | 'follower';
  readonly host?: string;
  readonly format?: string;
  readonly width?: number;
  readonly height?: number;
  readonly bytes?: number;
}

/** A stage in progress. Times are those of `performance.now()`. */
export interface Stage {
  /** The headers that connect a request made in this stage to its trace (W3C Trace Context). */
  readonly headers: Readonly<Record<string, string>>;
  end(facts?: StageAttributes, at?: number): void;
  fail(error: unknown, at?: number): void;
}

/** Is told the stages of one image request: the source of its metrics, its trace and its log line. */
export interface StageObserver {
  /** @param at when it began, `performance.now()`, if not now */
  begin(name: StageName, facts?: StageAttributes, at?: number): Stage;
}

const unobservedStage: Stage = { headers: {}, end() {}, fail() {} };

/** For work without a request. */
export const noObserver: StageObserver = { begin: () => unobservedStage };

/** Does one stage, and tells when it began and how it ended. */
export async function runStage<T>(
  stages: StageObserver,
  name: StageName,
  work: (stage: Stage) => T | Promise<T>,
  factsOf?: (result: T) => StageAttributes,
): Promise<T> {
  const stage = stages.begin(name);
  try {
    const result = await work(stage);
    stage.end(factsOf?.(result));
    return result;
  } catch (error) {
    stage.fail(error);
    throw error;
  }
}
