import { useState } from 'preact/hooks';
import { ActionForm } from './action-form.tsx';
import { Controls, defaultsOf } from './controls.tsx';
import { SchemaFields } from './form.tsx';
import { countOf } from './format.ts';
import type { ParameterTexts } from './image-url.ts';
import { SelectField } from './labelled.tsx';
import { PageSection, type ProjectProps } from './page-section.tsx';
import { parametersOf } from './presets.tsx';
import { imagesOfFormats, imagesOfVariants } from './prewarm-count.ts';
import { PrewarmProgress } from './prewarm-progress.tsx';
import { Rows } from './rows.tsx';
import { bodyOf, fieldsOf, linesOf, type Schema, type Values } from './schema.ts';
import { StartWorker } from './start-worker.tsx';

interface Accepted {
  readonly path: string;
  /** The most images of its sources. */
  readonly images: number;
}

const ways = [
  ['sizes', 'Widths and formats'],
  ['variants', 'Variants, each with its own parameters'],
] as const;

/** Queues images to be rendered before they are requested. */
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
  const parameters = parametersOf(description, 'PrewarmVariant');
  const variantFields = parameters.map((one) => [one.name, one.schema] as const);
  const { q = 0, dpr = 0 } = defaultsOf(project);
  const [values, setValues] = useState<Values>({ formats: 'auto' });
  const [way, setWay] = useState<string>('sizes');
  const [variants, setVariants] = useState<readonly ParameterTexts[]>([{ w: '800' }]);
  const [accepted, setAccepted] = useState<Accepted | null>(null);
  const isVariants = way === 'variants';
  const sourceCount = new Set(linesOf(values['sources'] ?? '', /\s+/)).size;
  const each = isVariants
    ? imagesOfVariants(variants)
    : imagesOfFormats(linesOf(values['widths'] ?? ''), linesOf(values['formats'] ?? ''));
  const images = sourceCount * each;
  const submit = async () => {
    const body = isVariants
      ? {
          ...bodyOf([['sources', sources]], values),
          variants: variants.map((variant) => bodyOf(variantFields, variant)),
        }
      : bodyOf(fieldsOf({ properties: { sources, ...sizes } }), values);
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
                placeholders={{ sources: `${project.origin.replace(/\/$/, '')}/photo.jpg` }}
              />
              <SelectField label="Images" value={way} onChange={setWay} options={ways} />
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
                      defaults={defaultsOf(project)}
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
                    placeholders={{ widths: '400' }}
                  />
                </div>
              )}
              <p role="status">
                {countOf(sourceCount, 'source')} × {countOf(each, 'image')} ={' '}
                <strong>{countOf(images, 'image')}</strong>
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
