/** Compares the output that a page shows for an example with the real one. */

/** A command of a `console` block with the output that the page shows. */
export interface Example {
  readonly command: string;
  /** '' if the page shows no output. */
  readonly output: string;
}

/**
 * Returns true if a command continues on the next line: a quote is open, or it ends with a
 * backslash.
 */
function isOpen(command: string): boolean {
  const quotes = command.replaceAll(/\\.|"(?:\\.|[^"\\])*"|'[^']*'/gs, '');
  return /["']/.test(quotes) || command.endsWith('\\');
}

/** Returns a block's commands: lines after `$ `, each with its output. */
export function findExamples(text: string): Example[] {
  const examples: { command: string; output: string[] }[] = [];
  let open = false;
  for (const line of text.split('\n')) {
    const last = examples.at(-1);
    if (open && last !== undefined) last.command += `\n${line}`;
    else if (line.startsWith('$ ')) examples.push({ command: line.slice(2), output: [] });
    else if (last === undefined) throw new Error(`output before a command: ${line}`);
    else last.output.push(line);
    open = isOpen(examples.at(-1)?.command ?? '');
  }
  return examples.map(({ command, output }) => ({ command, output: output.join('\n').trim() }));
}

/** Values that differ between two runs, with their replacements. */
const varying: ReadonlyArray<readonly [RegExp, string]> = [
  [/\b(prj|org|key)_[0-9a-z]{16}\b/g, '$1_id'],
  // Tags depend on the test's own project, and on the origin's port.
  [/\b([ps])-[0-9a-f]{16,30}\b/g, '$1-tag'],
  [/"#[0-9a-f]{6}"/g, '"#colour"'],
  // The rest of an age varies.
  [/^((?:cdn-cache|surrogate)-control: .*max-age|cache-status: .*ttl)=\d+/gm, '$1=0'],
  [/("bytes"|"latencyMs"):\d+/g, '$1:0'],
  [/"createdAt":"[^"]*"/g, '"createdAt":""'],
  // The stages depend on the memory cache's state.
  [/(cache;desc=\w+), .*$/gm, '$1'],
  [/^(etag|x-request-id|content-length|date|ratelimit-\w+): .*$/gim, '$1: 0'],
  [/^((?:prewarm|image_delivery)_\S*) [\d.e-]+$/gm, '$1 0'],
];

function normalised(text: string): string {
  const found = varying.reduce((result, [pattern, by]) => result.replaceAll(pattern, by), text);
  return found.replaceAll('\r', '').trim();
}

const lowerNames = (head: string): string[] =>
  head.split('\n').map((line) => line.replace(/^[\w-]+:/, (name) => name.toLowerCase()));

/** Returns a pattern for a text. `…` stands for any text. */
function toPattern(text: string): RegExp {
  const parts = text.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('[\\s\\S]*')}$`);
}

/**
 * Returns true if a page shows this output. The page can omit response headers, and their order can
 * differ, like between HTTP servers.
 */
export function isShown(shown: string, printed: string): boolean {
  const [wanted, found] = [normalised(shown), normalised(printed)];
  if (!wanted.startsWith('HTTP/')) return toPattern(wanted).test(found);
  const [head = '', ...body] = wanted.split('\n\n');
  const [foundHead = '', ...foundBody] = found.split('\n\n');
  const lines = new Set(lowerNames(foundHead));
  const missing = lowerNames(head).filter((line) => line !== '…' && !lines.has(line));
  return missing.length === 0 && toPattern(body.join('\n\n')).test(foundBody.join('\n\n'));
}
