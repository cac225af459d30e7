import { useState } from 'preact/hooks';
import { Choices } from './choices.tsx';
import { CopyText } from './copy.tsx';
import type { Snippet } from './snippets.ts';

interface SnippetsProps {
  readonly snippets: readonly Snippet[];
  readonly isLoading: boolean;
}

/** The code for the framework that the user chooses. */
export function Snippets({ snippets, isLoading }: SnippetsProps) {
  const [chosen, setChosen] = useState('');
  const shown = snippets.find(({ title }) => title === chosen) ?? snippets[0];
  const state = isLoading ? 'are being loaded' : 'are not known: it is a text, or it failed';
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
          {`The code for ${shown.title} states the size and the kind of the image, which ${state}.`}
        </p>
      )}
    </div>
  );
}
