import type { Failure } from './service.ts';

/** The errors of a form by the names of its fields. */
export type FieldErrors = ReadonlyMap<string, string>;

export const noErrors: FieldErrors = new Map();

/** The key of the error of a part's name. No field has this name. */
export const nameKey = '';

/** `parameters.crop must …`, `sources[1] (https://…) must …`, `the name of a preset must …`. */
const pattern =
  /^(?:the name of a \w+|(?:\w+\.)?(\w+)(?:\[(\d+)\](?:\.\w+)*)?(?: \(.*?\))?) ((?:must|is|needs|has) .+)$/s;

/** The errors that the message of a refused body lists, by the name of the innermost object's field. */
export function fieldErrorsOf(failure: Failure | null): FieldErrors {
  if (failure?.status !== 400) return noErrors;
  return new Map(
    failure.message
      .replace(/\.$/, '')
      .split('; ')
      .flatMap((error) => {
        const [, name = nameKey, index, rule] = pattern.exec(error) ?? [];
        if (rule === undefined) return [];
        const subject = index === undefined ? 'It' : `Number ${Number(index) + 1}`;
        return [[name, `${subject} ${rule}.`] as const];
      }),
  );
}
