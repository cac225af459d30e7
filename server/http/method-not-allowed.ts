import { ServiceError } from '../../contract/errors.ts';

/** There is something at the path, but not for this method: the answer names those that there are. */
export class MethodNotAllowed extends ServiceError {
  readonly allowed: readonly string[];

  constructor(method: string, path: string, allowed: readonly string[]) {
    super(
      'method_not_allowed',
      `There is no ${method.slice(0, 40)} ${path.slice(0, 200)}, but ${allowed.join(', ')}.`,
    );
    this.allowed = allowed;
  }
}
