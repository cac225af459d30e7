import type { TransformResult, TransformTask } from '../task.ts';

/** From the front end to a transform process. */
export type ToProcess = TransformTask;

/** From a transform process to the front end. */
export type FromProcess =
  /** It works within its limits. */
  | { readonly type: 'ready' }
  | {
      readonly type: 'done';
      readonly result: TransformResult;
      /** True when the process has used so much CPU time or memory that it must be replaced. */
      readonly spent: boolean;
    };
