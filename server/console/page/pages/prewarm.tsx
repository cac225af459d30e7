import type { OperationInput, PrewarmReference, PrewarmStatus } from '@image-delivery/sdk/client';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { countText } from '../api/format.ts';
import { missingWorker } from '../api/health.ts';
import { exampleSource, type ParameterTexts, withAbsolute } from '../api/image-url.ts';
import { type ApiParameter, listParameters } from '../api/openapi.ts';
import { useProgress } from '../api/progress.ts';
import { splitLines, toBody, type Values } from '../api/schema.ts';
import { useOpenProject } from '../app.ts';
import { ActionForm } from '../components/action-form.tsx';
import { Controls, toDefaults } from '../components/controls.tsx';
import { SelectField } from '../components/fields.tsx';
import { Loaded, WorkerNotice } from '../components/notice.tsx';
import { PageSection } from '../components/page-section.tsx';
import { SchemaFields } from '../components/schema-fields.tsx';

interface Accepted extends PrewarmReference {
  /** Maximum number of images for the sources. */
  readonly images: number;
}

const modes = [
  ['sizes', 'Widths and formats'],
  ['variants', 'Variants, each with its own parameters'],
] as const;

/** The images that `auto` produces: AVIF, WebP, and a format for browsers that lack both. */
const autoImages = 3;

/** Returns the maximum number of images for these formats, of which '' is `auto`. */
const countImages = (formats: readonly string[]): number =>
  formats.reduce((sum, fmt) => sum + (fmt === '' || fmt === 'auto' ? autoImages : 1), 0);

/** Queues images to render before the first request. */
export function Prewarm() {
  const { api, project, description, history } = useOpenProject();
  const warning = missingWorker(history);
  const { properties = {} } = description.getBody('prewarmProjectImages');
  const { sources = {}, variants: variantList } = properties;
  // `sources` replaces `src`, and the page shows the progress itself.
  const others = ['src', 'callbackUrl', 'sources', 'variants'];
  const sizes = Object.fromEntries(
    Object.entries(properties).filter(([name]) => !others.includes(name)),
  );
  const variantSchema = variantList?.items ?? {};
  const parameters = listParameters(description, variantSchema);
  const defaults = toDefaults(project);
  const [values, setValues] = useState<Values>({ formats: 'auto' });
  const [way, setWay] = useState<string>('sizes');
  const [variants, setVariants] = useState<readonly ParameterTexts[]>([{ w: '800' }]);
  const [accepted, setAccepted] = useState<Accepted | null>(null);
  const isVariants = way === 'variants';
  const sourceCount = new Set(splitLines(values['sources'] ?? '', /\s+/)).size;
  const formats = splitLines(values['formats'] ?? '');
  const widthCount = Math.max(1, new Set(splitLines(values['widths'] ?? '')).size);
  const each = isVariants
    ? countImages(variants.map(({ fmt = '' }) => fmt))
    : widthCount * countImages(formats.length === 0 ? ['auto'] : formats);
  const images = sourceCount * each;
  const submit = async () => {
    const absolute = withAbsolute(values, project.origin);
    const body = isVariants
      ? {
          ...toBody({ properties: { sources } }, absolute),
          variants: variants.map((variant) => toBody(variantSchema, variant)),
        }
      : toBody({ properties: { sources, ...sizes } }, absolute);
    const input = { projectId: project.id, ...body } as OperationInput<'prewarmProjectImages'>;
    const { prewarmId } = await api.prewarmProjectImages(input);
    setAccepted({ prewarmId, projectId: project.id, images });
    return '';
  };
  return (
    <PageSection
      title="Prewarm"
      intro="Renders images before clients request them, when the service has time."
    >
      {warning !== null && <WorkerNotice warning={warning} />}
      <div class="card">
        <ActionForm label="Prewarm" submit="Prewarm" onSubmit={submit}>
          {(errors) => (
            <>
              <SchemaFields
                schema={{ properties: { sources }, required: ['sources'] }}
                {...{ values, errors }}
                onChange={setValues}
                placeholders={{ sources: exampleSource(project.origin) }}
              />
              <SelectField
                label="Images"
                help="The same widths and formats for all sources, or a list of parameters."
                value={way}
                onChange={setWay}
                options={modes}
              />
              {isVariants ? (
                <Variants
                  {...{ variants, parameters }}
                  most={variantList?.maxItems ?? 50}
                  onChange={setVariants}
                />
              ) : (
                <div class="fields">
                  <SchemaFields
                    schema={{ properties: sizes }}
                    {...{ values, errors }}
                    onChange={setValues}
                    unset={{ quality: defaults['q'] ?? 0, dpr: defaults['dpr'] ?? 0 }}
                  />
                </div>
              )}
              <p role="status">
                {countText(sourceCount, 'source')} × {countText(each, 'image')} ={' '}
                <strong>{countText(images, 'image')}</strong>
                <span class="quiet">
                  {' '}
                  at most. The format auto counts three times: AVIF, WebP, and one for browsers
                  without them.
                </span>
              </p>
            </>
          )}
        </ActionForm>
        {accepted !== null && <PrewarmProgress key={accepted.prewarmId} {...accepted} />}
      </div>
    </PageSection>
  );
}

interface VariantsProps {
  readonly variants: readonly ParameterTexts[];
  readonly most: number;
  readonly parameters: readonly ApiParameter[];
  readonly onChange: (variants: readonly ParameterTexts[]) => void;
}

/** The variants, which the user adds and removes; at least one remains. */
function Variants({ variants, most, parameters, onChange }: VariantsProps) {
  const { project } = useOpenProject();
  const list = useRef<HTMLDivElement>(null);
  /** The variant to focus; a new object per change. */
  const [focus, setFocus] = useState<{ readonly index: number } | null>(null);
  useLayoutEffect(() => {
    if (focus === null) return;
    const variant = list.current?.children[focus.index];
    variant?.querySelector<HTMLElement>('input:not([type=search]), select, textarea')?.focus();
  }, [focus]);
  const change = (next: readonly ParameterTexts[], index: number) => {
    onChange(next);
    setFocus({ index });
  };
  return (
    <fieldset class="repeated">
      <legend>Variants</legend>
      <div ref={list}>
        {variants.map((variant, index) => (
          <fieldset class="card" key={index}>
            <legend>Variant {index + 1}</legend>
            <Controls
              {...{ parameters, project }}
              values={variant}
              onChange={(values) => onChange(variants.with(index, values))}
            />
            {variants.length > 1 && (
              <button
                type="button"
                class="small"
                onClick={() => change(variants.toSpliced(index, 1), Math.max(0, index - 1))}
              >
                Remove<span class="hidden"> Variant {index + 1}</span>
              </button>
            )}
          </fieldset>
        ))}
      </div>
      {variants.length < most && (
        <button
          type="button"
          class="small"
          onClick={() => change([...variants, {}], variants.length)}
        >
          Add a variant
        </button>
      )}
    </fieldset>
  );
}

function PrewarmProgress({ images, ...prewarm }: Accepted) {
  const { api } = useOpenProject();
  const progress = useProgress(() => api.getProjectPrewarm(prewarm));
  const describe = ({ waiting, running, done, failed }: PrewarmStatus['sources']) =>
    `${done} done, ${running} running, ${waiting} waiting, ${failed} failed.`;
  return (
    <Loaded data={progress}>
      {({ status, progress, sourceCount, sources, failures }) => (
        <div class="progress">
          <label for="prewarm-progress">
            {countText(sourceCount, 'source')}, {countText(images, 'image')} accepted
          </label>
          <progress id="prewarm-progress" max={100} value={progress} />
          <p role="status">{status === 'done' ? 'All done.' : describe(sources)}</p>
          {failures.map(({ source, reason }) => (
            <p class="notice" key={source}>
              {source}: {reason}
            </p>
          ))}
        </div>
      )}
    </Loaded>
  );
}
