import { errorCatalogue } from './errors.ts';

/** Every error as a Markdown table, by status, for the documents. */
export function errorsMarkdown(): string {
  const entries = Object.entries(errorCatalogue).sort(([, a], [, b]) => a.status - b.status);
  const rows = entries.map(([code, { status, hint }]) => `| ${status} | \`${code}\` | ${hint} |`);
  return ['| Status | Code | What to do |', '| --- | --- | --- |', ...rows].join('\n');
}
