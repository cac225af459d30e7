import { useEffect, useState } from 'preact/hooks';
import { Failure } from './service.ts';

interface State {
  readonly busy: boolean;
  /** A success message, or '' after an error or before any change. */
  readonly message: string;
  readonly failure: Failure | null;
}

const idle: State = { busy: false, message: '', failure: null };

/** The user's latest change. */
export type Action = ReturnType<typeof useAction>;

export function useAction() {
  const [state, setState] = useState(idle);
  return {
    ...state,
    /** Removes the message and the error. */
    clear: () => setState(idle),
    /** Runs a change, which resolves with its message. Resolves with whether it succeeded. */
    async run(change: () => Promise<string>): Promise<boolean> {
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

interface Loading<T> {
  /** Null until loaded. */
  readonly value: T | null;
  readonly busy: boolean;
  readonly failure: Failure | null;
}

/** Data for a part of the page. */
export type Data<T> = ReturnType<typeof useData<T>>;

/** Loads data, and loads it again when an input changes. */
export function useData<T>(load: () => Promise<T>, inputs: readonly unknown[]) {
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
    /** Replaces the value, such as after a change. */
    set: (value: T) => setState({ value, busy: false, failure: null }),
    reload: () => !state.busy && setLoads(loads + 1),
  };
}
