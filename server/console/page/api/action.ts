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

/** Data for a part of the page. */
export interface Data<T> {
  /** Null until loaded. */
  readonly value: T | null;
  readonly busy: boolean;
  readonly failure: Failure | null;
  /** Replaces the value, such as after a change. */
  readonly set: (value: T) => void;
  readonly reload: () => void;
}

type Loading<T> = Pick<Data<T>, 'value' | 'busy' | 'failure'>;

/** Loads data, and loads it again when an input changes. */
export function useData<T>(load: () => Promise<T>, inputs: readonly unknown[]): Data<T> {
  const nothing: Loading<T> = { value: null, busy: true, failure: null };
  const [state, setState] = useState(nothing);
  const [loads, setLoads] = useState(0);
  useEffect(() => setState(nothing), inputs);
  useEffect(() => {
    let isCurrent = true;
    const set = (next: Partial<Loading<T>>) => {
      if (isCurrent) setState((last) => ({ ...last, ...next }));
    };
    set({ busy: true });
    load().then(
      (value) => set({ value, busy: false, failure: null }),
      (error) => set({ busy: false, failure: Failure.of(error) }),
    );
    return () => {
      isCurrent = false;
    };
  }, [...inputs, loads]);
  return {
    ...state,
    set: (value) => setState({ value, busy: false, failure: null }),
    reload: () => !state.busy && setLoads(loads + 1),
  };
}
