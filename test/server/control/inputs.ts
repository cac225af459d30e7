import type { Operation } from '../../../server/control/operation.ts';
import { operations } from '../../../server/control/operations.ts';
import type { NamedSchema } from '../../../server/control/schema.ts';

const inputs = new Map(
  Object.values<Operation>(operations).flatMap(({ input }) =>
    input === undefined ? [] : [[input.name, input] as const],
  ),
);

/** Names of the request bodies. */
export const inputNames = [...inputs.keys()];

/** Returns the request body schema with a name. */
export function inputNamed(name: string): NamedSchema<unknown> {
  const input = inputs.get(name);
  if (input === undefined) throw new Error(`no operation takes ${name}`);
  return input;
}
