import { isPartName, partNamePattern } from '../../store/preset.ts';
import { invalidRequest } from './validation-messages.ts';

/** The schema of preset and layer names. */
export const partNameSchema = {
  type: 'string',
  pattern: partNamePattern,
  description: 'A lower-case letter, followed by up to 39 lower-case letters, digits, - and _.',
} as const;

/** Checks the name of a preset or layer. @throws ServiceError invalid_request */
export function requirePartName(kind: 'preset' | 'layer', name: string): string {
  if (isPartName(name)) return name;
  throw invalidRequest(
    `the name of a ${kind} must begin with a lower-case letter, and have at most 40 lower-case letters, digits, - and _`,
  );
}
