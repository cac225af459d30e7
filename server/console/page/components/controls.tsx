import type { Project } from '@image-delivery/sdk/client';
import { fieldLabel, withoutBackticks } from '../api/format.ts';
import type { ParameterTexts } from '../api/image-url.ts';
import type { ApiParameter } from '../api/openapi.ts';
import { chooseKind, getWords } from '../api/schema.ts';
import { type FieldErrors, noErrors } from '../api/service.ts';
import { SchemaField } from './fields.tsx';
import { FieldGroups, useWide } from './schema-fields.tsx';

/** The groups in order; the first are open initially. */
const groups = ['size', 'format', 'crop', 'colour', 'filters', 'layers', 'delivery'];
const openCount = 2;

interface ControlsProps {
  readonly parameters: readonly ApiParameter[];
  readonly options: ParameterTexts;
  readonly onChange: (options: ParameterTexts) => void;
  /** The service's errors by parameter name. */
  readonly fieldErrors?: FieldErrors;
  /** Values of unset parameters; see {@link toDefaults}. */
  readonly defaults: Defaults;
}

type Defaults = Readonly<Record<string, number>>;

/** Returns the values of unset parameters by name, 0 for others. @param project null if unknown */
export function toDefaults(project: Project | null): Defaults {
  const { defaultQuality = 80, defaultDpr = 1 } = project ?? {};
  return { q: defaultQuality, dpr: defaultDpr, brightness: 1, saturation: 1, opacity: 1 };
}

export function Controls(props: ControlsProps) {
  const { parameters, options, onChange, fieldErrors = noErrors, defaults } = props;
  const open = useWide();
  const control = ({ name, schema, example, meaning, accepts }: ApiParameter) => {
    const kind = chooseKind(schema);
    const isFlag = kind === 'flag' && getWords(schema).length === 0;
    const isShort = isFlag || (kind === 'number' && (schema.maximum ?? 0) > 800);
    // The user types the value. Other controls offer only accepted values.
    const isFree =
      ['text', 'colour'].includes(kind) || (kind === 'number' && schema.anyOf !== undefined);
    return (
      <SchemaField
        key={name}
        name={name}
        schema={schema}
        label={name}
        value={options[name] ?? ''}
        onChange={(value) => onChange({ ...options, [name]: value })}
        error={fieldErrors.get(name)}
        unset={defaults[name]}
        short={isShort}
        placeholder={example === '' ? undefined : `e.g. ${example}`}
        help={withoutBackticks(isFree ? `${meaning} Accepts ${accepts}.` : meaning)}
      />
    );
  };
  return (
    <details open={open || fieldErrors.size > 0}>
      <summary>Parameters</summary>
      <FieldGroups
        groups={groups.map(fieldLabel)}
        openCount={openCount}
        fields={parameters.map((parameter) => ({
          name: parameter.name,
          group: fieldLabel(parameter.group),
          isUsed: (options[parameter.name] ?? '') !== '',
          texts: [parameter.meaning, ...parameter.aliases],
          control: control(parameter),
        }))}
        errors={fieldErrors}
        noun="parameter"
        example="colour"
      />
      <p>
        <button type="button" class="small" onClick={() => onChange({})}>
          Reset all
        </button>
      </p>
    </details>
  );
}
