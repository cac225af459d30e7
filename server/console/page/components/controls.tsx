import type { Project } from '@image-delivery/sdk/client';
import { fieldLabel, withoutBackticks } from '../api/format.ts';
import type { ApiParameter } from '../api/openapi.ts';
import { chooseKind, getWords, type Values } from '../api/schema.ts';
import { type FieldErrors, noErrors } from '../api/service.ts';
import { type FormField, GroupedFields, useWide } from './schema-fields.tsx';

interface ControlsProps {
  readonly parameters: readonly ApiParameter[];
  readonly values: Values;
  readonly onChange: (values: Values) => void;
  /** The service's errors by parameter name. */
  readonly errors?: FieldErrors;
  /** The project whose defaults apply, or null if unknown. */
  readonly project: Project | null;
}

/** Returns the values of unset parameters by name, 0 for others. @param project null if unknown */
export function toDefaults(project: Project | null): Readonly<Record<string, number>> {
  const { defaultQuality = 80, defaultDpr = 1 } = project ?? {};
  return { q: defaultQuality, dpr: defaultDpr, brightness: 1, saturation: 1, opacity: 1 };
}

function toFormField({ name, schema, example, ...parameter }: ApiParameter): FormField {
  const { group, meaning, accepts, aliases } = parameter;
  const kind = chooseKind(schema);
  const isFlag = kind === 'flag' && getWords(schema).length === 0;
  // The user types the value. Other controls offer only accepted values.
  const isFree =
    ['text', 'colour'].includes(kind) || (kind === 'number' && schema.anyOf !== undefined);
  return {
    name,
    schema,
    label: name,
    group: fieldLabel(group),
    aliases,
    short: isFlag || (kind === 'number' && (schema.maximum ?? 0) > 800),
    placeholder: example === '' ? undefined : `e.g. ${example}`,
    help: withoutBackticks(isFree ? `${meaning} Accepts ${accepts}.` : meaning),
  };
}

/** Controls for transform parameters. */
export function Controls({ parameters, project, errors = noErrors, ...form }: ControlsProps) {
  const open = useWide();
  const defaults = toDefaults(project);
  const isUsable = ({ name, needs }: ApiParameter) =>
    needs === undefined || Boolean(form.values[needs] || form.values[name]);
  const fields = parameters.filter(isUsable).map((parameter) => ({
    ...toFormField(parameter),
    unset: defaults[parameter.name],
  }));
  return (
    <details open={open || errors.size > 0}>
      <summary>Parameters</summary>
      <GroupedFields {...{ fields, errors }} {...form} noun="parameter" grid="controls" />
      <p>
        <button type="button" class="small" onClick={() => form.onChange({})}>
          Reset all
        </button>
      </p>
    </details>
  );
}
