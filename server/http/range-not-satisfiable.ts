import { ServiceError } from '../../contract/errors.ts';

/** The requested range begins after the end of the body; the response names the body's length. */
export class RangeNotSatisfiable extends ServiceError {
  /** In bytes. */
  readonly length: number;

  constructor(length: number) {
    super('range_not_satisfiable', `The range is outside of the ${length} bytes that there are.`);
    this.length = length;
  }
}
