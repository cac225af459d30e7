import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { countText } from '../api/format.ts';
import { exampleSource, type ParameterTexts, withAbsolute } from '../api/image-url.ts';
import { useProgress } from '../api/progress.ts';
import { getFields, type Schema, splitLines, toBody, type Values } from '../api/schema.ts';
import { ActionForm } from '../components/action-form.tsx';
import { Controls, toDefaults } from '../components/controls.tsx';
import { SelectField } from '../components/fields.tsx';
import { FailureNotice, Loading, StartWorker } from '../components/notice.tsx';
import { PageSection, type ProjectProps } from '../components/page-section.tsx';
import { SchemaFields } from '../components/schema-fields.tsx';
import { listParameters } from './presets.tsx';

interface Accepted {
  readonly path: string;
  /** Maximum number of images for the sources. */
  readonly images: number;
}

const modes = [
  ['sizes', 'Widths and formats'],
  ['variants', 'Variants, each with its own parameters'],
] as const;

/** The images that `auto` produces: AVIF, WebP, and a format for browsers that lack both. */
const autoImages = 3;

const imagesOfFormat = (format: string): number =>
  format === '' || format === 'auto' ? autoImages : 1;

const sum = (numbers: readonly number[]): number =>
  numbers.reduce((total, number) => total + number, 0);

/**
 * Returns the maximum images per source for these widths and formats. If no width is given there is
 * one; if no format is given, it is `auto`.
 */
function imagesOfFormats(widths: readonly string[], formats: readonly string[]): number {
  const each = sum(formats.length === 0 ? [autoImages] : formats.map(imagesOfFormat));
  return Math.max(1, new Set(widths).size) * each;
}

/** Returns the maximum images per source for these variants. */
const imagesOfVariants = (variants: readonly ParameterTexts[]): number =>
  sum(variants.map(({ fmt = '' }) => imagesOfFormat(fmt)));

/** Queues images to render before the first request. */
export function Prewarm({ api, project, description, missingWorker }: ProjectProps) {
  // `sources` replaces `src`, and the page shows the progress itself.
  const {
    src: _,
    callbackUrl: __,
    sources = {},
    variants: { maxItems = 50 } = {},
    ...all
  } = description.schemas['PrewarmInput']?.properties ?? {};
  const { variants: ___, ...sizes } = all as Readonly<Record<string, Schema>>;
  const parameters = listParameters(description, 'PrewarmVariant');
  const variantFields = parameters.map((parameter) => [parameter.name, parameter.schema] as const);
  const { q = 0, dpr = 0 } = toDefaults(project);
  const [values, setValues] = useState<Values>({ formats: 'auto' });
  const [way, setWay] = useState<string>('sizes');
  const [variants, setVariants] = useState<readonly ParameterTexts[]>([{ w: '800' }]);
  const [accepted, setAccepted] = useState<Accepted | null>(null);
  const isVariants = way === 'variants';
  const sourceCount = new Set(splitLines(values['sources'] ?? '', /\s+/)).size;
  const each = isVariants
    ? imagesOfVariants(variants)
    : imagesOfFormats(splitLines(values['widths'] ?? ''), splitLines(values['formats'] ?? ''));
  const images = sourceCount * each;
  const submit = async () => {
    const absolute = withAbsolute(values, project.origin);
    const body = isVariants
      ? {
          ...toBody([['sources', sources]], absolute),
          variants: variants.map((variant) => toBody(variantFields, variant)),
        }
      : toBody(getFields({ properties: { sources, ...sizes } }), absolute);
    const { locatedId } = await api('POST', `/projects/${project.id}/prewarm`, body);
    const path = `/projects/${project.id}/prewarms/${locatedId}`;
    setAccepted({ path, images });
    return '';
  };
  return (
    <PageSection
      title="Prewarm"
      project={project}
      intro="Renders images before clients request them, when the service has time."
    >
      {missingWorker !== null && (
        <p class="notice" role="status">
          {missingWorker} <StartWorker />
        </p>
      )}
      <div class="card">
        <ActionForm label="Prewarm" submit="Prewarm" onSubmit={submit}>
          {(errors) => (
            <>
              <SchemaFields
                schema={{ properties: { sources }, required: ['sources'] }}
                values={values}
                onChange={setValues}
                errors={errors}
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
                <Rows
                  label="Variants"
                  noun="Variant"
                  rows={variants}
                  empty={{}}
                  most={maxItems}
                  onChange={setVariants}
                >
                  {(variant, change) => (
                    <Controls
                      parameters={parameters}
                      options={variant}
                      defaults={toDefaults(project)}
                      onChange={change}
                    />
                  )}
                </Rows>
              ) : (
                <div class="fields">
                  <SchemaFields
                    schema={{ properties: sizes }}
                    values={values}
                    onChange={setValues}
                    errors={errors}
                    unset={{ quality: q, dpr }}
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
        {accepted !== null && <PrewarmProgress key={accepted.path} api={api} {...accepted} />}
      </div>
    </PageSection>
  );
}

function PrewarmProgress({ api, path, images }: Pick<ProjectProps, 'api'> & Accepted) {
  const { status: prewarm, failure } = useProgress(api, path, 'prewarm');
  if (prewarm === null) return failure === null ? <Loading /> : <FailureNotice failure={failure} />;
  const { status, progress, sourceCount, sources, failures } = prewarm;
  const { waiting, running, done, failed } = sources;
  const counts = `${done} done, ${running} running, ${waiting} waiting, ${failed} failed.`;
  return (
    <div class="progress">
      <label for="prewarm-progress">
        {countText(sourceCount, 'source')}, {countText(images, 'image')} accepted
      </label>
      <progress id="prewarm-progress" max={100} value={progress} />
      <p role="status">{status === 'done' ? 'All done.' : counts}</p>
      {failures.map(({ source, reason }) => (
        <p class="notice" key={source}>
          {source}: {reason}
        </p>
      ))}
      <FailureNotice failure={failure} />
    </div>
  );
}

interface RowsProps<T> {
  readonly label: string;
  readonly noun: string;
  readonly rows: readonly T[];
  readonly empty: T;
  readonly most: number;
  readonly onChange: (rows: readonly T[]) => void;
  readonly children: (row: T, change: (row: T) => void, index: number) => ComponentChildren;
}

/** Groups of controls that the user adds and removes; at least one remains. */
function Rows<T>({ label, noun, rows, empty, most, onChange, children }: RowsProps<T>) {
  const list = useRef<HTMLDivElement>(null);
  /** The row to focus; a new object per change. */
  const [focus, setFocus] = useState<{ readonly index: number } | null>(null);
  useLayoutEffect(() => {
    if (focus === null) return;
    const row = list.current?.children[focus.index];
    row?.querySelector<HTMLElement>('input:not([type=search]), select, textarea')?.focus();
  }, [focus]);
  const add = () => {
    onChange([...rows, empty]);
    setFocus({ index: rows.length });
  };
  const remove = (index: number) => {
    onChange(rows.filter((_, other) => other !== index));
    setFocus({ index: Math.max(0, index - 1) });
  };
  return (
    <fieldset class="repeated">
      <legend>{label}</legend>
      <div ref={list}>
        {rows.map((row, index) => (
          <fieldset class="card" key={index}>
            <legend>
              {noun} {index + 1}
            </legend>
            {children(
              row,
              (changed) =>
                onChange(rows.map((otherRow, other) => (other === index ? changed : otherRow))),
              index,
            )}
            {rows.length > 1 && (
              <button type="button" class="small" onClick={() => remove(index)}>
                Remove
                <span class="hidden">
                  {' '}
                  {noun} {index + 1}
                </span>
              </button>
            )}
          </fieldset>
        ))}
      </div>
      {rows.length < most && (
        <button type="button" class="small" onClick={add}>
          Add a {noun.toLowerCase()}
        </button>
      )}
    </fieldset>
  );
}
