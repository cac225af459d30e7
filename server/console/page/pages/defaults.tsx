import { browsers, useImage, useSignPath } from '../api/image.ts';
import { imagePath, isSource, type ParameterTexts } from '../api/image-url.ts';
import type { Values } from '../api/schema.ts';
import { useOpenProject } from '../app.ts';
import { documentPage, type PreviewProps } from '../components/document-page.tsx';
import { Preview, PreviewImage, usePreviewSource } from '../components/preview.tsx';

export const Defaults = documentPage({
  title: 'Defaults',
  intro: 'Used when an image URL omits a parameter.',
  operation: 'updateProjectSettings',
  saved: 'Saved. New images use these defaults within two seconds.',
  cleared: { maxWidth: 0, watermarkUrl: '' },
  groups: {
    Format: ['autoFormat', 'defaultQuality', 'stripMetadata'],
    Size: ['defaultFit', 'maxWidth', 'defaultDpr'],
    Watermark: [
      'watermarkEnabled',
      'watermarkUrl',
      'watermarkPosition',
      'watermarkOpacity',
      'watermarkScale',
      'watermarkMargin',
    ],
  },
  Preview: DefaultsPreview,
});

const [[modernAccept]] = browsers;
/** An unusual aspect ratio makes the fit visible. */
const box = { w: 320, h: 240 };

/**
 * Returns the parameters equivalent to these defaults. A watermark is not equivalent to any
 * parameter.
 */
function toOptions(values: Values): ParameterTexts {
  const { defaultQuality = '', defaultDpr = '1', defaultFit = '', maxWidth = '' } = values;
  const limit = Number(maxWidth) > 0 ? Number(maxWidth) / (Number(defaultDpr) || 1) : box.w;
  return {
    w: String(Math.max(1, Math.floor(Math.min(box.w, limit)))),
    h: String(box.h),
    q: defaultQuality,
    fit: defaultFit,
    dpr: defaultDpr,
    fmt: values['autoFormat'] === '1' ? 'auto' : '',
  };
}

/** An image with the saved defaults and watermark, and with the form's values. */
function DefaultsPreview({ values, saved }: PreviewProps) {
  const { project } = useOpenProject();
  const [source, setSource] = usePreviewSource(project.id);
  const path = (from: Values) =>
    isSource(source) ? imagePath({ source, project: project.id, options: toOptions(from) }) : null;
  const sign = useSignPath(project);
  const before = useImage(path(saved), modernAccept, sign);
  const after = useImage(path(values), modernAccept, sign);
  return (
    <Preview source={source} onChange={setSource} note="The preview uses the saved watermark.">
      <PreviewImage title="Saved" state={before} />
      <PreviewImage title="With your changes" state={after} />
    </Preview>
  );
}
