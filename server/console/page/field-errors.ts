import { formText } from './format.ts';
import type { Failure } from './service.ts';

/** A form's errors by field name. */
export type FieldErrors = ReadonlyMap<string, string>;

export const noErrors: FieldErrors = new Map();

/** The key of an error about the item's own name, which never collides with a field name. */
export const nameKey = '';

/** `parameters.crop must …`, `sources[1] (https://…) must …`, `the name of a preset must …`. */
const pattern =
  /^(?:the name of a \w+|(?:\w+\.)?(\w+)(?:\[(\d+)\](?:\.\w+)*)?(?: \(.*?\))?) ((?:must|is|needs|has) .+)$/s;

/** Returns the errors listed in a refusal, by the field name of the innermost object. */
export function toFieldErrors(failure: Failure | null): FieldErrors {
  if (failure?.status !== 400) return noErrors;
  return new Map(
    failure.message
      .replace(/\.$/, '')
      .split('; ')
      .flatMap((error) => {
        const [, name = nameKey, index, rule] = pattern.exec(error) ?? [];
        if (rule === undefined) return [];
        const subject = index === undefined ? 'It' : `Number ${Number(index) + 1}`;
        return [[name, formText(`${subject} ${rule}.`)] as const];
      }),
  );
}
