interface ChoicesProps<T extends string> {
  /** The group's name, for screen readers only. */
  readonly legend: string;
  readonly name: string;
  readonly options: readonly T[];
  readonly value: T | undefined;
  readonly onChange: (value: T) => void;
}

/** Radio buttons in a row. */
export function Choices<T extends string>(props: ChoicesProps<T>) {
  const { legend, name, options, value, onChange } = props;
  return (
    <fieldset class="segments">
      <legend class="hidden">{legend}</legend>
      {options.map((option) => (
        <label key={option}>
          <input
            class="whole"
            type="radio"
            name={name}
            checked={option === value}
            onChange={() => onChange(option)}
          />
          {option}
        </label>
      ))}
    </fieldset>
  );
}
