import { useEffect, useState } from 'preact/hooks';
import { Failure } from './service.ts';

/** The user's latest change. */
export interface Action {
  readonly busy: boolean;
  /** A success message, or '' after an error or before any change. */
  readonly message: string;
  readonly failure: Failure | null;
  /** Runs a change, which resolves with its message. Resolves with whether it succeeded. */
  readonly run: (change: () => Promise<string>) => Promise<boolean>;
  /** Removes the message and the error. */
  readonly clear: () => void;
}

type State = Pick<Action, 'busy' | 'message' | 'failure'>;
const idle: State = { busy: false, message: '', failure: null };

export function useAction(): Action {
  const [state, setState] = useState(idle);
  return {
    ...state,
    clear: () => setState(idle),
    async run(change) {
      setState((last) => ({ ...last, busy: true }));
      try {
        const message = await change();
        setState({ ...idle, message });
        return true;
      } catch (error) {
        setState({ ...idle, failure: Failure.of(error) });
        return false;
      }
    },
  };
}

/**
 * Loads data for a part of the page, at first and when an input changes, as an action without a
 * message.
 */
export function useLoading(
  run: Action['run'],
  load: () => Promise<void>,
  inputs: readonly unknown[],
): void {
  useEffect(() => {
    void run(() => load().then(() => ''));
  }, inputs);
}
