import type { Layer } from '@image-delivery/sdk/client';
import { useData } from '../api/action.ts';
import type { ParameterTexts } from '../api/image-url.ts';
import { useApp } from '../app.ts';
import { TextField } from '../components/fields.tsx';
import { Loading } from '../components/notice.tsx';
import { linkTo } from '../route.ts';

interface LayersFieldProps {
  readonly project: string;
  readonly options: ParameterTexts;
  readonly onChange: (options: ParameterTexts) => void;
}

const namesIn = (options: ParameterTexts): readonly string[] =>
  (options['layer'] ?? '').split(',').filter((name) => name !== '');

/**
 * Chooses the project's layers, which requires an API key, and takes the texts of layers in the
 * URL.
 */
export function LayersField({ project, options, onChange }: LayersFieldProps) {
  const { api, projects } = useApp().session;
  const isListed = projects?.some(({ id }) => id === project) ?? false;
  const load = async () =>
    api === null || !isListed ? [] : api.listProjectLayers({ projectId: project });
  const { value, failure } = useData<readonly Layer[]>(load, [api, project, isListed]);
  // The image, which needs no key, appears even if its layers cannot be listed.
  const layers = failure === null ? value : [];
  const chosen = namesIn(options);
  if (layers === null) return isListed ? <Loading /> : null;
  const kept = new Map(layers.map((layer) => [layer.name, layer]));
  const textual = chosen.filter((name) => kept.get(name)?.image === undefined);
  if (layers.length === 0 && textual.length === 0) {
    if (!isListed) return null;
    return (
      <p class="field">
        <a href={linkTo(`/projects/${project}/layers`)}>Draw a text or a logo over the image</a>
      </p>
    );
  }
  const toggle = (name: string) => {
    const isChosen = chosen.includes(name);
    const names = isChosen ? chosen.filter((layer) => layer !== name) : [...chosen, name];
    const words = isChosen ? { [`text.${name}`]: '' } : {};
    onChange({ ...options, ...words, layer: names.join() });
  };
  return (
    <fieldset class="field">
      <legend>Layers</legend>
      <p class="help">Drawn over the image, in the order in which you choose them.</p>
      {layers.map(({ name }) => (
        <label key={name}>
          <input type="checkbox" checked={chosen.includes(name)} onChange={() => toggle(name)} />{' '}
          {name}
        </label>
      ))}
      {textual.map((name) => (
        <TextField
          key={name}
          label={`Words of ${name}`}
          value={options[`text.${name}`] ?? ''}
          onChange={(words) => onChange({ ...options, [`text.${name}`]: words })}
          placeholder={String(kept.get(name)?.text?.['words'] ?? '')}
          help="Custom text needs a signed URL unless the layer allows free text. Example: 19,90 €"
        />
      ))}
    </fieldset>
  );
}
