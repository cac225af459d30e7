import type { ServiceError } from '../../contract/errors.ts';
import { launchCommand } from '../../contract/package.ts';
import type { ConsolePictures } from '../../contract/settings/lists.ts';
import { percentDecode } from '../../contract/url-text.ts';
import type { HttpRequest } from '../http/request.ts';

/** The path prefix of the pages' files; the next segment is their version. */
export const consolePrefix = '/console/';

const policy = (...directives: readonly string[]): string =>
  `default-src 'none'; ${directives.join('; ')}; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;

/**
 * Each page's Content-Security-Policy (CSP Level 3): only this origin, no inline code. The
 * playground shows images as blobs, because scripts can read headers only of fetched images.
 * Trusted Types prevent text from becoming markup, except in Swagger UI, which renders Markdown as
 * markup. Style sheets of libraries contain icons as data URIs.
 */
export const policies = {
  index: policy(
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' blob: data:",
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

const references: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes a text for an HTML element or a quoted attribute. */
const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => references[character] ?? '');

/** @param files the relative URL of the file folder, ending with a slash */
const page = (title: string, files: string, head: string, body: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
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

/** The playground and the console. */
export function indexPage(files: string, { project, urls }: ConsolePictures): string {
  const sheets = ['console', 'viewer']
    .map((name) => `<link rel="stylesheet" href="${files}${name}.css">`)
    .join('\n');
  const head = `${sheets}
<meta name="description" content="Transformed images: playground and console.">
${script(`${files}main.js`)}`;
  const command = launchCommand();
  const ownCommand = command === undefined ? '' : ` data-command="${escapeHtml(command)}"`;
  return page(
    'Image delivery',
    files,
    head,
    `<div id="app" data-project="${escapeHtml(project)}" data-pictures="${escapeHtml(urls.join(' '))}"${ownCommand}></div>\n${needsScript}`,
  );
}

/** The API reference, by Swagger UI. */
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
 * Returns an error page with the fields of the JSON error.
 * @param root the relative URL of `/`
 * @param request the failed request
 */
export function errorPage(
  serviceError: ServiceError,
  root: string,
  files: string,
  request: HttpRequest,
): string {
  const { status } = serviceError;
  const { error, code, message, resolution_hint: hint } = serviceError.toBody();
  const state = playgroundState(request);
  const link = state === '' ? 'Playground and console' : 'Open the image in the playground';
  const body = `<main class="failure">
<p class="failure-status">${status}</p>
<h1>${escapeHtml(error)}</h1>
<p class="failure-message">${escapeHtml(message)}</p>
<p>${escapeHtml(hint)}</p>
<p><a href="${root}${escapeHtml(state)}">${link}</a> · <a href="${root}docs">API reference</a></p>
<p class="quiet">Code <code>${code}</code> · Request <code>${escapeHtml(request.id)}</code></p>
</main>`;
  return page(`${status} ${error}`, files, '<meta name="robots" content="noindex">', body);
}

/** Returns the fragment that opens a failed image in the playground; '' for other requests. */
function playgroundState({ path, query }: HttpRequest): string {
  const [, source] = /^\/img\/?(.*)$/s.exec(path) ?? [];
  if (source === undefined) return '';
  const state = new URLSearchParams(query);
  const decoded = percentDecode(source);
  if (decoded === null) return '';
  if (decoded !== '') state.set('url', decoded);
  return `#/?${state}`;
}
