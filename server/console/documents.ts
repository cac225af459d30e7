import type { ServiceError } from '../../contract/errors.ts';
import type { ConsolePictures } from '../../contract/settings/table.ts';

/** The path below which the pages' files are, with the version of the files as the next segment. */
export const consolePrefix = '/console/';

const policy = (...directives: readonly string[]): string =>
  [
    "default-src 'none'",
    ...directives,
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');

/**
 * The Content-Security-Policy (CSP Level 3) of each page. Files and requests are of this origin only, and
 * nothing inline is run. The images of the playground are blobs, because a page reads the headers of
 * an image only where it fetches it; no text can become markup (Trusted Types). The viewer of `/docs`
 * makes markup of the document's descriptions, and its style sheet has icons as data URIs.
 */
export const policies = {
  index: policy(
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' blob:",
    "connect-src 'self'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ),
  docs: policy(
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
  ),
  error: policy("style-src 'self'", "img-src 'self'"),
} as const;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A text as HTML that shows it, in an element or in an attribute with quotes. */
const escaped = (text: string): string => text.replace(/[&<>"']/g, (one) => entities[one] ?? '');

/** @param files the relative URL of the folder of the files, with a slash at the end */
const page = (title: string, files: string, head: string, body: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<link rel="icon" type="image/svg+xml" href="${files}icon.svg">
<link rel="stylesheet" href="${files}base.css">
${head}
</head>
<body>
${body}
</body>
</html>
`;

const script = (url: string): string => `<script type="module" src="${url}"></script>`;
const needsScript =
  '<noscript><p class="notice">This page needs JavaScript. The service itself does not: see <a href="openapi.json">openapi.json</a>.</p></noscript>';

/**
 * The playground and the console.
 *
 * @param modules the relative URLs of all modules that it loads
 * @param pictures what the playground opens with
 */
export function indexPage(
  files: string,
  modules: readonly string[],
  { project, urls }: ConsolePictures,
): string {
  const preloads = modules.map((url) => `<link rel="modulepreload" href="${url}">`).join('\n');
  const sheets = ['controls', 'playground', 'app']
    .map((name) => `<link rel="stylesheet" href="${files}${name}.css">`)
    .join('\n');
  const head = `${sheets}
<meta name="description" content="Transformed images: playground and console.">\n${preloads}\n${script(`${files}main.js`)}`;
  return page(
    'Image delivery',
    files,
    head,
    `<div id="app" data-project="${escaped(project)}" data-pictures="${escaped(urls.join(' '))}"></div>\n${needsScript}`,
  );
}

/** The reference of the interface, by Swagger UI. */
export function docsPage(files: string): string {
  const head = `<link rel="stylesheet" href="${files}library/swagger-ui.css">
<script defer src="${files}library/swagger-ui.js"></script>
${script(`${files}docs.js`)}`;
  const body = `<header class="bar"><a class="brand" href="./">Image delivery</a><nav aria-label="Pages"><a href="./">Playground</a><a href="docs" aria-current="page">API reference</a><a href="openapi.json">openapi.json</a></nav></header>
<main id="docs"></main>
${needsScript}`;
  return page('API reference · Image delivery', files, head, body);
}

/**
 * The page of a failure, with what its JSON has.
 *
 * @param root the relative URL of `/`
 * @param id of the request
 */
export function failurePage(
  failure: ServiceError,
  root: string,
  files: string,
  id: string,
): string {
  const { error, code, message, resolution_hint: hint } = failure.toBody();
  const body = `<main class="failure">
<p class="failure-status">${failure.status}</p>
<h1>${escaped(error)}</h1>
<p class="failure-message">${escaped(message)}</p>
<p>${escaped(hint)}</p>
<p><a href="${root}">Playground and console</a> · <a href="${root}docs">API reference</a></p>
<p class="quiet">Code <code>${code}</code> · Request <code>${escaped(id)}</code></p>
</main>`;
  return page(`${failure.status} ${error}`, files, '<meta name="robots" content="noindex">', body);
}
