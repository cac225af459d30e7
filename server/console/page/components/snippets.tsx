import { useState } from 'preact/hooks';
import type { Snippet } from '../playground/snippets.ts';
import { CopyText } from './copy.tsx';

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

interface SnippetsProps {
  readonly snippets: readonly Snippet[];
  readonly isLoading: boolean;
}

/** The code for the framework that the user chooses. */
export function Snippets({ snippets, isLoading }: SnippetsProps) {
  const [chosen, setChosen] = useState('');
  const shown = snippets.find(({ title }) => title === chosen) ?? snippets[0];
  const titles = snippets.map(({ title }) => title);
  return (
    <div class="snippets">
      <Choices
        legend="Code for"
        name="snippet"
        options={titles}
        value={shown?.title}
        onChange={setChosen}
      />
      {shown?.code != null && <CopyText label={`code for ${shown.title}`} text={shown.code} />}
      {shown?.code === null && (
        <p class="quiet">
          {isLoading
            ? `The code for ${shown.title} appears when the image has loaded.`
            : `No code for ${shown.title}: this request returned no image, so its size is unknown.`}
        </p>
      )}
    </div>
  );
}
