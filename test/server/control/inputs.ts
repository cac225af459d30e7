import type { Operation } from '../../../server/control/operation.ts';
import { operations } from '../../../server/control/operations.ts';
import type { NamedSchema } from '../../../server/control/schema.ts';

const inputs = new Map(
  Object.values<Operation>(operations).flatMap(({ input }) =>
    input === undefined ? [] : [[input.name, input] as const],
  ),
);

/** The names of the bodies of requests. */
export const inputNames = [...inputs.keys()];

/** The body of requests with a name. */
export function inputNamed(name: string): NamedSchema<unknown> {
  const input = inputs.get(name);
  if (input === undefined) throw new Error(`no operation takes ${name}`);
  return input;
}
