import type { Layer } from '@image-delivery/sdk/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useData } from '../api/action.ts';
import { formText } from '../api/format.ts';
import { browsers, useImage, useSignPath } from '../api/image.ts';
import { imagePath, isSource } from '../api/image-url.ts';
import { getField, type Schema, toBody, toValues, type Values } from '../api/schema.ts';
import { type Api, Failure } from '../api/service.ts';
import { useOpenProject } from '../app.ts';
import { SelectField } from '../components/fields.tsx';
import { type ItemFieldsProps, itemsPage } from '../components/items-page.tsx';
import { Preview, PreviewImage, usePreviewSource } from '../components/preview.tsx';
import { GroupedFields, toFormFields } from '../components/schema-fields.tsx';
import { linkTo } from '../route.ts';

const kinds = [
  ['text', 'A text'],
  ['image', 'An image'],
] as const;

/** Field names by group. */
const groups = {
  Content: ['words', 'freeText', 'url', 'scale'],
  Font: ['size', 'color', 'weight', 'font', 'fontUrl'],
  Place: ['position', 'offsetX', 'offsetY', 'rotate', 'tiled'],
  Box: ['background', 'padding', 'width', 'height', 'radius', 'align', 'maxLines'],
  Effects: ['opacity', 'blend'],
};

/** The text of a new layer: readable on images of any size. */
const newText: Values = {
  size: '8%',
  weight: '700',
  color: 'fff',
  background: '000a',
  padding: '2%',
};

/** Returns a layer's body from the texts of its controls. */
const toLayer = (schema: Schema, { kind = 'text', ...values }: Values): object => ({
  [kind]: toBody(getField(schema, kind), values),
});

/** A project's layers: named texts and images. */
export const Layers = itemsPage<Layer>({
  noun: 'Layer',
  nameField: 'layerName',
  singular: 'layer',
  title: 'Layers',
  intro: (
    <>
      Named images and texts: <code>layer=badge,price</code> in an image URL draws these layers, and{' '}
      <code>text.price=19%20€</code> replaces a layer's text.
    </>
  ),
  nameLabel: 'Layer name',
  nameHelp:
    'A lower-case letter, then up to 39 lower-case letters, digits, - and _. Example: badge',
  getName: ({ name }) => name,
  describe: ({ image, text }) =>
    image === undefined ? (
      `text: ${String(text?.['words'] ?? '')}`
    ) : (
      <>
        image: <code>{String(image['url'])}</code>
      </>
    ),
  getLink: ({ name }, project) => linkTo('/', { project, layer: name }),
  getWarnings: ({ warnings = [] }) => warnings,
  consequence: (name) => (
    <>
      URLs with <code>layer={name}</code> stop working.
    </>
  ),
  saved: 'Images with it change within two seconds.',
  form: {
    Fields: LayerFields,
    toValues: (schema, layer) => {
      if (layer === null) return { ...newText, kind: 'text' };
      const kind = layer.image === undefined ? 'text' : 'image';
      return { ...toValues(getField(schema, kind), layer[kind] ?? null), kind };
    },
    toBody: toLayer,
  },
});

function LayerFields({ schema, values, onChange, errors }: ItemFieldsProps) {
  const { api } = useOpenProject();
  const fonts = useData(() => api.listFonts(), [api]).value ?? [];
  const kind = values['kind'] ?? 'text';
  const fields = toFormFields(getField(schema, kind), { groups }).map((field) => {
    if (field.name !== 'font') return field;
    // A stored family might be gone.
    const names = new Set([...fonts.map(({ name }) => name), values['font'] ?? '']);
    names.delete('');
    return { ...field, schema: { enum: [...names] } };
  });
  return (
    <div class="split">
      <div>
        <SelectField
          label="What is drawn"
          help="Words in a font, or another image."
          value={kind}
          onChange={(next) => onChange({ ...values, kind: next })}
          options={kinds}
        />
        <GroupedFields {...{ fields, values, onChange, errors }} />
      </div>
      <LayerPreview layer={toLayer(schema, values)} />
    </div>
  );
}

const debounceMs = 400;
const [[modernAccept]] = browsers;
const width = '640';

interface Draft {
  /** The preview layer's name, or null before the first write. */
  readonly name: string | null;
  readonly changes: number;
  /** Why the service does not draw the layer, or not all of it; '' without a fault. */
  readonly fault: string;
}

/**
 * Stores the form's content as a temporary layer, because images can contain only stored layers.
 * The layer name is unique. The closing form deletes the layer.
 *
 * @param json null if there is no layer
 */
function useDraft(api: Api, projectId: string, json: string | null): Draft {
  const [draft, setDraft] = useState<Draft>({ name: null, changes: 0, fault: '' });
  const name = useRef(`draft-${crypto.getRandomValues(new Uint32Array(1))[0]?.toString(36)}`);
  /** The end of the last change, so that changes arrive in order. */
  const last = useRef<Promise<unknown>>(Promise.resolve());
  const isStored = useRef(false);
  useEffect(() => {
    if (json === null) return;
    const store = async () => {
      isStored.current = true;
      try {
        const input = { projectId, layerName: name.current, ...JSON.parse(json) };
        const { warnings = [] } = await api.putProjectLayer(input);
        const fault = formText(warnings.join(' '));
        setDraft(({ changes }) => ({ name: name.current, changes: changes + 1, fault }));
      } catch (error) {
        const { message, hint } = Failure.of(error);
        setDraft((before) => ({ ...before, fault: `Preview failed: ${message} ${hint}` }));
      }
    };
    const timer = setTimeout(() => {
      last.current = last.current.then(store);
    }, debounceMs);
    return () => clearTimeout(timer);
  }, [api, projectId, json]);
  useEffect(() => {
    const remove = () => {
      if (!isStored.current) return;
      isStored.current = false;
      // If the deletion fails, the list of layers shows the layer.
      api.deleteProjectLayer({ projectId, layerName: name.current }).then(null, () => {});
    };
    // Covers closing the tab.
    addEventListener('pagehide', remove);
    return () => {
      removeEventListener('pagehide', remove);
      void last.current.then(remove);
    };
  }, [api, projectId]);
  return draft;
}

/** An image that previews the edited layer. */
function LayerPreview({ layer }: { readonly layer: object }) {
  const { api, project } = useOpenProject();
  const [source, setSource] = usePreviewSource(project.id);
  const isShown = isSource(source);
  const isComplete = Object.values(layer).some((parts) => 'words' in parts || 'url' in parts);
  const draft = useDraft(api, project.id, isComplete ? JSON.stringify(layer) : null);
  const options = { w: width, layer: draft.name ?? '' };
  const path = isShown ? imagePath({ source, project: project.id, options }) : null;
  const sign = useSignPath(project);
  const image = useImage(path, modernAccept, sign, draft.changes);
  const isDrawn = draft.name !== null && image.loaded?.path === path;
  return (
    <Preview
      source={source}
      onChange={setSource}
      fault={draft.fault}
      note={
        <>
          While the form is open, the project has the layer <code>draft-…</code> for this preview.
        </>
      }
    >
      <PreviewImage title={isDrawn ? 'With the layer' : 'Without the layer'} state={image} />
    </Preview>
  );
}
