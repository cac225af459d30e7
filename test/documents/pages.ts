import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rootPath } from '../root.ts';

/** A fenced code block of a page. */
export interface Block {
  readonly page: string;
  /** Line number of the opening fence, from 1. */
  readonly line: number;
  /** Word after the fence, or ''. */
  readonly language: string;
  readonly text: string;
  /** Comment directly above the block, such as `not run: it takes an hour`, or ''. */
  readonly mark: string;
}

export interface Page {
  /** Path from the root. */
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly Block[];
  /** Identifiers of its headings, as GitHub makes them, and of elements with an `id`. */
  readonly anchors: ReadonlySet<string>;
}

const topLevel = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'];
const fence = /^(`{3,})(.*)$/;

function findBlocks(page: string, text: string): Block[] {
  const blocks: Block[] = [];
  const lines = text.split('\n');
  for (let at = 0; at < lines.length; at++) {
    const [, opening, language = ''] = fence.exec(lines[at] ?? '') ?? [];
    if (opening === undefined) continue;
    const end = lines.indexOf(opening, at + 1);
    if (end === -1) throw new Error(`${page}:${at + 1} opens a block that does not end`);
    const above = /^<!-- (.*) -->$/.exec(lines[at - 1] ?? '')?.[1] ?? '';
    const content = lines.slice(at + 1, end).join('\n');
    blocks.push({ page, line: at + 1, language, text: content, mark: above });
    at = end;
  }
  return blocks;
}

/** Returns the text minus its code blocks. */
export function readProse(text: string): string {
  return text.replaceAll(/^(`{3,}).*\n[\s\S]*?^\1$/gm, '');
}

function findAnchors(text: string): Set<string> {
  const anchors = new Set([...text.matchAll(/\bid="([^"]+)"/g)].map(([, id = '']) => id));
  for (const [, heading = ''] of readProse(text).matchAll(/^#+ +(.*)$/gm)) {
    const slug = heading.toLowerCase().replaceAll(/[^\p{L}\p{N} _-]/gu, '');
    anchors.add(slug.replaceAll(' ', '-'));
  }
  return anchors;
}

export async function readPage(path: string): Promise<Page> {
  const text = await readFile(join(rootPath, path), 'utf8');
  return { path, text, blocks: findBlocks(path, text), anchors: findAnchors(text) };
}

/** Returns all pages for readers: at the top, and Markdown below docs/. */
export async function readPages(): Promise<Page[]> {
  const below = await readdir(join(rootPath, 'docs'), { recursive: true });
  const pages = below.filter((name) => name.endsWith('.md')).map((name) => join('docs', name));
  return Promise.all([...topLevel, ...pages.sort()].map(readPage));
}
