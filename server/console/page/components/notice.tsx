import type { ComponentChildren } from 'preact';
import type { Action, Data } from '../api/action.ts';
import { launchCommand } from '../api/page-data.ts';
import type { Failure } from '../api/service.ts';

/** A placeholder for data. */
export function Loading() {
  return (
    <p role="status" class="quiet">
      Loading …
    </p>
  );
}

type FailureTextProps = Pick<Failure, 'status' | 'code' | 'message' | 'hint'>;

/** An error's sentence, next step, status and code. */
export function FailureText({ status, code, message, hint }: FailureTextProps) {
  const names = [status > 0 ? String(status) : '', code].filter((name) => name !== '');
  return (
    <>
      {message !== '' && <strong>{message} </strong>}
      {hint !== '' && <span>{hint} </span>}
      <span class="quiet">({names.join(' ')})</span>
    </>
  );
}

export function FailureNotice({ failure }: { readonly failure: Failure | null }) {
  if (failure === null) return null;
  const { status, code, message, hint } = failure;
  return (
    <div class="notice bad" role="alert" tabIndex={-1}>
      <FailureText {...{ status, code, message, hint }} />
    </div>
  );
}

interface LoadedProps<T> {
  readonly data: Pick<Data<T>, 'value' | 'failure'>;
  readonly children: (value: T) => ComponentChildren;
}

/** Shows data once it has arrived, and why it has not. */
export function Loaded<T>({ data: { value, failure }, children }: LoadedProps<T>) {
  return (
    <>
      <FailureNotice failure={failure} />
      {value === null ? failure === null && <Loading /> : children(value)}
    </>
  );
}

interface OutcomeProps extends Pick<Action, 'message' | 'failure'> {
  /** A next step after a success. */
  readonly children?: ComponentChildren;
}

/** An action's result or error. */
export function Outcome({ message, failure, children }: OutcomeProps) {
  return (
    <>
      <p role="status" class="quiet">
        {message} {message !== '' && children}
      </p>
      <FailureNotice failure={failure} />
    </>
  );
}

/** A warning that no worker runs, with the commands that start one. */
export function WorkerNotice({ warning }: { readonly warning: string }) {
  return (
    <p class="notice" role="status">
      {warning} Run <code>{launchCommand('start', 'npm start')}</code> to start one with the
      service, or <code>{launchCommand('worker', 'npm run start:worker')}</code> to start only a
      worker.
    </p>
  );
}

export function ReloadButton({ data }: { readonly data: Pick<Data<unknown>, 'busy' | 'reload'> }) {
  return (
    <button type="button" aria-disabled={data.busy} onClick={data.reload}>
      Load again
    </button>
  );
}
