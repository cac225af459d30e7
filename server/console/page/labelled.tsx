import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

/** A control for a text value. */
export interface FieldProps {
  readonly label: string;
  /** '' if unset. */
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly placeholder?: string | undefined;
  readonly required?: boolean;
  readonly help?: string | undefined;
  /** The service's error for the value. */
  readonly error?: string | undefined;
  /** The API's field or parameter name. */
  readonly name?: string;
  /** Whether two controls fit in one row. */
  readonly short?: boolean;
}

/** A control's attributes, which connect it to its label and texts. */
interface Attributes {
  readonly id: string;
  readonly value: string;
  readonly placeholder: string | undefined;
  readonly required: boolean | undefined;
  readonly onInput: (event: { readonly currentTarget: { readonly value: string } }) => void;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': boolean;
}

interface LabelledProps extends FieldProps {
  readonly control: (attributes: Attributes) => ComponentChildren;
}

export function Labelled(props: LabelledProps) {
  const { label, value, onChange, placeholder, required, name, short = false, control } = props;
  const { help = '', error = '' } = props;
  const id = useId();
  const helpId = `${id}-help`;
  const errorId = `${id}-error`;
  const described = [error === '' ? '' : errorId, help === '' ? '' : helpId].join(' ').trim();
  return (
    <div class={short ? 'field short' : 'field'} data-name={name}>
      <label for={id}>{label}</label>
      {control({
        id,
        value,
        placeholder,
        required,
        onInput: (event) => onChange(event.currentTarget.value),
        'aria-describedby': described || undefined,
        'aria-invalid': error !== '',
      })}
      {error !== '' && (
        <p class="help error" id={errorId}>
          {error}
        </p>
      )}
      {help !== '' && (
        <p class="help" id={helpId}>
          {help}
        </p>
      )}
    </div>
  );
}

interface TextFieldProps extends FieldProps {
  readonly type?: 'text' | 'url' | 'password' | 'search';
  readonly maxLength?: number | undefined;
}

export function TextField({ type = 'text', maxLength, ...field }: TextFieldProps) {
  return (
    <Labelled
      {...field}
      control={(attributes) => (
        <input
          {...attributes}
          maxLength={maxLength}
          // Preact's input type does not accept a union of these types.
          type={type as 'text'}
          // Enter in a search must not send the form around it.
          form={type === 'search' ? '' : undefined}
          autocomplete="off"
          spellcheck={false}
        />
      )}
    />
  );
}

interface SelectFieldProps extends FieldProps {
  readonly options: ReadonlyArray<readonly [value: string, text: string]>;
}

export function SelectField({ options, ...field }: SelectFieldProps) {
  return (
    <Labelled
      {...field}
      control={(attributes) => (
        <select {...attributes}>
          {options.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    />
  );
}
