import type { ComponentChildren } from 'preact';
import type { Action } from './action.ts';
import type { Failure } from './service.ts';

/** A service error with its hint. */
export function FailureNotice({ failure }: { readonly failure: Failure | null }) {
  if (failure === null) return null;
  return (
    <div class="notice bad" role="alert" tabIndex={-1}>
      <strong>{failure.message}</strong>
      {failure.hint !== '' && <span> {failure.hint}</span>}
      {failure.status > 0 && (
        <span class="quiet">
          {' '}
          ({failure.status}
          {failure.code !== '' && ` ${failure.code}`})
        </span>
      )}
    </div>
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
