import { ServiceError } from '../../contract/errors.ts';

/** The path exists, but not with this method; the response names the allowed ones. */
export class MethodNotAllowed extends ServiceError {
  readonly path: string;
  readonly allowed: readonly string[];

  constructor(method: string, path: string, allowed: readonly string[]) {
    super(
      'method_not_allowed',
      `${method.slice(0, 40)} is not allowed at ${path.slice(0, 200)}, only ${allowed.join(', ')}.`,
    );
    this.path = path;
    this.allowed = allowed;
  }
}
